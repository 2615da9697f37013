/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Callers and callees; the theory is at the top of tally.c. */
#include <stdlib.h>
#include <string.h>

#include "analysis/metrics/pass.h"
#include "analysis/metrics/tally.h"
#include "analysis/model/session.h"

/*
 * A caller and a callee that stand beside each other in some stack: what the
 * callee has through the caller, and what the caller has in the callee. With
 * recursion they count different places; until then they are one array.
 */
struct pair {
	uint32_t caller, callee;
	int64_t *from_caller, *in_callee;
};

struct builder {
	const struct tally *t;
	const struct func *only;
	struct arena *arena;
	VEC(struct pair) pairs;
	struct map pair_at;  /* caller << 32 | callee, to index in pairs */
	uint32_t *last_seen; /* by function: the stack it was last met in, + 1 */
};

static uint64_t pair_key(uint32_t caller, uint32_t callee)
{
	return (uint64_t)caller << 32 | callee;
}

static struct pair *pair_of(struct builder *b, uint32_t caller, uint32_t callee)
{
	bool fresh;
	uint64_t *index = map_put(&b->pair_at, pair_key(caller, callee), &fresh);
	int64_t *values;

	if (!fresh)
		return &b->pairs.data[*index];
	*index = b->pairs.len;
	values = arena_alloc(b->arena, b->t->nmetrics * sizeof(*values));
	vec_push(&b->pairs, (struct pair){ caller, callee, values, values });
	return &b->pairs.data[*index];
}

static void split(struct builder *b, struct pair *p)
{
	size_t size = b->t->nmetrics * sizeof(*p->in_callee);

	if (p->in_callee == p->from_caller)
		p->in_callee = memcpy(arena_alloc(b->arena, size), p->from_caller, size);
}

static void add_values(int64_t *to, const int64_t *from, size_t n)
{
	for (size_t i = 0; from && i < n; i++)
		add_to(&to[i], from[i]);
}

/* Values NULL: what the function has of the stack counts elsewhere; the pair is known with nothing. */
static void add_pair(struct builder *b, uint32_t caller, uint32_t callee,
		     const int64_t *of_caller, const int64_t *of_callee)
{
	struct pair *p;

	if (b->only && b->only->id != caller && b->only->id != callee)
		return;
	p = pair_of(b, caller, callee);
	if (of_caller != of_callee)
		split(b, p);
	if (p->in_callee != p->from_caller)
		add_values(p->in_callee, of_caller, b->t->nmetrics);
	add_values(p->from_caller, of_callee, b->t->nmetrics);
}

/* The table outgrows the caches: ask for all the places of a stack at once. */
static void fetch_places(const struct builder *b, const uint32_t *funcs, uint32_t n)
{
	for (uint32_t i = 0; i + 1 < n; i++)
		map_prefetch(&b->pair_at, pair_key(funcs[i + 1], funcs[i]));
}

/* What a function has of the stack at this place: all, where it is met first, then nothing. */
static const int64_t *share(struct builder *b, uint32_t func, uint32_t stack, const int64_t *sums)
{
	if (b->last_seen[func] == stack + 1)
		return NULL;
	b->last_seen[func] = stack + 1;
	return sums;
}

/* From the leaf outwards, so that a function's first place is its innermost. */
static void add_stack(struct builder *b, uint32_t id)
{
	const struct path *p = &b->t->paths[id];
	const uint32_t *funcs = &b->t->path_funcs.data[p->first];
	const int64_t *sums = &b->t->by_stack[id * b->t->nmetrics];
	const int64_t *callee = share(b, funcs[0], id, sums);

	if (!b->only)
		fetch_places(b, funcs, p->n);
	for (uint32_t i = 0; i + 1 < p->n; i++) {
		const int64_t *caller = share(b, funcs[i + 1], id, sums);

		add_pair(b, funcs[i + 1], funcs[i], caller, callee);
		callee = caller;
	}
	add_pair(b, b->t->session->total->id, funcs[p->n - 1], sums, callee);
}

/* The edges of one side, in the order of their functions: counted, then put in place. */
static void sort_edges(const struct builder *b, bool callers, edge_vec *ret)
{
	size_t nfuncs = b->t->nfuncs, at = 0;
	size_t *place = xcalloc(nfuncs, sizeof(*place));

	vec_for_each(p, &b->pairs)
		place[callers ? p->callee : p->caller]++;
	for (size_t i = 0; i < nfuncs; i++) {
		size_t n = place[i];

		place[i] = at;
		at += n;
	}
	vec_reserve(ret, at);
	ret->len = at;
	vec_for_each(p, &b->pairs) {
		struct edge e = callers ? (struct edge){ p->callee, p->caller, p->from_caller } :
					  (struct edge){ p->caller, p->callee, p->in_callee };

		ret->data[place[e.func]++] = e;
	}
	free(place);
}

void edges_init(struct edges *e, const struct tally *t, const struct func *only)
{
	struct builder b = { .t = t, .only = only, .arena = &e->arena };

	*e = (struct edges){ 0 };
	b.last_seen = xcalloc(t->nfuncs, sizeof(*b.last_seen));
	for (uint32_t id = 0; id < t->nstacks; id++) {
		if (t->seen[id] && t->paths[id].n)
			add_stack(&b, id);
	}
	sort_edges(&b, true, &e->callers);
	sort_edges(&b, false, &e->callees);
	map_free(&b.pair_at);
	vec_free(&b.pairs);
	free(b.last_seen);
}

void edges_free(struct edges *e)
{
	vec_free(&e->callers);
	vec_free(&e->callees);
	arena_free(&e->arena);
}

const struct edge *edges_of(const struct edge *all, size_t len, uint32_t func, size_t *n)
{
	size_t lo = 0, hi = len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (all[mid].func < func)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (*n = 0; lo + *n < len && all[lo + *n].func == func;)
		++*n;
	return all + lo;
}
