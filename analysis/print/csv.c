/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comma-separated values as spreadsheets read them (RFC 4180): one heading line, and quotes
 * only around cells that need them. A tree has an extra column for the depth, panels have one
 * for the panel's number. The mark of a panel's own function is part of its name.
 */
#include <string.h>

#include "analysis/print/printer.h"
#include "analysis/views/table.h"

static void put_field(struct printer *p, bool first)
{
	const char *s = p->cell.data ? p->cell.data : "";

	if (!first)
		buf_puts(&p->out, ",");
	if (!s[strcspn(s, ",\"\r\n")] && *s != ' ')
		buf_puts(&p->out, s);
	else
		put_quoted(&p->out, s);
	buf_clear(&p->cell);
}

static void csv_heading(struct printer *p, const struct table *t)
{
	if (!table_has_heading(t))
		return;
	if (p->is_tree || p->has_groups) {
		buf_puts(&p->cell, p->is_tree ? "Depth" : "Panel");
		put_field(p, true);
	}
	for (size_t i = 0; i < t->columns.len; i++) {
		column_put_name(&p->cell, &t->columns.data[i], true);
		put_field(p, !i && !p->is_tree && !p->has_groups);
	}
	buf_puts(&p->out, "\n");
}

static void csv_row(struct printer *p, const struct table *t, const struct row *r)
{
	bool has_heading = table_has_heading(t),
	     more = has_heading && (p->is_tree || p->has_groups);

	if (more) {
		buf_printf(&p->cell, "%d", p->is_tree ? r->depth : r->group + 1);
		put_field(p, true);
	}
	for (size_t i = 0; i < t->columns.len; i++) {
		if ((int)i == p->name_column && r->mark)
			buf_add(&p->cell, &r->mark, 1);
		cell_put_value(&p->cell, &r->cells[i]);
		put_field(p, !i && !more);
	}
	buf_puts(&p->out, "\n");
}

const struct printer_ops csv_printer = {
	.begin = begin_plainly,
	.heading = csv_heading,
	.row = csv_row,
	.note = note_aside,
	.end = end_plainly,
	.say = note_aside,
};
