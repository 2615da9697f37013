/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text for a terminal. Numbers are aligned right, names left. Columns that show the same metric
 * in different units stand close together under one heading. All widths must be known before
 * the first line, so the rows are read twice.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/interrupt.h"
#include "analysis/base/parallel.h"
#include "analysis/print/fit.h"
#include "analysis/print/printer.h"
#include "analysis/print/wrap.h"
#include "analysis/views/table.h"

enum { GAP_METRIC = 1, GAP_COLUMN = 2 };

/* Heading lines: the compared group, then the titles. */
enum { LINE_GROUP = 0, LINE_UNIT = 3, NLINES = 4 };

static const char *title(const struct table *t, size_t column, int line)
{
	const struct column *c = &t->columns.data[column];
	const char *s = line == LINE_GROUP ? c->group : c->title[line - 1];

	return s ? s : "";
}

/* Decimal points are aligned: "0." is followed by blanks for its missing digits. */
static size_t blanks_after(const struct cell *c)
{
	switch (c->kind) {
	case CELL_TIME:
	case CELL_MSEC:
	case CELL_USEC:
		return c->i ? 0 : 3;
	case CELL_RATIO:
	case CELL_TIMES:
		return c->d == 0 ? 3 : 0;
	case CELL_PERCENT:
		return c->d == 0 ? 2 : 0;
	default:
		return 0;
	}
}

/* Append the cell's text, with its mark and tree prefix. */
static void put_text(struct printer *p, struct buf *b, const struct row *r, size_t column)
{
	const struct cell *c = &r->cells[column];

	if ((int)column == p->name_column) {
		if (p->has_marks)
			buf_add(b, r->mark ? &r->mark : " ", 1);
		if (p->is_tree)
			tree_put(&p->tree, b, r);
	}
	if (c->kind == CELL_HIST)
		hist_put(b, c->s);
	else if (c->kind == CELL_BAR)
		buf_puts(b, c->s);
	else
		cell_put(b, c);
	line_pad(b, blanks_after(c));
}

/* The same text in p->cell, alone. */
static const char *cell_text(struct printer *p, const struct row *r, size_t column)
{
	buf_clear(&p->cell);
	put_text(p, &p->cell, r, column);
	return p->cell.data ? p->cell.data : "";
}

static void widen(size_t *width, size_t to)
{
	if (*width < to)
		*width = to;
}

/*
 * Text with nothing to its right is not padded, so its column need not be as wide: the last
 * name of a list, or a path or an address in a column of times.
 */
static bool runs_over(const struct table *t, const struct row *r, size_t column)
{
	enum cell_kind kind = r->cells[column].kind;

	if (kind != CELL_TEXT && (kind != CELL_ADDRESS || t->columns.data[column].kind == kind))
		return false;
	for (size_t i = column + 1; i < t->columns.len; i++) {
		if (r->cells[i].kind != CELL_BLANK)
			return false;
	}
	return true;
}

/* Whether a number further from 0 is at least as wide, among cells of this kind. */
static bool grows(const struct cell *c)
{
	return !c->n && !c->estimate &&
	       (c->kind == CELL_TIME || c->kind == CELL_MSEC || c->kind == CELL_USEC ||
		c->kind == CELL_COUNT || c->kind == CELL_PERCENT);
}

static bool is_below(const struct cell *a, const struct cell *b)
{
	return a->kind == CELL_PERCENT ? a->d < b->d : a->i < b->i;
}

/* The least and the greatest number of each kind in a column; blank if there is none. */
struct extremes {
	struct cell least[CELL_KINDS], greatest[CELL_KINDS];
};

static void extremes_add(struct extremes *x, const struct cell *c)
{
	struct cell *least = &x->least[c->kind], *greatest = &x->greatest[c->kind];

	if (least->kind == CELL_BLANK)
		*least = *greatest = *c;
	else if (is_below(c, least))
		*least = *c;
	else if (is_below(greatest, c))
		*greatest = *c;
}

