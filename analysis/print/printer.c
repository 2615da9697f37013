/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/print/printer.h"

#include <ctype.h>
#include <string.h>

#include "analysis/base/diag.h"
#include "analysis/base/interrupt.h"
#include "analysis/print/fit.h"
#include "analysis/views/table.h"

enum { FLUSH_AT = 1 << 16 };

void printer_init(struct printer *p, FILE *file, struct diag *d)
{
	*p = (struct printer){ .ops = &text_printer, .file = file, .diag = d };
}

void printer_fini(struct printer *p)
{
	buf_free(&p->out);
	buf_free(&p->cell);
	vec_free(&p->layout);
	tree_free(&p->tree);
}

/*
 * A quote is no delimiter, because quotes enclose cells. Of the control characters only tab is
 * one.
 */
static bool is_delimiter(const char *mode)
{
	return mode[0] && !mode[1] && mode[0] != '"' &&
	       (mode[0] == '\t' || (isascii(mode[0]) && isprint(mode[0])));
}

static const struct mode {
	const char *name;
	const struct printer_ops *ops;
} modes[] = {
	{ "text", &text_printer }, { "html", &html_printer }, { "csv", &csv_printer },
	{ "json", &json_printer },
};

enum { NMODES = sizeof(modes) / sizeof(modes[0]) };

void printer_set_file(struct printer *p, FILE *file, bool begun)
{
	p->file = file;
	p->page_open = begun;
}

int printer_set_mode(struct printer *p, const char *mode)
{
	for (size_t i = 0; i < NMODES; i++) {
		if (strcmp(mode, modes[i].name))
			continue;
		p->ops = modes[i].ops;
		p->delimiter = '\0';
		return 0;
	}
	if (!is_delimiter(mode))
		return diag_error(p->diag,
				  "printmode '%s': unknown form: write text, html, csv, json or "
				  "one delimiter character such as ','",
				  mode);
	p->ops = &delimited_printer;
	p->delimiter = mode[0];
	return 0;
}

void printer_put_mode(const struct printer *p, struct buf *b)
{
	if (p->delimiter)
		buf_add(b, &p->delimiter, 1);
	for (size_t i = 0; i < NMODES; i++) {
		if (modes[i].ops == p->ops)
			buf_puts(b, modes[i].name);
	}
}

void printer_flush(struct printer *p, size_t at_least)
{
	if (p->out.len < at_least)
		return;
	if (p->out.len)
		fwrite(p->out.data, 1, p->out.len, p->file);
	buf_clear(&p->out);
}

static void survey(struct printer *p, const struct table *t)
{
	struct row_window w = { .table = t };

	p->name_column = table_name_column(t);
	p->is_tree = false;
	p->has_marks = t->source.marks;
	p->has_groups = t->source.groups;
	p->group = table_nrows(t) ? rows_at(&w, 0, 1)->group : 0;
	row_window_free(&w);
	p->tree.rails.len = 0;
	buf_clear(&p->cell); /* another form may have left text in it */
	vec_for_each(r, &t->rows) {
		p->is_tree |= r->depth > 0;
		p->has_marks |= r->mark != '\0';
		p->has_groups |= r->group != p->group;
	}
}

static void print_rows(struct printer *p, const struct table *t)
{
	struct row_window w = { .table = t };
	const struct row *r;

	while (!interrupt_pending() && (r = row_next(&w))) {
		p->ops->row(p, t, r);
		printer_flush(p, FLUSH_AT);
	}
	row_window_free(&w);
}

static void print(struct printer *p, const struct table *t)
{
	survey(p, t);
	p->ops->begin(p, t);
	p->ops->heading(p, t);
	/* In text only the start of a group and a tree's rails depend on earlier lines. */
	if (p->ops == &text_printer && !p->is_tree)
		print_slices(p, t);
	else
		print_rows(p, t);
	if (interrupt_pending())
		p->ops->note(p, "Interrupted: the rest is not shown");
	vec_for_each(n, &t->notes)
		p->ops->note(p, *n);
	p->ops->end(p, t);
	printer_flush(p, 0);
}

void printer_print(struct printer *p, const struct table *t)
{
	struct table fitted;

	/*
	 * Forms for people. An HTML page scrolls, so its lines have no limit, but it omits
	 * empty columns, too.
	 */
	if (p->ops == &text_printer) {
		p->width = fit_width(p->device ? p->device : p->file);
		p->colours = fit_colours(p->device ? p->device : p->file);
	} else if (p->ops == &html_printer) {
		p->width = 0;
	}
	if ((p->ops != &text_printer && p->ops != &html_printer) || !table_needs_fit(t, p->width)) {
		print(p, t);
		return;
	}
	table_fit(t, p->width, &fitted);
	print(p, &fitted);
	table_free(&fitted);
}

void printer_say(struct printer *p, const char *line)
{
	p->ops->say(p, line);
	printer_flush(p, 0);
}

void printer_lines(struct printer *p, const char *text)
{
	if (p->ops == &html_printer)
		html_lines(p, text);
	else if (p->ops == &json_printer)
		json_lines(p, text);
	else
		buf_puts(&p->out, text);
	printer_flush(p, 0);
}

void printer_prose(struct printer *p, const char *text)
{
	p->width = fit_width(p->device ? p->device : p->file);
	if (p->ops == &text_printer && p->width)
		text_prose(p, text);
	else
		printer_lines(p, text);
	printer_flush(p, 0);
}

void note_aside(struct printer *p, const char *text)
{
	diag_note(p->diag, "%s", text);
}

void begin_plainly(struct printer *p, const struct table *t)
{
}

void end_plainly(struct printer *p, const struct table *t)
{
}

void put_quoted(struct buf *b, const char *s)
{
	buf_puts(b, "\"");
	for (const char *q; (q = strchr(s, '"')); s = q + 1) {
		buf_add(b, s, q - s);
		buf_puts(b, "\"\"");
	}
	buf_puts(b, s);
	buf_puts(b, "\"");
}

bool table_has_heading(const struct table *t)
{
	vec_for_each(c, &t->columns) {
		if (c->title[0] || c->title[1] || c->title[2])
			return true;
	}
	return false;
}

void column_put_name(struct buf *b, const struct column *c, bool with_unit)
{
	const char *sep = "";

	if (c->group) {
		buf_put_printable(b, c->group);
		sep = " ";
	}
	for (int i = 0; i < 2; i++) {
		const char *s = c->full[i] ? c->full[i] : c->title[i];

		if (!s || !*s)
			continue;
		buf_puts(b, sep);
		buf_put_printable(b, s);
		sep = " ";
	}
	if (with_unit && c->title[2] && *c->title[2])
		buf_printf(b, "%s(%s)", sep, c->title[2]);
	if (!b->data)
		buf_puts(b, "");
}

char *printer_title(const struct table *t)
{
	struct buf b = { 0 };

	for (const char *p = t->title, *end; *p; p = *end ? end + 1 : end) {
		end = strchrnul(p, '\n');
		buf_puts(&b, b.len ? "; " : "");
		buf_add(&b, p, end - p);
	}
	return b.data ? b.data : xstrdup("");
}
