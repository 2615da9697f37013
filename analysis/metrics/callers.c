/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/metrics/callers.h"

#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/wrap.h"
#include "analysis/model/session.h"

/* How many stacks ahead of their use their data, and their paths, are loaded into the cache. */
enum { DATA_AHEAD = 8, PATHS_AHEAD = 16 };

/* Add the stack to the function's list, or find it there as the last one. */
static void put_stack(struct stack_index *x, uint32_t func, uint32_t id, uint32_t at, bool again)
{
	size_t i = x->end[func] - again;

	x->stacks[i] = id;
	x->at[i] = again || at > AT_ANY ? AT_ANY : at;
}

/* Visit the functions of each stack once: count their stacks or, with `fill`, store them. */
static void index_stacks(struct stack_index *x, bool fill)
{
	const struct tally *t = x->tally;
	uint32_t *last = xcalloc(t->nfuncs, sizeof(*last)); /* stack of its last occurrence + 1 */

	for (uint32_t id = 0; id < t->nstacks; id++) {
		const uint32_t *funcs = t->path_funcs.data;

		for (uint32_t i = 0; i < t->paths[id].n; i++) {
			uint32_t func = funcs[t->paths[id].first + i];

			bool again = last[func] == id + 1;

			last[func] = id + 1;
			if (fill)
				put_stack(x, func, id, i, again);
			x->end[func] += !again;
		}
	}
	free(last);
}

/* Copy the sums that are not 0 in all stacks: they are few, so the copy fits into the cache. */
static void copy_sums(struct stack_index *x)
{
	const struct tally *t = x->tally;
	int64_t *to;

	to = x->sums = xcalloc(t->nstacks * t->met.len, sizeof(*x->sums));
	for (size_t id = 0; id < t->nstacks; id++) {
		vec_for_each(m, &t->met)
			*to++ = t->by_stack[id * t->nmetrics + *m];
	}
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
	x->at = xcalloc(at, sizeof(*x->at));
	index_stacks(x, true);
	copy_sums(x);
}

void stack_index_free(struct stack_index *x)
{
	free(x->stacks);
	free(x->at);
	free(x->end);
	free(x->sums);
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

static const int64_t *sums_of(const struct stack_index *x, uint32_t stack)
{
	return &x->sums[stack * x->tally->met.len];
}

static void add_sums(const struct tally *t, int64_t *to, const int64_t *sums)
{
	for (size_t i = 0; i < t->met.len; i++)
		add_to(&to[t->met.data[i]], sums[i]);
}

/* With sums NULL, add the neighbour without adding values. */
static void add_neighbour(const struct tally *t, struct neighbours *side, uint32_t func,
			  const int64_t *sums)
{
	if (!side->place[func]) {
		vec_push(&side->funcs, func);
		side->place[func] = side->funcs.len;
		for (size_t i = 0; i < t->nmetrics; i++)
			vec_push(&side->values, 0);
	}
	if (sums && t->nmetrics)
		add_sums(t, &side->values.data[(side->place[func] - 1) * t->nmetrics], sums);
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

/* at: the place of the piece in the stack's path, or AT_ANY. */
static void add_stack(struct callers *f, uint32_t id, uint32_t at, struct func *const *funcs,
		      size_t n)
{
	const struct tally *t = f->tally;
	const uint32_t *path = &t->path_funcs.data[t->paths[id].first];
	const int64_t *sums = sums_of(f->index, id);
	uint32_t total = t->session->total->id, inner = funcs[n - 1]->id, len = t->paths[id].n;
	uint32_t end = at == AT_ANY ? len : at + n;

	for (uint32_t i = at == AT_ANY ? 0 : at; i + n <= end; i++) {
		if (path[i] != inner || !stands_at(&path[i], funcs, n))
			continue;
		add_neighbour(t, &f->callers, i + n < len ? path[i + n] : total, sums);
		if (i)
			add_neighbour(t, &f->callees, path[i - 1], sums);
		else
			add_sums(t, f->self, sums);
		if (sums)
			add_sums(t, f->total, sums);
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
				      sums_of(f->index, id));
	}
	memcpy(f->self, t->total, t->nmetrics * sizeof(*f->self));
	memcpy(f->total, t->total, t->nmetrics * sizeof(*f->total));
}

/* A function's stacks are spread over all memory: begin to load them while others are added. */
static void load_ahead(const struct stack_index *x, const uint32_t *stacks, const uint8_t *at,
		       size_t n)
{
	const struct tally *t = x->tally;

	if (n > PATHS_AHEAD)
		__builtin_prefetch(&t->paths[stacks[PATHS_AHEAD]]);
	if (n <= DATA_AHEAD)
		return;
	__builtin_prefetch(sums_of(x, stacks[DATA_AHEAD]));
	__builtin_prefetch(&t->path_funcs.data[t->paths[stacks[DATA_AHEAD]].first +
					       at[DATA_AHEAD] % AT_ANY]);
}

static void add_stacks(struct callers *f, struct func *const *funcs, size_t n)
{
	size_t nstacks;
	const uint32_t *stacks = stacks_of(f->index, funcs[0]->id, &nstacks);
	const uint8_t *at = &f->index->at[stacks - f->index->stacks];

	for (size_t i = 0; i < nstacks; i++) {
		load_ahead(f->index, &stacks[i], &at[i], nstacks - i);
		add_stack(f, stacks[i], n == 1 ? at[i] : AT_ANY, funcs, n);
	}
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