/* A run of rows that one thread measures. */
struct measuring {
	struct printer *printer; /* the thread's own */
	struct row_window window;
	size_t from, to;
	struct extremes *numbers; /* by column */
	size_t *widths;		  /* by column: of cells that are not in `numbers` */
};

static void measure_rows(void *ctx, size_t i)
{
	struct measuring *m = (struct measuring *)ctx + i;
	const struct table *t = m->window.table;
	struct printer *p = m->printer;
	const struct row *r;

	m->window.at = m->from;
	for (size_t n = m->from; n < m->to && !interrupt_pending(); n++) {
		r = row_next(&m->window);
		for (size_t c = 0; c < t->columns.len; c++) {
			if (grows(&r->cells[c]) && (int)c != p->name_column)
				extremes_add(&m->numbers[c], &r->cells[c]);
			else if (!runs_over(t, r, c))
				widen(&m->widths[c], text_width(cell_text(p, r, c)));
		}
	}
}

/* A blank cell adds no width. */
static void measure_number(struct printer *p, const struct cell *c, size_t column)
{
	buf_clear(&p->cell);
	cell_put(&p->cell, c);
	widen(&p->layout.data[column].width, p->cell.len + blanks_after(c));
}

/* Only a column's extreme numbers are formatted to measure it. */
static void measure_column(struct printer *p, const struct measuring *m, size_t column)
{
	const struct extremes *x = &m->numbers[column];

	widen(&p->layout.data[column].width, m->widths[column]);
	for (size_t kind = 0; kind < CELL_KINDS; kind++) {
		measure_number(p, &x->least[kind], column);
		measure_number(p, &x->greatest[kind], column);
	}
}

enum { ROWS_ALONE = 8 * ROWS_MOST };

/* Several threads measure if there are many rows. The prefix of a tree's row depends on earlier rows. */
static void measure_cells(struct printer *p, const struct table *t)
{
	size_t nrows = table_nrows(t), ncolumns = t->columns.len;
	size_t n = p->is_tree || nrows < ROWS_ALONE ? 1 : parallel_parts();
	struct printer printers[PARALLEL_MAX];
	struct measuring parts[PARALLEL_MAX];

	p->tree.rails.len = 0;
	for (size_t i = 0; i < n; i++) {
		printers[i] = *p;
		printers[i].cell = (struct buf){ 0 };
		parts[i] = (struct measuring){ .printer = i ? &printers[i] : p, .window.table = t,
					       .from = nrows / n * i,
					       .to = i + 1 == n ? nrows : nrows / n * (i + 1) };
		parts[i].numbers = xcalloc(ncolumns, sizeof(*parts[i].numbers));
		parts[i].widths = xcalloc(ncolumns, sizeof(*parts[i].widths));
	}
	parallel_run(measure_rows, parts, n);
	for (size_t i = 0; i < n; i++) {
		for (size_t c = 0; c < ncolumns; c++)
			measure_column(p, &parts[i], c);
		buf_free(&printers[i].cell);
		row_window_free(&parts[i].window);
		free(parts[i].numbers);
		free(parts[i].widths);
	}
	p->tree.rails.len = 0;
}

static size_t span_width(const struct printer *p, size_t first)
{
	size_t width = 0;

	for (size_t i = first; i < first + p->layout.data[first].span; i++)
		width += p->layout.data[i].width + (i > first ? p->layout.data[i].gap : 0);
	return width;
}

static void measure_titles(struct printer *p, const struct table *t)
{
	size_t mark = p->has_marks;

	for (size_t i = 0; i < t->columns.len; i++) {
		size_t shift = (int)i == p->name_column ? mark : 0;

		widen(&p->layout.data[i].width, text_width(title(t, i, LINE_UNIT)) + shift);
	}
	for (size_t i = 0; i < t->columns.len; i++) {
		struct column_layout *l = &p->layout.data[i];
		size_t shift = (int)i == p->name_column ? mark : 0;
		size_t have = span_width(p, i), want = 0;

		if (!l->span)
			continue;
		for (int line = 0; line < LINE_UNIT; line++)
			widen(&want, text_width(title(t, i, line)) + shift);
		if (want > have)
			l->width += want - have;
	}
}

