/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A self-contained page: no script, no other file. The head is written before a file's first
 * table; HTML needs no end. All names are escaped.
 */
#include <string.h>

#include "analysis/print/printer.h"
#include "analysis/views/table.h"

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n<title>er_print</title>\n"
	"<style>\n"
	"body { font: 14px/1.35 system-ui, sans-serif; margin: 1.5em; color: #111; background: #fff }\n"
	"h2 { font-size: 1.1em; margin: 1.5em 0 .4em }\n"
	"table { border-collapse: collapse; font-variant-numeric: tabular-nums }\n"
	"th, td { padding: .1em .6em; vertical-align: bottom; text-align: right; white-space: pre }\n"
	"th { border-bottom: 1px solid #999; font-weight: 600 }\n"
	"th.s { text-decoration: underline }\n"
	".t { text-align: left; font-family: ui-monospace, monospace }\n"
	"tbody + tbody tr:first-child td { border-top: 1px solid #ccc }\n"
	"tr.m td { font-weight: 700; background: #eef }\n"
	"p, pre { margin: .4em 0 }\n"
	"</style>\n";

static void put_escaped(struct buf *b, const char *s)
{
	for (size_t n; *s; s += n) {
		n = strcspn(s, "&<>\"'");
		buf_add(b, s, n);
		if (s[n])
			buf_printf(b, "&#%d;", s[n++]);
	}
}

static void put_text(struct printer *p, const char *s)
{
	buf_clear(&p->cell);
	buf_put_printable(&p->cell, s ? s : "");
	put_escaped(&p->out, p->cell.data ? p->cell.data : "");
}

static void open_page(struct printer *p)
{
	if (!p->page_open)
		buf_puts(&p->out, head);
	p->page_open = true;
}

static void html_begin(struct printer *p, const struct table *t)
{
	open_page(p);
	if (t->title) {
		__cleanup(freep) char *title = printer_title(t);

		buf_puts(&p->out, "<h2>");
		put_text(p, title);
		buf_puts(&p->out, "</h2>\n");
	}
	buf_puts(&p->out, "<table>\n");
}

static bool is_text(enum cell_kind kind)
{
	return kind == CELL_TEXT || kind == CELL_HIST || kind == CELL_BAR;
}

static void html_heading(struct printer *p, const struct table *t)
{
	if (table_has_heading(t)) {
		buf_puts(&p->out, "<thead><tr>");
		vec_for_each(c, &t->columns) {
			buf_printf(&p->out, "<th class=\"%s%s\">", is_text(c->kind) ? "t" : "",
				   c->sorted ? " s" : "");
			if (c->group) {
				put_text(p, c->group);
				buf_puts(&p->out, "<br>");
			}
			for (int line = 0; line < 3; line++) {
				put_text(p, c->title[line]);
				buf_puts(&p->out, line < 2 ? "<br>" : "");
			}
			buf_puts(&p->out, "</th>");
		}
		buf_puts(&p->out, "</tr></thead>\n");
	}
	buf_puts(&p->out, "<tbody>\n");
}

static void html_row(struct printer *p, const struct table *t, const struct row *r)
{
	if (r->group != p->group)
		buf_puts(&p->out, "</tbody><tbody>\n");
	p->group = r->group;
	buf_puts(&p->out, r->mark ? "<tr class=\"m\">" : "<tr>");
	for (size_t i = 0; i < t->columns.len; i++) {
		buf_puts(&p->out, is_text(r->cells[i].kind) ? "<td class=\"t\"" : "<td");
		if ((int)i == p->name_column && p->is_tree)
			buf_printf(&p->out, " style=\"padding-left:%gem\"", 0.6 + 1.2 * r->depth);
		buf_puts(&p->out, ">");
		buf_clear(&p->cell);
		if ((int)i == p->name_column && r->mark)
			buf_add(&p->cell, &r->mark, 1);
		if (r->cells[i].kind == CELL_HIST)
			hist_put(&p->cell, r->cells[i].s);
		else if (r->cells[i].kind == CELL_BAR)
			buf_puts(&p->cell, r->cells[i].s);
		else
			cell_put(&p->cell, &r->cells[i]);
		put_escaped(&p->out, p->cell.data ? p->cell.data : "");
		buf_puts(&p->out, "</td>");
	}
	buf_puts(&p->out, "</tr>\n");
}

/* Notes follow their table. */
static void html_note(struct printer *p, const char *text)
{
	if (!p->nnotes++)
		buf_puts(&p->out, "</tbody></table>\n");
	buf_puts(&p->out, "<p>");
	put_text(p, text);
	buf_puts(&p->out, "</p>\n");
}

static void html_end(struct printer *p, const struct table *t)
{
	if (!p->nnotes)
		buf_puts(&p->out, "</tbody></table>\n");
	p->nnotes = 0;
}

static void html_say(struct printer *p, const char *text)
{
	open_page(p);
	buf_puts(&p->out, "<p>");
	put_text(p, text);
	buf_puts(&p->out, "</p>\n");
}

void html_lines(struct printer *p, const char *text)
{
	open_page(p);
	buf_puts(&p->out, "<pre>");
	put_escaped(&p->out, text);
	buf_puts(&p->out, "</pre>\n");
}

const struct printer_ops html_printer = {
	.begin = html_begin,
	.heading = html_heading,
	.row = html_row,
	.note = html_note,
	.end = html_end,
	.say = html_say,
};
