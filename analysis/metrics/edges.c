/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Callers and callees; the theory is at the top of tally.c. */
#include <stdlib.h>
#include <string.h>

#include "analysis/metrics/pass.h"
#include "analysis/metrics/tally.h"
#include "analysis/model/session.h"

struct builder {
	const struct tally *t;
	const struct func *only;
	struct edges *edges;
	struct map caller_at, callee_at; /* func << 32 | neighbour, to index in the array */
	uint32_t *last_seen;             /* by function: the stack it was last met in, + 1 */
};

/* The edge between two functions, made when new; values NULL make it known with nothing. */
static void edge_add(struct builder *b, edge_vec *v, struct map *at, uint32_t func,
		     uint32_t neighbour, const int64_t *values)
{
	size_t nm = b->t->nmetrics;
	uint64_t *index;
	bool fresh;

	if (b->only && b->only->id != func)
		return;
	index = map_put(at, (uint64_t)func << 32 | neighbour, &fresh);
	if (fresh) {
		*index = v->len;
		vec_push(v, (struct edge){
			.func = func, .neighbour = neighbour,
			.values = arena_alloc(&b->edges->arena, nm * sizeof(int64_t)) });
	}
	for (size_t i = 0; values && i < nm; i++)
		add_to(&v->data[*index].values[i], values[i]);
}

static void add_caller(struct builder *b, uint32_t func, uint32_t caller, const int64_t *values)
{
	edge_add(b, &b->edges->callers, &b->caller_at, func, caller, values);
}

static void add_callee(struct builder *b, uint32_t func, uint32_t callee, const int64_t *values)
{
	edge_add(b, &b->edges->callees, &b->callee_at, func, callee, values);
}

/* Both tables outgrow the caches: ask for all the places of a stack at once. */
static void fetch_places(const struct builder *b, const uint32_t *funcs, uint32_t n)
{
	for (uint32_t i = 0; i + 1 < n; i++) {
		map_prefetch(&b->caller_at, (uint64_t)funcs[i] << 32 | funcs[i + 1]);
		map_prefetch(&b->callee_at, (uint64_t)funcs[i + 1] << 32 | funcs[i]);
	}
}

/* From the leaf outwards, so that a function's first place is its innermost. */
static void add_stack(struct builder *b, uint32_t id)
{
	const struct path *p = &b->t->paths[id];
	const uint32_t *funcs = &b->t->path_funcs.data[p->first];
	const int64_t *sums = &b->t->by_stack[id * b->t->nmetrics];
	uint32_t total = b->t->session->total->id;

	if (!b->only)
		fetch_places(b, funcs, p->n);
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t f = funcs[i];
		const int64_t *values = b->last_seen[f] == id + 1 ? NULL : sums;

		b->last_seen[f] = id + 1;
		add_caller(b, f, i + 1 < p->n ? funcs[i + 1] : total, values);
		if (i > 0)
			add_callee(b, f, funcs[i - 1], values);
	}
	add_callee(b, total, funcs[p->n - 1], sums);
}

static int edge_cmp(const void *pa, const void *pb)
{
	const struct edge *a = pa, *b = pb;

	if (a->func != b->func)
		return a->func < b->func ? -1 : 1;
	return (a->neighbour > b->neighbour) - (a->neighbour < b->neighbour);
}

void edges_init(struct edges *e, const struct tally *t, const struct func *only)
{
	struct builder b = { .t = t, .only = only, .edges = e };

	*e = (struct edges){ 0 };
	b.last_seen = xcalloc(t->nfuncs, sizeof(*b.last_seen));
	for (uint32_t id = 0; id < t->nstacks; id++) {
		if (t->seen[id] && t->paths[id].n)
			add_stack(&b, id);
	}
	vec_sort(&e->callers, edge_cmp);
	vec_sort(&e->callees, edge_cmp);
	map_free(&b.caller_at);
	map_free(&b.callee_at);
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
