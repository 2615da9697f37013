/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/views/table.h"

#include <string.h>

struct row *table_row(struct table *t)
{
	struct row r = { .cells = arena_alloc(&t->arena, t->columns.len * sizeof(*r.cells)) };

	vec_push(&t->rows, r);
	return &t->rows.data[t->rows.len - 1];
}

size_t table_nrows(const struct table *t)
{
	return t->source.n ? t->source.n : t->rows.len;
}

static void window_alloc(struct row_window *w)
{
	size_t ncolumns = w->table->columns.len;

	w->rows = xcalloc(ROWS_MOST, sizeof(*w->rows));
	w->cells = xcalloc(ROWS_MOST * ncolumns, sizeof(*w->cells));
}

const struct row *rows_at(struct row_window *w, size_t from, size_t n)
{
	const struct row_source *source = &w->table->source;
	size_t ncolumns = w->table->columns.len;

	if (!source->n)
		return &w->table->rows.data[from];
	if (!w->rows)
		window_alloc(w);
	memset(w->cells, 0, n * ncolumns * sizeof(*w->cells));
	for (size_t i = 0; i < n; i++)
		w->rows[i] = (struct row){ .cells = &w->cells[i * ncolumns] };
	source->draw(source->ctx, from, n, w->rows);
	return w->rows;
}

const struct row *row_next(struct row_window *w)
{
	size_t left = table_nrows(w->table) - w->at;

	if (w->next == w->n) {
		if (!left)
			return NULL;
		w->n = left < ROWS_MOST ? left : ROWS_MOST;
		w->now = rows_at(w, w->at, w->n);
		w->at += w->n;
		w->next = 0;
	}
	return &w->now[w->next++];
}

void row_window_free(struct row_window *w)
{
	free(w->rows);
	free(w->cells);
}

static void source_free(struct row_source *source)
{
	if (source->free)
		source->free(source->ctx);
	*source = (struct row_source){ 0 };
}

void table_draw(struct table *t)
{
	struct row_window w = { .table = t };
	const struct row *from;

	if (!t->source.n)
		return;
	vec_reserve(&t->rows, t->source.n);
	while ((from = row_next(&w))) {
		struct row *r = table_row(t);
		struct cell *cells = r->cells;

		memcpy(cells, from->cells, t->columns.len * sizeof(*cells));
		*r = *from;
		r->cells = cells;
	}
	row_window_free(&w);
	source_free(&t->source);
}

void table_free(struct table *t)
{
	source_free(&t->source);
	vec_free(&t->columns);
	vec_free(&t->rows);
	vec_free(&t->notes);
	arena_free(&t->arena);
	*t = (struct table){ 0 };
}
