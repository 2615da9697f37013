/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/metrics/fragment.h"

#include "analysis/metrics/pass.h"
#include "analysis/model/session.h"

struct builder {
	struct fragment *f;
	const struct tally *t;
	struct func *const *funcs;
	size_t n;
	struct map caller_at, callee_at; /* neighbour to its place */
};

static void add_values(const struct builder *b, int64_t *to, const int64_t *from)
{
	for (size_t i = 0; from && i < b->t->nmetrics; i++)
		add_to(&to[i], from[i]);
}

static int64_t *new_values(const struct builder *b)
{
	return arena_alloc(&b->f->arena, b->t->nmetrics * sizeof(int64_t));
}

/* values NULL make the neighbour known with nothing. */
static void add_edge(struct builder *b, edge_vec *v, struct map *at, uint32_t neighbour,
		     const int64_t *values)
{
	bool fresh;
	uint64_t *index = map_put(at, neighbour, &fresh);

	if (fresh) {
		*index = v->len;
		vec_push(v, (struct edge){ .neighbour = neighbour, .values = new_values(b) });
	}
	add_values(b, v->data[*index].values, values);
}

/* Whether the piece stands there, its innermost function at place i of a path, leaf first. */
static bool stands_at(const struct builder *b, const struct path *p, uint32_t i)
{
	const uint32_t *path = &b->t->path_funcs.data[p->first];

	if (i + b->n > p->n)
		return false;
	for (size_t k = 0; k < b->n; k++) {
		if (path[i + k] != b->funcs[b->n - 1 - k]->id)
			return false;
	}
	return true;
}

static void add_stack(struct builder *b, uint32_t id)
{
	const struct path *p = &b->t->paths[id];
	const uint32_t *path = &b->t->path_funcs.data[p->first];
	const int64_t *sums = &b->t->by_stack[id * b->t->nmetrics];
	uint32_t total = b->t->session->total->id;

	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t outer = i + b->n;

		if (!stands_at(b, p, i))
			continue;
		add_edge(b, &b->f->callers, &b->caller_at, outer < p->n ? path[outer] : total,
			 sums);
		if (i)
			add_edge(b, &b->f->callees, &b->callee_at, path[i - 1], sums);
		else
			add_values(b, b->f->self, sums);
		add_values(b, b->f->total, sums);
		sums = NULL;
	}
}

void fragment_init(struct fragment *f, const struct tally *t, struct func *const *funcs, size_t n)
{
	struct builder b = { .f = f, .t = t, .funcs = funcs, .n = n };

	*f = (struct fragment){ 0 };
	f->self = new_values(&b);
	f->total = new_values(&b);
	for (uint32_t id = 0; id < t->nstacks; id++) {
		if (t->seen[id])
			add_stack(&b, id);
	}
	map_free(&b.caller_at);
	map_free(&b.callee_at);
}

void fragment_free(struct fragment *f)
{
	vec_free(&f->callers);
	vec_free(&f->callees);
	arena_free(&f->arena);
}