/* Colour the text that follows, if the terminal has colours. */
static const char STYLE_TITLE[] = "\033[1m", STYLE_WARNING[] = "\033[91m", STYLE_PLAIN[] = "\033[m";

static void style(struct printer *p, const char *code)
{
	if (p->colours)
		buf_puts(&p->out, code);
}

/* A title may have several lines. */
static void put_lines(struct printer *p, const char *text)
{
	for (const char *end; *text; text = *end ? end + 1 : end) {
		char *line;

		end = strchrnul(text, '\n');
		line = xstrndup(text, end - text);
		buf_clear(&p->cell);
		buf_put_printable(&p->cell, line);
		line_put(p, p->cell.data ? p->cell.data : "", 0, 0);
		free(line);
	}
}

static void text_begin(struct printer *p, const struct table *t)
{
	size_t first = 0;

	p->layout.len = 0;
	for (size_t i = 0; i < t->columns.len; i++) {
		bool shares = column_shares_heading(t, i);

		vec_push(&p->layout, (struct column_layout){
			.gap = !i ? 0 : shares ? GAP_METRIC : GAP_COLUMN, .span = !shares });
		if (shares)
			p->layout.data[first].span++;
		else
			first = i;
	}
	if (t->columns.len) {
		measure_cells(p, t);
		measure_titles(p, t);
	}
	if (t->title) {
		style(p, STYLE_TITLE);
		put_lines(p, t->title);
		style(p, STYLE_PLAIN);
		buf_puts(&p->out, "\n");
	}
}

static bool is_left(enum cell_kind kind)
{
	return kind == CELL_TEXT || kind == CELL_BAR || kind == CELL_HIST;
}

static void put_aligned(struct printer *p, const char *s, size_t width, bool right)
{
	size_t w = text_width(s), fill = w < width ? width - w : 0;

	if (right)
		line_pad(&p->out, fill);
	buf_puts(&p->out, s);
	if (!right)
		line_pad(&p->out, fill);
}

/*
 * Append a number with the blanks before it in one piece, as nearly all cells are numbers.
 * False if the cell is no common number, or the column is too wide.
 */
static bool put_number(struct printer *p, const struct cell *c, const struct column_layout *l)
{
	char text[2 * CELL_ROOM], *end = text + sizeof(text), *begin;
	size_t len;

	if (l->gap + l->width > sizeof(text))
		return false;
	memset(text, ' ', sizeof(text));
	begin = cell_number(c, end - blanks_after(c));
	if (!begin)
		return false;
	len = end - begin;
	widen(&len, l->width);
	buf_add(&p->out, end - len - l->gap, len + l->gap);
	return true;
}

/* Text is aligned left, and not padded in the last column; numbers are aligned right. */
static void put_cell(struct printer *p, const struct table *t, const struct row *r, size_t column)
{
	const struct column_layout *l = &p->layout.data[column];
	bool right = !is_left(r->cells[column].kind);

	if (right && (int)column != p->name_column && put_number(p, &r->cells[column], l))
		return;
	line_pad(&p->out, l->gap);
	if (!right && column + 1 == t->columns.len)
		put_text(p, &p->out, r, column);
	else
		put_aligned(p, cell_text(p, r, column), l->width, right);
}

/*
 * A heading over several columns is aligned left; one over a single column is aligned like its
 * cells.
 */
static void put_title(struct printer *p, const struct table *t, size_t column, int line)
{
	const struct column_layout *l = &p->layout.data[column];
	bool right = !is_left(t->columns.data[column].kind);

	buf_clear(&p->cell);
	if ((int)column == p->name_column && p->has_marks)
		buf_puts(&p->cell, " ");
	buf_put_printable(&p->cell, title(t, column, line));
	line_pad(&p->out, l->gap);
	if (line == LINE_UNIT)
		put_aligned(p, p->cell.data, l->width, right);
	else
		put_aligned(p, p->cell.data, span_width(p, column), right && l->span == 1);
}

