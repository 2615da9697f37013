/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_reports.h"

#include <inttypes.h>
#include <math.h>

#include "analysis/base/diag.h"
#include "analysis/base/json.h"
#include "analysis/export/export.h"
#include "analysis/export/outfile.h"
#include "analysis/export/page_pack.h"
#include "analysis/views/table.h"
#include "analysis/views/view.h"
#include "analysis/views/view_state.h"

static int make_lines(struct view_state *v, struct table *t, struct diag *d)
{
	return view_places(v, PLACES_LINES, t, d);
}

static int make_locks(struct view_state *v, struct table *t, struct diag *d)
{
	return view_locks(v, false, t, d);
}

static int make_header(struct view_state *v, struct table *t, struct diag *d)
{
	return view_header(v, NULL, t, d);
}

static const struct {
	const char *command; /* of er_print; also the report's name */
	bool tells;          /* names paths or hosts: --redact leaves it out */
	int (*make)(struct view_state *v, struct table *t, struct diag *d);
} reports[] = {
	{ "lines", true, make_lines },
	{ "locks", false, make_locks },
	{ "experiment_list", true, view_experiment_list },
	{ "header", true, make_header },
	{ "unwinding", false, view_unwinding },
	{ "lifetimes", true, view_lifetimes },
};

/* By default, er_print shows few rows of the reports on waits. */
enum { ROWS_MAX = 10000 };

static const char *const kinds[CELL_KINDS] = {
	[CELL_TIME] = "time",	[CELL_MSEC] = "msec",	[CELL_PERCENT] = "percent",
	[CELL_RATIO] = "ratio", [CELL_COUNT] = "count", [CELL_TIMES] = "times",
	[CELL_HIST] = "hist",
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
	buf_puts(b, "]}");
}

/* Times are nanoseconds. */
static void put_cell(struct buf *b, const struct cell *c)
{
	switch (c->kind) {
	case CELL_TIME:
	case CELL_MSEC:
	case CELL_COUNT:
		buf_printf(b, "%" PRId64, c->i);
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

static void put_row(struct buf *b, const struct table *t, const struct row *r)
{
	buf_printf(b, "[%d", r->group);
	for (size_t i = 0; i < t->columns.len; i++) {
		buf_puts(b, ",");
		put_cell(b, &r->cells[i]);
	}
	buf_puts(b, "]");
}

static void put_table(struct buf *b, const char *command, const struct table *t)
{
	buf_puts(b, "{\"command\":");
	json_put_string(b, command);
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
	buf_puts(b, "],\"notes\":[");
	for (size_t i = 0; i < t->notes.len; i++) {
		buf_puts(b, i ? "," : "");
		json_put_string(b, t->notes.data[i]);
	}
	buf_puts(b, "]}");
}

/* A report that cannot be made is left out. */
static void put_all(const struct export *x, struct buf *b)
{
	size_t n = 0;

	for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
		struct diag kept = { 0 };
		struct table t = { 0 };

		if (x->redact && reports[i].tells)
			continue;
		if (!reports[i].make(x->view, &t, &kept)) {
			buf_puts(b, n++ ? "," : "");
			put_table(b, reports[i].command, &t);
		}
		table_free(&t);
		diag_free(&kept);
	}
}

bool put_reports(const struct export *x, struct outfile *out)
{
	size_t limit = x->view->limit;
	struct pack p = { 0 };
	bool ok;

	x->view->limit = limit ? limit : ROWS_MAX;
	pack_begin(&p, "json");
	buf_puts(&p.bytes, "[");
	put_all(x, &p.bytes);
	buf_puts(&p.bytes, "]");
	pack_end(&p);
	x->view->limit = limit;
	ok = pack_put(&p, "reports", out);
	pack_free(&p);
	return ok;
}
