/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From packets to functions.
 *
 * A million packets share some thousand stacks. So the pass over packets only adds to
 * the sums of a stack, an array with one value a metric. Everything that walks frames
 * is done once for each distinct stack.
 *
 * Exclusive: a stack's value goes to its leaf. Inclusive: it goes to each distinct
 * function in the stack, once, however often the function occurs.
 *
 * Attributed: for each stack that contains function F, exactly one caller and one
 * callee get the stack's value; otherwise the sums below would not be right. With
 * recursion F occurs more than once; only the occurrence nearest the leaf counts. Its
 * neighbours there get the whole value. F's neighbours at other occurrences are listed
 * as callers and callees with 0. So for every function the callers' values add up to
 * its inclusive value, and the callees' values plus its exclusive value do, too.
 * gprofng prints the same.
 *
 * Hidden load objects: adjacent frames of one object are merged into one frame, whose
 * function is the object itself. With "API only" it is the outermost of the merged
 * functions, through which the object was entered. All rules above then apply to the
 * shown path.
 */
#include "analysis/metrics/tally.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/wrap.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/metric.h"
#include "analysis/metrics/pass.h"
#include "analysis/model/session.h"

/* Not inlined, so that add_hit saves no registers. */
static __attribute__((noinline)) void stacks_grow(struct tally *t, uint32_t stack)
{
	size_t want = (size_t)stack + 1, old = t->nstacks;

	want = want > old * 2 ? want : old * 2;
	t->by_stack = xrealloc_array(t->by_stack, want * t->nmetrics, sizeof(*t->by_stack));
	t->seen = xrealloc_array(t->seen, want, 1);
	memset(t->by_stack + old * t->nmetrics, 0,
	       (want - old) * t->nmetrics * sizeof(*t->by_stack));
	memset(t->seen + old, 0, want - old);
	t->nstacks = want;
}

static void add_hit(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct tally *t = ctx;
	int64_t *sums;

	if (h->stack >= t->nstacks)
		stacks_grow(t, h->stack);
	t->seen[h->stack] = 1;
	t->npackets++;
	sums = &t->by_stack[h->stack * t->nmetrics];
	for (size_t i = 0; i < n; i++)
		add_to(&sums[amounts[i].metric], amounts[i].value);
}

enum { CACHE_LINE = 64 };

static void fetch_row(void *ctx, uint32_t stack)
{
	const struct tally *t = ctx;
	const char *row;

	if (stack >= t->nstacks)
		return;
	row = (const char *)&t->by_stack[stack * t->nmetrics];
	for (size_t at = 0; at < t->nmetrics * sizeof(*t->by_stack); at += CACHE_LINE)
		__builtin_prefetch(row + at, 1);
}

struct func *shown_func(struct session *s, struct func *f, struct func *caller)
{
	if (f->obj->show == SHOW_HIDE)
		return session_hidden_func(s, f->obj);
	if (f->obj->show == SHOW_API && caller && caller->obj == f->obj)
		return caller;
	return f;
}

/*
 * Built from the root, where API entries are recognized, but stored leaf first: so
 * filled from the end.
 */
uint32_t shown_path(struct session *s, uint32_t id, uint32_t *funcs, uint32_t *shown)
{
	const struct stack *st = &s->stacks.data[id];
	const uint32_t *frames = &s->stack_frames.data[st->first];
	struct func *caller = NULL;
	uint32_t at = st->n;

	for (uint32_t i = st->n; i > 0; i--) {
		struct func *f = shown_func(s, frame_func(s, frames[i - 1]), caller);
		bool whole = f->obj->show == SHOW_ALL;

		if (whole || f != caller) {
			funcs[--at] = f->id;
			if (shown)
				shown[at] = whole ? frames[i - 1] : SHOWN_MERGED;
		}
		caller = f;
	}
	if (at && st->n > at) {
		memmove(funcs, &funcs[at], (st->n - at) * sizeof(*funcs));
		if (shown)
			memmove(shown, &shown[at], (st->n - at) * sizeof(*shown));
	}
	return st->n - at;
}

static bool shows_all(const struct session *s)
{
	vec_for_each(o, &s->objects) {
		if ((*o)->show != SHOW_ALL)
			return false;
	}
	return true;
}