static bool line_is_blank(const struct table *t, int line)
{
	for (size_t i = 0; i < t->columns.len; i++) {
		if (*title(t, i, line))
			return false;
	}
	return true;
}

static void text_heading(struct printer *p, const struct table *t)
{
	for (int line = 0; line < NLINES; line++) {
		if (line_is_blank(t, line))
			continue;
		for (size_t i = 0; i < t->columns.len; i++) {
			if (line == LINE_UNIT || p->layout.data[i].span)
				put_title(p, t, i, line);
		}
		line_end(&p->out);
	}
}

/*
 * Print a bar in colours. Each letter always has the same one of six; the factors give
 * different colours to letters that often stand side by side. Dots have no colour, because most
 * of most bars is sleep.
 */
static void put_coloured(struct printer *p, const char *bar, size_t width)
{
	size_t w = strlen(bar);

	for (const char *s = bar; *s;) {
		size_t n = strspn(s, (char[]){ *s, '\0' });

		if (*s == '.')
			buf_add(&p->out, s, n);
		else
			buf_printf(&p->out, "\033[9%dm%.*s\033[m", 1 + *s * 6 % 13 % 6, (int)n, s);
		s += n;
	}
	line_pad(&p->out, w < width ? width - w : 0);
}

/* Whether a line that is too long is continued below: text with nothing to its right is. */
static bool wraps(const struct printer *p, const struct table *t, const struct row *r, size_t column)
{
	const struct column *c = &t->columns.data[column];

	return p->width && r->cells[column].kind == CELL_TEXT && !c->verbatim && runs_over(t, r, column);
}

static void text_row(struct printer *p, const struct table *t, const struct row *r)
{
	size_t at = 0;

	if (r->group != p->group)
		buf_puts(&p->out, "\n");
	p->group = r->group;
	for (size_t i = 0; i < t->columns.len; i++) {
		const struct column_layout *l = &p->layout.data[i];
		bool wrapped = wraps(p, t, r, i);
		bool coloured = p->colours && r->cells[i].kind == CELL_BAR;

		if (wrapped || coloured)
			line_pad(&p->out, l->gap);
		if (wrapped && p->is_tree && !p->has_marks && (int)i == p->name_column)
			line_put_branch(p, cell_text(p, r, i), at + l->gap, r);
		else if (wrapped)
			line_put_names(p, cell_text(p, r, i), at + l->gap);
		else if (coloured)
			put_coloured(p, cell_text(p, r, i), l->width);
		else
			put_cell(p, t, r, i);
		at += l->gap + l->width;
	}
	line_end(&p->out);
}

enum { SAY_INDENT = 4 };

static void text_say(struct printer *p, const char *text)
{
	buf_clear(&p->cell);
	buf_put_printable(&p->cell, text);
	line_put(p, p->cell.data ? p->cell.data : "", 0, SAY_INDENT);
}

/* Print a note, wrapped at the width. */
static void text_note(struct printer *p, const char *text)
{
	bool warning = !strncmp(text, "***", 3);

	buf_clear(&p->cell);
	buf_put_printable(&p->cell, text);
	if (warning)
		style(p, STYLE_WARNING);
	line_put(p, p->cell.data ? p->cell.data : "", 0, strspn(text, " "));
	if (warning)
		style(p, STYLE_PLAIN);
}

/* A blank line separates the reports of several commands. */
static void text_end(struct printer *p, const struct table *t)
{
	buf_puts(&p->out, "\n");
}

const struct printer_ops text_printer = {
	.begin = text_begin,
	.heading = text_heading,
	.row = text_row,
	.note = text_note,
	.end = text_end,
	.say = text_say,
};
