/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stack has one call for each of its frames. A million stacks have a few million different calls,
 * so the table of calls is larger than the CPU's cache. But nearly every frame always calls the same
 * function, so each frame keeps its last call, and the table is only asked for others. A stack's
 * calls are handled in steps: each step begins to load what the next one needs.
 */
#include "analysis/metrics/calls.h"

#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/map.h"
#include "analysis/base/wrap.h"
#include "analysis/model/session.h"

/* The last call that a frame made. */
struct last_call {
	uint32_t callee, call1; /* index of the call + 1; 0: none yet */
};

struct walk {
	struct calls *calls;
	struct map ids;         /* caller << 32 | callee, to index of the call */
	struct last_call *last; /* by frame */
	uint32_t *last_seen;    /* by function: last stack counted + 1 */
	func_ids path, frames;
	/* For each frame of the path, from the leaf: the call that made it. */
	VEC(uint32_t) made_by;
	VEC(bool) first;        /* the function's frame nearest the leaf; true of the root's caller */
};

static void look_at_path(struct walk *w, uint32_t id)
{
	size_t n = w->path.len;

	vec_reserve(&w->made_by, n);
	vec_reserve(&w->first, n + 1);
	for (size_t i = 0; i < n; i++) {
		uint32_t callee = w->path.data[i];

		if (w->frames.data[i] != SHOWN_MERGED)
			__builtin_prefetch(&w->last[w->frames.data[i]], 1);
		w->first.data[i] = w->last_seen[callee] != id + 1;
		w->last_seen[callee] = id + 1;
	}
	w->first.data[n] = true;
}

/* The frame that called the i-th frame of the path; SHOWN_MERGED if there is none that is shown. */
static uint32_t calling_frame(const struct walk *w, size_t i)
{
	return i + 1 < w->path.len ? w->frames.data[i + 1] : SHOWN_MERGED;
}

static uint64_t key_of(const struct walk *w, size_t i)
{
	uint32_t caller = i + 1 < w->path.len ? w->path.data[i + 1] : w->calls->tally->session->total->id;

	return (uint64_t)caller << 32 | w->path.data[i];
}

/* Whether a frame's last call was that of the callee. */
static bool called_last(const struct walk *w, uint32_t frame, uint32_t callee)
{
	return frame != SHOWN_MERGED && w->last[frame].call1 && w->last[frame].callee == callee;
}

/* Begin to load what the table knows about the calls that it will be asked for. */
static void look_for_calls(struct walk *w)
{
	for (size_t i = 0; i < w->path.len; i++) {
		if (!called_last(w, calling_frame(w, i), w->path.data[i]))
			map_prefetch(&w->ids, key_of(w, i));
	}
}

static uint32_t call_of(struct walk *w, uint64_t key)
{
	struct calls *c = w->calls;
	bool fresh;
	uint64_t *at = map_put(&w->ids, key, &fresh);

	if (fresh) {
		size_t n = 2 * c->tally->met.len;

		*at = c->all.len;
		vec_push(&c->all, (struct call){ .caller = key >> 32, .callee = key });
		vec_reserve(&c->values, c->values.len + n + 1);
		memset(&c->values.data[c->values.len], 0, n * sizeof(*c->values.data));
		c->values.len += n;
	}
	return *at;
}

/* The call that made the i-th frame of the path. */
static uint32_t made_by(struct walk *w, size_t i)
{
	uint32_t callee = w->path.data[i], frame = calling_frame(w, i), call;

	if (called_last(w, frame, callee))
		return w->last[frame].call1 - 1;
	call = call_of(w, key_of(w, i));
	if (frame != SHOWN_MERGED)
		w->last[frame] = (struct last_call){ callee, call + 1 };
	return call;
}

static void add(int64_t *to, const int64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add_to(&to[i], values[i]);
}

static void add_stack(struct walk *w, uint32_t id)
{
	struct calls *c = w->calls;
	const int64_t *values = tally_stack(c->tally, id);
	size_t met = c->tally->met.len;

	look_at_path(w, id);
	look_for_calls(w);
	for (size_t i = 0; i < w->path.len; i++) {
		w->made_by.data[i] = made_by(w, i);
		__builtin_prefetch(caller_values(c, w->made_by.data[i]), 1);
	}
	for (size_t i = 0; i < w->path.len; i++) {
		int64_t *to = &c->values.data[(size_t)w->made_by.data[i] * 2 * met];

		if (w->first.data[i])
			add(to, values, met);
		if (w->first.data[i + 1])
			add(to + met, values, met);
	}
}

static void put_in_order(const struct calls *c, bool by_caller, struct call_order *ret)
{
	size_t nfuncs = c->tally->nfuncs, at = 0;

	ret->end = xcalloc(nfuncs, sizeof(*ret->end));
	ret->calls = xcalloc(c->all.len, sizeof(*ret->calls));
	vec_for_each(call, &c->all)
		ret->end[by_caller ? call->caller : call->callee]++;
	/* After filling, each end has moved from the begin of the function's calls to their end. */
	for (size_t i = 0; i < nfuncs; i++) {
		size_t n = ret->end[i];

		ret->end[i] = at;
		at += n;
	}
	vec_for_each(call, &c->all)
		ret->calls[ret->end[by_caller ? call->caller : call->callee]++] =
			call - c->all.data;
}

void calls_init(struct calls *c, const struct tally *t)
{
	struct walk w = { .calls = c };

	*c = (struct calls){ .tally = t };
	w.last = xcalloc(t->session->frames.len, sizeof(*w.last));
	w.last_seen = xcalloc(t->nfuncs, sizeof(*w.last_seen));
	for (uint32_t id = 0; id < t->nstacks; id++) {
		if (tally_frames(t, id, &w.path, &w.frames))
			add_stack(&w, id);
	}
	free(w.last);
	free(w.last_seen);
	map_free(&w.ids);
	vec_free(&w.path);
	vec_free(&w.frames);
	vec_free(&w.made_by);
	vec_free(&w.first);
	put_in_order(c, true, &c->by_caller);
	put_in_order(c, false, &c->by_callee);
}

void calls_free(struct calls *c)
{
	vec_free(&c->all);
	vec_free(&c->values);
	free(c->by_caller.calls);
	free(c->by_caller.end);
	free(c->by_callee.calls);
	free(c->by_callee.end);
}

uint32_t *calls_of(const struct call_order *o, uint32_t func, size_t *n)
{
	size_t from = func ? o->end[func - 1] : 0;

	*n = o->end[func] - from;
	return &o->calls[from];
}
