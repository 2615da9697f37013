/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/print/fit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analysis/base/buf.h"
#include "analysis/print/cell.h"
#include "analysis/views/table.h"

enum { GAP = 2, GAP_SHARED = 1, BAR_LEAST = 10, BAR_MOST = 50, BAR_PLAIN = 25, RAIL = 3, COLUMNS_LEAST = 40,
       WRAP_LEAST = 12, BRANCH_LEAST = 40 };

size_t fit_width(FILE *f)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	long n = columns ? strtol(columns, NULL, 10) : 0;

	if (n >= COLUMNS_LEAST && n < 10000)
		return n;
	if (!isatty(fileno(f)) || ioctl(fileno(f), TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col >= COLUMNS_LEAST ? size.ws_col : 0;
}

bool fit_colours(FILE *f)
{
	const char *term = getenv("TERM"), *no = getenv("NO_COLOR");

	return isatty(fileno(f)) && term && strcmp(term, "dumb") && !(no && *no);
}

static bool same(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

bool column_shares_heading(const struct table *t, size_t column)
{
	const struct column *c = &t->columns.data[column];

	return column && same(c[-1].title[0], c->title[0]) && same(c[-1].title[1], c->title[1]) &&
	       c[-1].group == c->group;
}

static bool column_is_nothing(const struct table *t, size_t column)
{
	struct row_window w = { .table = t };
	const struct row *r;
	bool nothing = true;

	while (nothing && (r = row_next(&w)))
		nothing = cell_is_nothing(&r->cells[column]);
	row_window_free(&w);
	return nothing;
}

static void widen(size_t *width, size_t to)
{
	*width = *width < to ? to : *width;
}

/*
 * The room that a text of this width needs. Text that wraps needs less, but at least the rails of
 * its tree.
 */
static size_t needed(const struct column *c, const struct row *r, const struct cell *cell,
		     size_t width)
{
	size_t rails = cell->kind == CELL_TEXT ? RAIL * r->depth : 0;

	if (!c->wrap)
		return width + rails;
	return !rails ? 0 : width + rails < BRANCH_LEAST ? width + rails : BRANCH_LEAST;
}

/* With the same `spare`, this column and the one before it are kept or dropped together. */
static size_t gap_before(const struct table *t, size_t column)
{
	const struct column *c = &t->columns.data[column];

	if (!column)
		return 0;
	return c[-1].spare == c->spare && column_shares_heading(t, column) ? GAP_SHARED : GAP;
}

/* The width of a column with its gap; for text that wraps, its least width. */
static size_t column_width(const struct table *t, size_t column)
{
	const struct column *c = &t->columns.data[column];
	struct row_window w = { .table = t };
	const struct row *r;
	struct buf b = { 0 };
	size_t width = 0, gap = gap_before(t, column);

	for (int i = 0; i < 3; i++)
		widen(&width, text_width(c->title[i] ? c->title[i] : ""));
	if (c->kind == CELL_BAR)
		widen(&width, BAR_LEAST);
	if (c->wrap && column)
		widen(&width, WRAP_LEAST);
	while ((r = row_next(&w))) {
		const struct cell *cell = &r->cells[column];

		buf_clear(&b);
		if (cell->kind == CELL_HIST)
			hist_put(&b, cell->s);
		else
			cell_put(&b, cell);
		if (b.data)
			widen(&width, needed(c, r, cell, text_width(b.data)));
	}
	row_window_free(&w);
	buf_free(&b);
	return width + gap;
}

/* The index of the column to drop next: the last one with the highest `spare`; -1: none. */
static int most_spare(const struct table *t, const bool *kept)
{
	int found = -1;

	for (size_t i = 0; i < t->columns.len; i++) {
		int spare = t->columns.data[i].spare;

		if (kept[i] && spare && (found < 0 || spare >= t->columns.data[found].spare))
			found = i;
	}
	return found;
}

/* Drop all columns with the same `spare` together: seconds without their percent would confuse. */
static void drop(const struct table *t, int spare, const size_t *widths, bool *kept, size_t *total)
{
	for (size_t i = 0; i < t->columns.len; i++) {
		if (kept[i] && t->columns.data[i].spare == spare) {
			kept[i] = false;
			*total -= widths[i];
		}
	}
}

/* Decide which columns to keep. Returns whether some were dropped because they do not fit. */
static bool choose(const struct table *t, size_t width, bool *kept, size_t *bar)
{
	size_t *widths = xcalloc(t->columns.len, sizeof(*widths)), total = 0;
	bool dropped = false;
	int spare;

	for (size_t i = 0; i < t->columns.len; i++) {
		kept[i] = !t->columns.data[i].hidden &&
			  (!t->columns.data[i].optional || !column_is_nothing(t, i));
		widths[i] = column_width(t, i);
		total += kept[i] ? widths[i] : 0;
	}
	while (width && total > width && (spare = most_spare(t, kept)) >= 0) {
		dropped = true;
		drop(t, t->columns.data[spare].spare, widths, kept, &total);
	}
	*bar = !width ? BAR_PLAIN : total < width ? width - total + BAR_LEAST : BAR_LEAST;
	*bar = *bar > BAR_MOST ? BAR_MOST : *bar;
	free(widths);
	return dropped;
}

static void copy_row(const struct row *from, const bool *kept, size_t bar, struct table *to)
{
	struct row *r = table_row(to);
	struct cell *cells = r->cells;
	size_t n = 0, i = 0;

	*r = *from;
	r->cells = cells;
	for (; n < to->columns.len; i++) {
		struct buf b = { 0 };

		if (!kept[i])
			continue;
		cells[n] = from->cells[i];
		if (cells[n].kind == CELL_BAR) {
			bar_put(&b, cells[n].s, bar);
			cells[n].s = arena_strdup(&to->arena, b.data ? b.data : "");
			buf_free(&b);
		}
		n++;
	}
}

bool table_needs_fit(const struct table *t, size_t width)
{
	vec_for_each(c, &t->columns) {
		if (c->optional || c->hidden || (width && c->spare) || c->kind == CELL_BAR)
			return true;
	}
	return false;
}

void table_fit(const struct table *t, size_t width, struct table *ret)
{
	bool *kept = xcalloc(t->columns.len, sizeof(*kept));
	struct row_window w = { .table = t };
	const struct row *r;
	bool dropped;
	size_t bar;

	*ret = (struct table){ .name = t->name, .title = t->title };
	dropped = choose(t, width, kept, &bar);
	for (size_t i = 0; i < t->columns.len; i++) {
		if (kept[i])
			vec_push(&ret->columns, t->columns.data[i]);
	}
	while ((r = row_next(&w)))
		copy_row(r, kept, bar, ret);
	row_window_free(&w);
	vec_for_each(n, &t->notes)
		vec_push(&ret->notes, *n);
	if (dropped)
		vec_push(&ret->notes, "Some columns do not fit: widen the terminal, or write to a file.");
	free(kept);
}
