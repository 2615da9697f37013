/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/metrics/callers.h"

#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/model/session.h"

/* Visit the functions of each stack once: count their stacks or, with `fill`, store them. */
static void index_stacks(struct stack_index *x, bool fill)
{
	const struct tally *t = x->tally;
	uint32_t *last = xcalloc(t->nfuncs, sizeof(*last)); /* stack of its last occurrence + 1 */

	for (uint32_t id = 0; id < t->nstacks; id++) {
		const uint32_t *funcs = t->path_funcs.data;

		for (uint32_t i = 0; i < t->paths[id].n; i++) {
			uint32_t func = funcs[t->paths[id].first + i];

			if (last[func] == id + 1)
				continue;
			last[func] = id + 1;
			if (fill)
				x->stacks[x->end[func]] = id;
			x->end[func]++;
		}
	}
	free(last);
}

void stack_index_init(struct stack_index *x, const struct tally *t)
{
	size_t at = 0;

	*x = (struct stack_index){ .tally = t };
	x->end = xcalloc(t->nfuncs, sizeof(*x->end));
	index_stacks(x, false);
	/* After filling, each end has moved from the list's begin to its end. */
	for (size_t i = 0; i < t->nfuncs; i++) {
		size_t n = x->end[i];

		x->end[i] = at;
		at += n;
	}
	x->stacks = xcalloc(at, sizeof(*x->stacks));
	index_stacks(x, true);
}

void stack_index_free(struct stack_index *x)
{
	free(x->stacks);
	free(x->end);
}

static const uint32_t *stacks_of(const struct stack_index *x, uint32_t func, size_t *n)
{
	size_t from = func ? x->end[func - 1] : 0;

	*n = x->end[func] - from;
	return &x->stacks[from];
}

size_t stack_index_count(const struct stack_index *x, uint32_t func)
{
	size_t n = 0;

	if (func < x->tally->nfuncs)
		stacks_of(x, func, &n);
	return n;
}

void callers_init(struct callers *f, const struct stack_index *x)
{
	const struct tally *t = x->tally;

	*f = (struct callers){ .index = x, .tally = t };
	f->callers.place = xcalloc(t->nfuncs, sizeof(*f->callers.place));
	f->callees.place = xcalloc(t->nfuncs, sizeof(*f->callees.place));
	f->self = xcalloc(t->nmetrics, sizeof(*f->self));
	f->total = xcalloc(t->nmetrics, sizeof(*f->total));
}

/* With values NULL, add the neighbour without adding values. */
static void add_neighbour(const struct tally *t, struct neighbours *side, uint32_t func,
			  const int64_t *values)
{
	if (!side->place[func]) {
		vec_push(&side->funcs, func);
		side->place[func] = side->funcs.len;
		for (size_t i = 0; i < t->nmetrics; i++)
			vec_push(&side->values, 0);
	}
	if (values && t->nmetrics)
		tally_add(t, &side->values.data[(side->place[func] - 1) * t->nmetrics], values);
}

static void forget(struct neighbours *side)
{
	vec_for_each(func, &side->funcs)
		side->place[*func] = 0;
	side->funcs.len = side->values.len = 0;
}

/*
 * Whether the piece occurs at this position of a path. It is compared from its innermost function
 * outwards.
 */
static bool stands_at(const uint32_t *path, struct func *const *funcs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (path[i] != funcs[n - 1 - i]->id)
			return false;
	}
	return true;
}

static void add_stack(struct callers *f, uint32_t id, struct func *const *funcs, size_t n)
{
	const struct tally *t = f->tally;
	const uint32_t *path = &t->path_funcs.data[t->paths[id].first];
	const int64_t *sums = &t->by_stack[id * t->nmetrics];
	uint32_t total = t->session->total->id, inner = funcs[n - 1]->id, len = t->paths[id].n;

	for (uint32_t i = 0; i + n <= len; i++) {
		if (path[i] != inner || !stands_at(&path[i], funcs, n))
			continue;
		add_neighbour(t, &f->callers, i + n < len ? path[i + n] : total, sums);
		if (i)
			add_neighbour(t, &f->callees, path[i - 1], sums);
		else
			tally_add(t, f->self, sums);
		if (sums)
			tally_add(t, f->total, sums);
		sums = NULL; /* count the piece's values of this stack only once */
	}
}

static void add_outermost(struct callers *f)
{
	const struct tally *t = f->tally;

	for (uint32_t id = 0; id < t->nstacks; id++) {
		const struct path *p = &t->paths[id];

		if (p->n)
			add_neighbour(t, &f->callees, t->path_funcs.data[p->first + p->n - 1],
				      &t->by_stack[id * t->nmetrics]);
	}
	memcpy(f->self, t->total, t->nmetrics * sizeof(*f->self));
	memcpy(f->total, t->total, t->nmetrics * sizeof(*f->total));
}

static void add_stacks(struct callers *f, struct func *const *funcs, size_t n)
{
	size_t nstacks;
	const uint32_t *stacks = stacks_of(f->index, funcs[0]->id, &nstacks);

	for (size_t i = 0; i < nstacks; i++)
		add_stack(f, stacks[i], funcs, n);
}

void callers_find(struct callers *f, struct func *const *funcs, size_t n)
{
	const struct tally *t = f->tally;

	forget(&f->callers);
	forget(&f->callees);
	memset(f->self, 0, t->nmetrics * sizeof(*f->self));
	memset(f->total, 0, t->nmetrics * sizeof(*f->total));
	if (n == 1 && funcs[0] == t->session->total)
		add_outermost(f);
	else if (funcs[0]->id < t->nfuncs)
		add_stacks(f, funcs, n);
}

static void neighbours_free(struct neighbours *side)
{
	vec_free(&side->funcs);
	vec_free(&side->values);
	free(side->place);
}

void callers_free(struct callers *f)
{
	neighbours_free(&f->callers);
	neighbours_free(&f->callees);
	free(f->self);
	free(f->total);
}
