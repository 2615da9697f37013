/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON (RFC 8259): one object per table, on a line: {"name", "title", "columns", "rows",
 * "notes"}. Numbers keep all their digits; times are in the unit of their column. A reply is
 * {"message"}.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/base/json.h"
#include "analysis/print/printer.h"
#include "analysis/views/table.h"

static void json_begin(struct printer *p, const struct table *t)
{
	buf_puts(&p->out, "{\"name\":");
	json_put_string(&p->out, t->name);
	if (t->title) {
		__cleanup(freep) char *title = printer_title(t);

		buf_puts(&p->out, ",\"title\":");
		json_put_string(&p->out, title);
	}
	p->nrows = p->nnotes = 0;
}

static const char *type_of(const struct column *c)
{
	static const char *const types[] = {
		[CELL_TIME] = "seconds",    [CELL_MSEC] = "milliseconds",
		[CELL_USEC] = "microseconds",
		[CELL_PERCENT] = "percent", [CELL_RATIO] = "ratio",
		[CELL_TIMES] = "times",	    [CELL_COUNT] = "count",
		[CELL_ADDRESS] = "address",
	};
	size_t n = sizeof(types) / sizeof(types[0]);

	return (size_t)c->kind < n && types[c->kind] ? types[c->kind] : "text";
}

static void json_heading(struct printer *p, const struct table *t)
{
	buf_puts(&p->out, ",\"columns\":[");
	for (size_t i = 0; i < t->columns.len; i++) {
		const struct column *c = &t->columns.data[i];
		struct buf name = { 0 };

		column_put_name(&name, c, false);
		buf_printf(&p->out, "%s{\"name\":", i ? "," : "");
		json_put_string(&p->out, name.data);
		buf_printf(&p->out, ",\"type\":\"%s\"%s}", type_of(c),
			   c->sorted ? ",\"sorted\":true" : "");
		buf_free(&name);
	}
	buf_puts(&p->out, "],\"rows\":[");
}

/* Append i / 10^digits without trailing zeros. */
static void put_decimal(struct buf *b, int64_t i, int digits)
{
	uint64_t n = i < 0 ? -(uint64_t)i : (uint64_t)i, power = 1;

	for (int k = 0; k < digits; k++)
		power *= 10;
	buf_printf(b, "%s%llu", i < 0 ? "-" : "", (unsigned long long)(n / power));
	if (!(n % power))
		return;
	buf_printf(b, ".%0*llu", digits, (unsigned long long)(n % power));
	while (b->data[b->len - 1] == '0')
		b->len--;
}

static void put_cell(struct printer *p, const struct cell *c)
{
	switch (c->kind) {
	case CELL_TIME:
		put_decimal(&p->out, c->i, 9);
		break;
	case CELL_MSEC:
		put_decimal(&p->out, c->i, 6);
		break;
	case CELL_USEC:
		put_decimal(&p->out, c->i, 3);
		break;
	case CELL_PERCENT:
	case CELL_RATIO:
	case CELL_TIMES:
		if (isfinite(c->d))
			buf_printf(&p->out, "%.10g", c->d);
		else
			buf_puts(&p->out, "null");
		break;
	case CELL_COUNT:
		buf_printf(&p->out, "%lld", (long long)c->i);
		break;
	case CELL_BAR:
	case CELL_BLANK:
		buf_puts(&p->out, "null");
		break;
	default:
		buf_clear(&p->cell);
		cell_put_value(&p->cell, c);
		buf_puts(&p->out, "\"");
		json_put_escaped(&p->out, p->cell.data ? p->cell.data : "");
		buf_puts(&p->out, "\"");
	}
}

static void json_row(struct printer *p, const struct table *t, const struct row *r)
{
	buf_puts(&p->out, p->nrows++ ? ",\n{" : "\n{");
	if (p->is_tree)
		buf_printf(&p->out, "\"depth\":%d,", r->depth);
	if (p->has_groups)
		buf_printf(&p->out, "\"panel\":%d,", r->group + 1);
	if (r->mark)
		buf_printf(&p->out, "\"mark\":\"%c\",", r->mark);
	buf_puts(&p->out, "\"cells\":[");
	for (size_t i = 0; i < t->columns.len; i++) {
		if (i)
			buf_puts(&p->out, ",");
		put_cell(p, &r->cells[i]);
	}
	buf_puts(&p->out, "]}");
}

static void json_note(struct printer *p, const char *text)
{
	buf_puts(&p->out, p->nnotes++ ? "," : "],\"notes\":[");
	json_put_string(&p->out, text);
}

static void json_end(struct printer *p, const struct table *t)
{
	buf_puts(&p->out, "]}\n");
}

static void json_say(struct printer *p, const char *text)
{
	buf_puts(&p->out, "{\"message\":");
	json_put_string(&p->out, text);
	buf_puts(&p->out, "}\n");
}

void json_lines(struct printer *p, const char *text)
{
	buf_puts(&p->out, "{\"message\":\"");
	json_put_escaped(&p->out, text);
	buf_puts(&p->out, "\"}\n");
}

const struct printer_ops json_printer = {
	.begin = json_begin,
	.heading = json_heading,
	.row = json_row,
	.note = json_note,
	.end = json_end,
	.say = json_say,
};
