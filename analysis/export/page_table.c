/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_table.h"

#include <inttypes.h>
#include <math.h>

#include "analysis/base/buf.h"
#include "analysis/base/json.h"
#include "analysis/views/table.h"

static const char *const kinds[CELL_KINDS] = {
	[CELL_TIME] = "time",	[CELL_MSEC] = "msec",	[CELL_USEC] = "usec",
	[CELL_PERCENT] = "percent", [CELL_RATIO] = "ratio", [CELL_COUNT] = "count",
	[CELL_TIMES] = "times", [CELL_HIST] = "hist",
};

static void put_column(struct buf *b, const struct column *c)
{
	buf_printf(b, "{\"kind\":\"%s\",\"sorted\":%s,\"hidden\":%s,\"title\":[",
		   kinds[c->kind] ? kinds[c->kind] : "text", c->sorted ? "true" : "false",
		   c->hidden ? "true" : "false");
	for (int i = 0; i < 3; i++) {
		buf_puts(b, i ? "," : "");
		json_put_string(b, c->title[i]);
	}
	buf_puts(b, "]");
	if (c->group) {
		buf_puts(b, ",\"group\":");
		json_put_string(b, c->group);
	}
	buf_puts(b, "}");
}

/* Times are nanoseconds. An estimate is an array of one number. */
static void put_value(struct buf *b, const struct cell *c)
{
	switch (c->kind) {
	case CELL_TIME:
	case CELL_MSEC:
	case CELL_USEC:
	case CELL_COUNT:
		buf_printf(b, c->estimate ? "[%" PRId64 "]" : "%" PRId64, c->i);
		break;
	case CELL_PERCENT:
	case CELL_RATIO:
	case CELL_TIMES:
		if (isfinite(c->d))
			buf_printf(b, "%.17g", c->d);
		else
			buf_puts(b, "null");
		break;
	case CELL_TEXT:
	case CELL_HIST:
		json_put_string(b, c->s);
		break;
	default:
		buf_puts(b, "null");
	}
}

/* A number of another kind than its column's is an object with its kind: {"count":5}. */
static void put_cell(struct buf *b, const struct cell *c, const struct column *column)
{
	bool own = c->kind && c->kind != CELL_TEXT && c->kind != column->kind && kinds[c->kind];

	if (own)
		buf_printf(b, "{\"%s\":", kinds[c->kind]);
	put_value(b, c);
	buf_puts(b, own ? "}" : "");
}

static void put_row(struct buf *b, const struct table *t, const struct row *r)
{
	buf_printf(b, "[%d", r->group);
	for (size_t i = 0; i < t->columns.len; i++) {
		buf_puts(b, ",");
		put_cell(b, &r->cells[i], &t->columns.data[i]);
	}
	buf_puts(b, "]");
}

void put_notes_json(struct buf *b, const struct table *t)
{
	buf_puts(b, ",\"notes\":[");
	for (size_t i = 0; i < t->notes.len; i++) {
		buf_puts(b, i ? "," : "");
		json_put_string(b, t->notes.data[i]);
	}
	buf_puts(b, "]");
}

void put_table_json(struct buf *b, const char *command, const struct table *t)
{
	buf_puts(b, "{\"command\":");
	json_put_string(b, command);
	buf_puts(b, ",\"title\":");
	json_put_string(b, t->title);
	buf_puts(b, ",\"columns\":[");
	for (size_t i = 0; i < t->columns.len; i++) {
		buf_puts(b, i ? "," : "");
		put_column(b, &t->columns.data[i]);
	}
	buf_puts(b, "],\"rows\":[");
	for (size_t i = 0; i < t->rows.len; i++) {
		buf_puts(b, i ? "," : "");
		put_row(b, t, &t->rows.data[i]);
	}
	buf_puts(b, "]");
	put_notes_json(b, t);
	buf_puts(b, "}");
}
