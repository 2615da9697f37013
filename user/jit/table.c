/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/jit/table.h"

#include <stdlib.h>
#include <string.h>

#include "user/jit/batch.h"

/* A new function and its place in the order of creation. */
struct ordered {
	struct jit_function f;
	size_t order;
};

static uint64_t end_of(const struct jit_function *f)
{
	return f->start + f->size;
}

static size_t text_bytes(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

static size_t bytes_of(const struct jit_function *f)
{
	return sizeof(*f) + text_bytes(f->name) + text_bytes(f->alias) + text_bytes(f->source) +
	       f->nlines * sizeof(*f->lines);
}

void jit_function_free(struct jit_function *f)
{
	free(f->name);
	free(f->alias);
	free(f->source);
	free(f->lines);
}

void jit_table_free(struct jit_table *t)
{
	vec_for_each(f, &t->functions)
		jit_function_free(f);
	for (size_t i = 0; i < JIT_REPLACED; i++)
		jit_function_free(&t->replaced[i]);
	vec_free(&t->functions);
	vec_free(&t->removed);
	*t = (struct jit_table){ 0 };
}

struct jit_function *jit_table_find(struct jit_table *t, uint64_t pc)
{
	size_t n = vec_upto(&t->functions, start, pc);
	struct jit_function *f = n ? &t->functions.data[n - 1] : NULL;

	return f && pc < end_of(f) ? f : NULL;
}

bool jit_table_overlaps(struct jit_table *t, const struct jit_function *f)
{
	size_t n = vec_upto(&t->functions, start, end_of(f) - 1);

	return n && end_of(&t->functions.data[n - 1]) > f->start;
}

bool jit_table_has(struct jit_table *t, const struct jit_function *f)
{
	const struct jit_function *have = jit_table_find(t, f->start);

	return have && have->start == f->start && have->size == f->size &&
	       !strcmp(have->name, f->name);
}

/* `by` may be a function or a removal. */
static void replace(struct jit_table *t, const struct jit_function *f, const struct jit_function *by)
{
	struct jit_function *slot = &t->replaced[t->nreplaced++ % JIT_REPLACED];

	jit_function_free(slot);
	*slot = *f;
	slot->gone_ns = by->gone ? by->from_ns : 0;
	if (slot->gone_ns && slot->written)
		vec_push(&t->removed, *slot);
}

static int by_start(const void *pa, const void *pb)
{
	const struct ordered *a = pa, *b = pb;

	if (a->f.start != b->f.start)
		return a->f.start < b->f.start ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* Append a function unless an earlier one in `to` that was made later overlaps it. */
static void append(struct jit_table *t, struct ordered *to, size_t *n, const struct ordered *o)
{
	while (*n && end_of(&to[*n - 1].f) > o->f.start) {
		const struct ordered *before = &to[*n - 1];

		if (before->order > o->order) {
			if (!o->f.gone)
				replace(t, &o->f, &before->f);
			return;
		}
		if (o->f.gone && before->f.start != o->f.start)
			return;
		if (before->f.gone)
			break; /* it counts for a function that the table has */
		replace(t, &before->f, &o->f);
		--*n;
	}
	to[(*n)++] = *o;
}

/* Sort the new functions and let the later ones replace the earlier ones. Returns how many stay. */
static size_t settle(struct jit_table *t, struct ordered *new, size_t n)
{
	size_t kept = 0;

	qsort(new, n, sizeof(*new), by_start);
	for (size_t i = 0; i < n; i++)
		append(t, new, &kept, &(struct ordered){ new[i].f, new[i].order });
	return kept;
}

/* Both lists are sorted. New functions replace old ones. */
static void merge(struct jit_table *t, const struct ordered *new, size_t n)
{
	jit_function_list old = t->functions, all = { 0 };
	size_t at = 0;

	vec_reserve(&all, old.len + n);
	t->bytes = 0;
	for (size_t i = 0; i < n; i++) {
		for (; at < old.len && end_of(&old.data[at]) <= new[i].f.start; at++)
			vec_push(&all, old.data[at]);
		if (new[i].f.gone && at < old.len && old.data[at].start != new[i].f.start)
			continue;
		for (; at < old.len && old.data[at].start < end_of(&new[i].f); at++)
			replace(t, &old.data[at], &new[i].f);
		if (!new[i].f.gone)
			vec_push(&all, new[i].f);
	}
	for (; at < old.len; at++)
		vec_push(&all, old.data[at]);
	vec_for_each(f, &all)
		t->bytes += bytes_of(f);
	vec_free(&old);
	t->functions = all;
}

void jit_table_add(struct jit_table *t, struct jit_function *new, size_t n)
{
	struct ordered *ordered;

	if (!n)
		return;
	ordered = xcalloc(n, sizeof(*ordered));
	for (size_t i = 0; i < n; i++)
		ordered[i] = (struct ordered){ new[i], i };
	merge(t, ordered, settle(t, ordered, n));
	free(ordered);
}
