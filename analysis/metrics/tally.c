/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From packets to functions.
 *
 * A million packets share some thousand stacks. So the pass over packets only adds to
 * the sums of a stack. Everything that walks frames is done once for each distinct
 * stack. There may be a million of them, and most metrics have no value in any: so a
 * stack has room only for the metrics that were met.
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
#include "analysis/base/parallel.h"
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
	t->stack_values = xrealloc_array(t->stack_values, want * t->width,
					 sizeof(*t->stack_values));
	t->seen = xrealloc_array(t->seen, want, 1);
	memset(t->stack_values + old * t->width, 0,
	       (want - old) * t->width * sizeof(*t->stack_values));
	memset(t->seen + old, 0, want - old);
	t->nstacks = want;
}

enum { WIDTH_FIRST = 4 };

/* Make room for another metric in each stack. */
static __attribute__((noinline)) void meet(struct tally *t, uint32_t metric)
{
	size_t width = t->width * 2;
	int64_t *wider;

	vec_push(&t->met, metric);
	t->place[metric] = t->met.len;
	if (t->met.len <= t->width)
		return;
	wider = xcalloc(t->nstacks * width, sizeof(*wider));
	for (size_t id = 0; id < t->nstacks; id++)
		memcpy(&wider[id * width], tally_stack(t, id), t->width * sizeof(*wider));
	free(t->stack_values);
	t->stack_values = wider;
	t->width = width;
}

static void add_hit(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct tally *t = ctx;

	if (h->stack >= t->nstacks)
		stacks_grow(t, h->stack);
	t->seen[h->stack] = 1;
	t->npackets++;
	for (size_t i = 0; i < n; i++) {
		if (!amounts[i].value)
			continue;
		if (!t->place[amounts[i].metric])
			meet(t, amounts[i].metric);
		add_to(&t->stack_values[h->stack * t->width + t->place[amounts[i].metric] - 1],
		       amounts[i].value);
	}
}

enum { CACHE_LINE = 64 };

