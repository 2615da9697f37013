/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The delimited form, like gprofng's: four heading rows, and every cell in double quotes. A
 * quote inside a cell is doubled (RFC 4180), which gprofng does not do. Marks and tree prefixes
 * are part of the name, as in the text form.
 */
#include <string.h>

#include "analysis/print/printer.h"
#include "analysis/views/table.h"

static void put_cell(struct printer *p, size_t column)
{
	if (column)
		buf_add(&p->out, &p->delimiter, 1);
	put_quoted(&p->out, p->cell.data ? p->cell.data : "");
	buf_clear(&p->cell);
}

/* Headings as gprofng prints them; programs rely on them, also on its "%%". */
static void put_title(struct buf *b, const struct column *c, int line)
{
	const char *unit = c->title[2];

	if (!line && c->group)
		buf_put_printable(b, c->group);
	if (line == 1 || line == 2) {
		const char *s = c->full[line - 1] ? c->full[line - 1] : c->title[line - 1];

		buf_put_printable(b, s ? s : "");
	} else if (line == 3) {
		buf_puts(b, c->sorted ? "V  " : "   ");
		if (unit && !strcmp(unit, "%"))
			buf_puts(b, "%%");
		else if (unit && *unit)
			buf_printf(b, "(%s)", unit);
	}
}

static void delimited_heading(struct printer *p, const struct table *t)
{
	for (int line = 0; line < 4 && table_has_heading(t); line++) {
		for (size_t i = 0; i < t->columns.len; i++) {
			put_title(&p->cell, &t->columns.data[i], line);
			put_cell(p, i);
		}
		buf_puts(&p->out, "\n");
	}
}

static void delimited_row(struct printer *p, const struct table *t, const struct row *r)
{
	if (r->group != p->group)
		buf_puts(&p->out, "\n");
	p->group = r->group;
	for (size_t i = 0; i < t->columns.len; i++) {
		if ((int)i == p->name_column) {
			if (r->mark)
				buf_add(&p->cell, &r->mark, 1);
			if (p->is_tree)
				tree_put(&p->tree, &p->cell, r);
		}
		cell_put_value(&p->cell, &r->cells[i]);
		put_cell(p, i);
	}
	buf_puts(&p->out, "\n");
}

const struct printer_ops delimited_printer = {
	.begin = begin_plainly,
	.heading = delimited_heading,
	.row = delimited_row,
	.note = note_aside,
	.end = end_plainly,
	.say = note_aside,
};
