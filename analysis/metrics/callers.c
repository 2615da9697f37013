/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/metrics/callers.h"

#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/wrap.h"
#include "analysis/model/session.h"

void callers_init(struct callers *f, const struct tally *t)
{
	*f = (struct callers){ .tally = t };
	f->callers.place = xcalloc(t->nfuncs, sizeof(*f->callers.place));
	f->callees.place = xcalloc(t->nfuncs, sizeof(*f->callees.place));
	f->self = xcalloc(t->nmetrics, sizeof(*f->self));
	f->total = xcalloc(t->nmetrics, sizeof(*f->total));
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
		tally_add(t, &side->values.data[(side->place[func] - 1) * t->nmetrics], sums);
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

static void add_stack(struct callers *f, uint32_t id, const func_ids *path,
		      struct func *const *funcs, size_t n)
{
	const struct tally *t = f->tally;
	const int64_t *sums = tally_stack(t, id);
	uint32_t total = t->session->total->id;

	for (size_t i = 0; i + n <= path->len; i++) {
		if (!stands_at(&path->data[i], funcs, n))
			continue;
		add_neighbour(t, &f->callers, i + n < path->len ? path->data[i + n] : total, sums);
		if (i)
			add_neighbour(t, &f->callees, path->data[i - 1], sums);
		else
			tally_add(t, f->self, sums);
		if (sums)
			tally_add(t, f->total, sums);
		sums = NULL; /* count the piece's values of this stack only once */
	}
}

static void add_outermost(struct callers *f, uint32_t id, const func_ids *path)
{
	const int64_t *sums = tally_stack(f->tally, id);

	add_neighbour(f->tally, &f->callees, path->data[path->len - 1], sums);
	tally_add(f->tally, f->self, sums);
	tally_add(f->tally, f->total, sums);
}

void callers_find(struct callers *f, struct func *const *funcs, size_t n)
{
	const struct tally *t = f->tally;
	bool whole = n == 1 && funcs[0] == t->session->total;
	func_ids path = { 0 };

	forget(&f->callers);
	forget(&f->callees);
	memset(f->self, 0, t->nmetrics * sizeof(*f->self));
	memset(f->total, 0, t->nmetrics * sizeof(*f->total));
	for (uint32_t id = 0; id < t->nstacks; id++) {
		if (!tally_path(t, id, &path))
			continue;
		if (whole)
			add_outermost(f, id, &path);
		else
			add_stack(f, id, &path, funcs, n);
	}
	vec_free(&path);
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
