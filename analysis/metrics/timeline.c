/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/metrics/timeline.h"

#include "analysis/base/wrap.h"
#include "analysis/experiment/exp_threads.h"
#include "analysis/experiment/mstate.h"
#include "analysis/metrics/hit.h"
#include "analysis/model/session.h"

static uint64_t thread_key(const struct experiment *origin, int64_t tid)
{
	return (uint64_t)origin->id << 32 | (uint32_t)tid;
}

struct activity activity_of(const struct hit *h, bool waker_stack)
{
	int64_t end = hit_time(h), weight = hit_weight(h);
	bool wait = hit_is_wait(h);
	struct activity a = {
		.end = end, .weight = weight, .stack = h->stack, .state = hit_state(h),
		.begin = wrap_minus(end, wait ? hit_part_length(h) : weight), .cpu = hit_cpu(h),
		.waker_stack = session_no_stack(h->session),
	};

	if (!wait)
		return a;
	a.reason = hit_reason(h);
	a.flags = hit_wait_flags(h);
	a.holder = hit_holder(h);
	a.holder_pid = hit_holder_pid(h);
	a.waker = hit_waker(h);
	a.waker_pid = hit_waker_pid(h);
	if (waker_stack)
		a.waker_stack = hit_waker_stack(h);
	return a;
}

void timelines_add(struct timelines *tl, const struct hit *h)
{
	const struct experiment *origin = h->e->origin;
	const struct exp_fold *sums;
	struct activity a;
	uint64_t *at;

	if (hit_state(h) < 0 || hit_state(h) >= MS_COUNT)
		return;
	a = activity_of(h, tl->waker_stacks);
	/* Segments have other numbers for the threads of a fold. */
	sums = hit_sums(h);
	at = map_put(&tl->by_thread, sums ? hash64((uintptr_t)sums) : thread_key(origin, hit_thread(h)), NULL);
	if (!*at) {
		vec_push(&tl->threads, (struct timeline){ .origin = origin, .pid = hit_pid(h),
							  .tid = hit_thread(h) });
		*at = tl->threads.len;
	}
	/*
	 * Remainders are not single waits and have no position in time; some activities
	 * have no duration.
	 */
	if (a.flags & WFLAG_REST ? tl->rests : a.begin < a.end)
		vec_push(&tl->threads.data[*at - 1].acts, a);
}

static int by_end(const void *pa, const void *pb)
{
	const struct activity *a = pa, *b = pb;

	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return (a->begin > b->begin) - (a->begin < b->begin);
}

/* Whether `a` is the next part of the wait whose earlier parts are `open`, or has more of its last part's weight. */
static bool is_more_of(const struct activity *open, const struct activity *a)
{
	return open->state == a->state && a->flags & WFLAG_CONTINUED &&
	       (a->flags & WFLAG_MORE ? open->end == a->end : open->flags & WFLAG_GOES_ON);
}

/* Between two parts there may be CPU time of before, which is given to the end of its segment. */
static void join_parts(struct timeline *t)
{
	const uint16_t began = WFLAG_CONTINUED | WFLAG_MORE;
	struct activity *open = NULL;
	size_t kept = 0;

	vec_for_each(a, &t->acts) {
		if (mstate_descs[a->state].on_cpu) {
			t->acts.data[kept++] = *a;
			continue;
		}
		if (open && is_more_of(open, a)) {
			add_to(&open->weight, a->weight);
			open->end = a->end;
			open->flags = (open->flags & began) | (a->flags & ~began);
			continue;
		}
		t->acts.data[kept] = *a;
		open = &t->acts.data[kept++];
	}
	if (kept < t->acts.len) {
		t->acts.len = kept;
		vec_sort(&t->acts, by_end);
	}
	/* The filter left the next part out. */
	vec_for_each(a, &t->acts)
		a->flags |= a->flags & WFLAG_GOES_ON ? WFLAG_OPEN_END : 0;
}

void timelines_sort(struct timelines *tl)
{
	vec_for_each(t, &tl->threads)
		vec_sort(&t->acts, by_end);
}

void timelines_join(struct timelines *tl)
{
	vec_for_each(t, &tl->threads)
		join_parts(t);
}

void timelines_free(struct timelines *tl)
{
	vec_for_each(t, &tl->threads)
		vec_free(&t->acts);
	vec_free(&tl->threads);
	map_free(&tl->by_thread);
}

struct timeline *timeline_of(const struct timelines *tl, const struct experiment *origin, int64_t tid)
{
	const uint64_t *at = map_get(&tl->by_thread, thread_key(origin, tid));

	return at ? &tl->threads.data[*at - 1] : NULL;
}

/* Search from the last answer on, in steps that double: a search of the whole touches a dozen cold places. */
size_t timeline_after(struct timeline *t, int64_t time)
{
	const struct activity *all = t->acts.data;
	size_t lo = t->last, hi = lo, n = t->acts.len;

	for (size_t step = 1; lo && all[lo - 1].end > time; step *= 2) {
		hi = lo;
		lo = lo > step ? lo - step : 0;
	}
	for (size_t step = 1; hi < n && all[hi].end <= time; step *= 2) {
		lo = hi + 1;
		hi = n - hi > step ? hi + step : n;
	}
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (all[mid].end <= time)
			lo = mid + 1;
		else
			hi = mid;
	}
	return t->last = lo;
}
