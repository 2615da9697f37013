/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/views/table.h"

struct row *table_row(struct table *t)
{
	struct row r = { .cells = arena_alloc(&t->arena, t->columns.len * sizeof(*r.cells)) };

	vec_push(&t->rows, r);
	return &t->rows.data[t->rows.len - 1];
}

void table_append(struct table *t, struct table *from)
{
	vec_reserve(&t->rows, t->rows.len + from->rows.len);
	vec_for_each(r, &from->rows)
		vec_push(&t->rows, *r);
	vec_for_each(n, &from->notes)
		vec_push(&t->notes, *n);
	arena_join(&t->arena, &from->arena);
	table_free(from);
}

void table_free(struct table *t)
{
	vec_free(&t->columns);
	vec_free(&t->rows);
	vec_free(&t->notes);
	arena_free(&t->arena);
	*t = (struct table){ 0 };
}