/* The path of a stack in whose session no object is hidden: no need to look at the objects. */
static uint32_t whole_path(const struct session *s, uint32_t id, uint32_t *funcs)
{
	const struct stack *st = &s->stacks.data[id];
	const uint32_t *frames = &s->stack_frames.data[st->first];

	for (uint32_t i = 0; i < st->n; i++)
		funcs[i] = s->frames.data[frames[i]].func;
	return st->n;
}

static void build_path(struct tally *t, struct session *s, uint32_t id, bool all)
{
	size_t first = t->path_funcs.len;
	uint32_t n, *funcs;

	vec_reserve(&t->path_funcs, first + s->stacks.data[id].n);
	funcs = &t->path_funcs.data[first];
	n = all ? whole_path(s, id, funcs) : shown_path(s, id, funcs, NULL);
	t->paths[id] = (struct path){ .first = first, .n = n };
	t->path_funcs.len += n;
}

static void metrics_met(struct tally *t)
{
	unsigned char *met = xcalloc(t->nmetrics, 1);

	for (size_t id = 0; id < t->nstacks; id++) {
		for (size_t m = 0; t->seen[id] && m < t->nmetrics; m++)
			met[m] |= t->by_stack[id * t->nmetrics + m] != 0;
	}
	for (size_t m = 0; m < t->nmetrics; m++) {
		if (met[m])
			vec_push(&t->met, m);
	}
	free(met);
}

static void tally_add(const struct tally *t, int64_t *to, const int64_t *sums)
{
	vec_for_each(m, &t->met)
		add_to(&to[*m], sums[*m]);
}

static void sum_functions(struct tally *t, const struct session *s)
{
	size_t nm = t->nmetrics;
	uint32_t *last_seen; /* by function: last stack counted + 1 */

	t->nfuncs = s->funcs.len;
	t->excl = xcalloc(t->nfuncs * nm, sizeof(*t->excl));
	t->incl = xcalloc(t->nfuncs * nm, sizeof(*t->incl));
	t->total = xcalloc(nm, sizeof(*t->total));
	t->zeros = xcalloc(nm, sizeof(*t->zeros));
	last_seen = xcalloc(t->nfuncs, sizeof(*last_seen));
	metrics_met(t);
	for (uint32_t id = 0; id < t->nstacks; id++) {
		const int64_t *sums = &t->by_stack[id * nm];
		const uint32_t *funcs = &t->path_funcs.data[t->seen[id] ? t->paths[id].first : 0];

		if (!t->seen[id] || !t->paths[id].n)
			continue;
		tally_add(t, t->total, sums);
		tally_add(t, &t->excl[funcs[0] * nm], sums);
		for (uint32_t i = 0; i < t->paths[id].n; i++) {
			if (last_seen[funcs[i]] == id + 1)
				continue;
			last_seen[funcs[i]] = id + 1;
			tally_add(t, &t->incl[funcs[i] * nm], sums);
		}
	}
	memcpy(&t->excl[s->total->id * nm], t->total, nm * sizeof(*t->total));
	memcpy(&t->incl[s->total->id * nm], t->total, nm * sizeof(*t->total));
	free(last_seen);
}

struct tally *tally_new(struct session *s, const struct metric_set *ms, struct filter *filter)
{
	struct tally *t = xcalloc(1, sizeof(*t));
	bool all;

	t->session = s;
	t->nmetrics = metric_set_width(ms);
	pass_run(s, ms, filter, add_hit, fetch_row, t);
	t->paths = xcalloc(t->nstacks, sizeof(*t->paths));
	all = shows_all(s);
	for (uint32_t id = 0; id < t->nstacks; id++) {
		if (t->seen[id])
			build_path(t, s, id, all);
	}
	sum_functions(t, s);
	return t;
}

void tally_free(struct tally *t)
{
	if (!t)
		return;
	free(t->by_stack);
	free(t->seen);
	free(t->paths);
	vec_free(&t->path_funcs);
	free(t->excl);
	free(t->incl);
	free(t->total);
	free(t->zeros);
	vec_free(&t->met);
	free(t);
}