static void fetch_row(void *ctx, uint32_t stack)
{
	const struct tally *t = ctx;
	const char *row;

	if (stack >= t->nstacks)
		return;
	row = (const char *)tally_stack(t, stack);
	for (size_t at = 0; at < t->width * sizeof(*t->stack_values); at += CACHE_LINE)
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

/* Note whether any object is hidden. Make the functions of hidden ones: shown_path adds none. */
static void look_at_objects(struct tally *t)
{
	t->all_shown = true;
	for (size_t i = 0; i < t->session->objects.len; i++) {
		struct loadobj *o = t->session->objects.data[i];

		if (o->show == SHOW_HIDE)
			session_hidden_func(t->session, o);
		t->all_shown &= o->show == SHOW_ALL;
	}
}

/* The path of a stack in whose session no object is hidden: no need to look at the objects. */
static uint32_t whole_path(const struct tally *t, uint32_t id, uint32_t *funcs)
{
	const struct stack *st = &t->session->stacks.data[id];
	const uint32_t *frames = &t->session->stack_frames.data[st->first];

	for (uint32_t i = 0; i < st->n; i++)
		funcs[i] = t->func_of[frames[i]];
	return st->n;
}

size_t tally_path(const struct tally *t, uint32_t stack, func_ids *ret)
{
	if (!t->seen[stack])
		return 0;
	vec_reserve(ret, t->session->stacks.data[stack].n);
	ret->len = t->all_shown ? whole_path(t, stack, ret->data) :
				  shown_path(t->session, stack, ret->data, NULL);
	return ret->len;
}

size_t tally_frames(const struct tally *t, uint32_t stack, func_ids *ret, func_ids *frames)
{
	const struct session *s = t->session;
	const struct stack *st = &s->stacks.data[stack];

	if (!t->seen[stack])
		return 0;
	vec_reserve(ret, st->n);
	vec_reserve(frames, st->n);
	if (t->all_shown) {
		ret->len = whole_path(t, stack, ret->data);
		memcpy(frames->data, &s->stack_frames.data[st->first], st->n * sizeof(*frames->data));
	} else {
		ret->len = shown_path(t->session, stack, ret->data, frames->data);
	}
	frames->len = ret->len;
	return ret->len;
}

void tally_add(const struct tally *t, int64_t *to, const int64_t *values)
{
	for (size_t i = 0; i < t->met.len; i++)
		add_to(&to[t->met.data[i]], values[i]);
}

/*
 * Sums of functions over some of the stacks, while they are made: only the metrics met, so that they fit
 * into the cache.
 */
struct func_sums {
	const struct tally *t;
	uint32_t from, to; /* stacks */
	size_t n;          /* values of a function */
	int64_t *total, *excl, *incl;
	uint32_t *last_seen; /* by function: last stack counted + 1 */
	func_ids path;
};

static void add_values(int64_t *to, const int64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add_to(&to[i], values[i]);
}

static void sum_stack(struct func_sums *s, uint32_t id)
{
	const int64_t *values = tally_stack(s->t, id);
	size_t len = tally_path(s->t, id, &s->path);

	if (!len)
		return;
	add_values(s->total, values, s->n);
	add_values(&s->excl[s->path.data[0] * s->n], values, s->n);
	for (size_t i = 0; i < len; i++) {
		uint32_t func = s->path.data[i];

		if (s->last_seen[func] == id + 1)
			continue;
		s->last_seen[func] = id + 1;
		add_values(&s->incl[func * s->n], values, s->n);
	}
}

static void sum_part(void *ctx, size_t i)
{
	struct func_sums *s = (struct func_sums *)ctx + i;

	for (uint32_t id = s->from; id < s->to; id++)
		sum_stack(s, id);
}

/* By metric id. The caller frees the result. */
static int64_t *by_metric(const struct tally *t, const int64_t *sums)
{
	int64_t *ret = xcalloc(t->nfuncs * t->nmetrics, sizeof(*ret));

	for (size_t i = 0; i < t->nfuncs; i++)
		tally_add(t, &ret[i * t->nmetrics], &sums[i * t->met.len]);
	memcpy(&ret[t->session->total->id * t->nmetrics], t->total, t->nmetrics * sizeof(*ret));
	return ret;
}

static void note_functions(struct tally *t)
{
	const struct session *s = t->session;

	t->func_of = xcalloc(s->frames.len, sizeof(*t->func_of));
	for (size_t i = 0; i < s->frames.len; i++)
		t->func_of[i] = s->frames.data[i].func;
}

static void func_sums_init(struct func_sums *s, const struct tally *t, uint32_t from, uint32_t to)
{
	*s = (struct func_sums){ .t = t, .from = from, .to = to, .n = t->met.len };
	s->total = xcalloc(s->n, sizeof(*s->total));
	s->excl = xcalloc(t->nfuncs * s->n, sizeof(*s->excl));
	s->incl = xcalloc(t->nfuncs * s->n, sizeof(*s->incl));
	s->last_seen = xcalloc(t->nfuncs, sizeof(*s->last_seen));
}

static void func_sums_free(struct func_sums *s)
{
	free(s->total);
	free(s->excl);
	free(s->incl);
	free(s->last_seen);
	vec_free(&s->path);
}

enum { STACKS_ALONE = 1 << 14, PARTS_MOST = 4 };

/* Several threads add up if there are many stacks. Each needs memory for all functions. */
static void sum_functions(struct tally *t)
{
	size_t n = t->nstacks < STACKS_ALONE ? 1 : parallel_parts();
	struct func_sums parts[PARTS_MOST];

	n = n < PARTS_MOST ? n : PARTS_MOST;
	t->nfuncs = t->session->funcs.len;
	t->total = xcalloc(t->nmetrics, sizeof(*t->total));
	t->zeros = xcalloc(t->nmetrics, sizeof(*t->zeros));
	for (size_t i = 0; i < n; i++)
		func_sums_init(&parts[i], t, t->nstacks * i / n, t->nstacks * (i + 1) / n);
	parallel_run(sum_part, parts, n);
	for (size_t i = 1; i < n; i++) {
		add_values(parts[0].total, parts[i].total, parts[0].n);
		add_values(parts[0].excl, parts[i].excl, t->nfuncs * parts[0].n);
		add_values(parts[0].incl, parts[i].incl, t->nfuncs * parts[0].n);
		func_sums_free(&parts[i]);
	}
	tally_add(t, t->total, parts[0].total);
	t->excl = by_metric(t, parts[0].excl);
	t->incl = by_metric(t, parts[0].incl);
	func_sums_free(&parts[0]);
}

struct tally *tally_new(struct session *s, const struct metric_set *ms, struct filter *filter)
{
	struct tally *t = xcalloc(1, sizeof(*t));

	t->session = s;
	t->nmetrics = metric_set_width(ms);
	t->width = WIDTH_FIRST;
	t->place = xcalloc(t->nmetrics, sizeof(*t->place));
	pass_run(s, ms, filter, add_hit, fetch_row, t);
	look_at_objects(t);
	note_functions(t);
	sum_functions(t);
	return t;
}

void tally_free(struct tally *t)
{
	if (!t)
		return;
	free(t->stack_values);
	free(t->place);
	free(t->seen);
	free(t->func_of);
	free(t->excl);
	free(t->incl);
	free(t->total);
	free(t->zeros);
	vec_free(&t->met);
	free(t);
}
