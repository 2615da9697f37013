/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/reason.h"

#include <stdlib.h>

#include "analysis/base/alloc.h"
#include "analysis/base/map.h"
#include "user/record/reason_rules.h"

/* The number of results kept. When there are more all are forgotten and found again. */
enum { MAX_STACKS = 1 << 15, MAX_FUNCTIONS = 1 << 15 };

struct reasons {
	struct recording *recording;
	struct stacks *stacks;
	struct map ranks;    /* pc to reason_rank of its function's name */
	struct map by_stack; /* id to reason */
	struct map doings;   /* id of a waker's stack to enum waking and frames of the interrupt */
};

struct reasons *reasons_new(struct recording *recording, struct stacks *stacks)
{
	struct reasons *r = xcalloc(1, sizeof(*r));

	r->recording = recording;
	r->stacks = stacks;
	return r;
}

void reasons_free(struct reasons *r)
{
	if (!r)
		return;
	map_free(&r->ranks);
	map_free(&r->by_stack);
	map_free(&r->doings);
	free(r);
}

/* A kernel has few functions, so the rank of each pc is kept. */
static unsigned rank_of_pc(struct reasons *r, uint64_t pc)
{
	const char *name;
	uint64_t *at;
	bool fresh;

	if (r->ranks.len >= MAX_FUNCTIONS)
		map_free(&r->ranks);
	at = map_put(&r->ranks, pc, &fresh);
	if (fresh) {
		name = recording_ksym_name(r->recording, pc);
		*at = name ? reason_rank(name) : REASON_RANK_NONE;
	}
	return *at;
}

static enum er_reason of_stack(struct reasons *r, uint64_t id)
{
	uint64_t *known = map_get(&r->by_stack, id);
	unsigned best = REASON_RANK_NONE;
	const uint64_t *pcs;
	size_t n;

	if (known)
		return *known;
	pcs = stacks_kernel(r->stacks, id, &n);
	if (!pcs)
		return REASON_NONE;
	for (size_t i = 0; i < n; i++) {
		unsigned rank = rank_of_pc(r, pcs[i]);

		best = rank < best ? rank : best;
	}
	if (r->by_stack.len >= MAX_STACKS)
		map_free(&r->by_stack);
	return *map_put(&r->by_stack, id, NULL) = reason_of_rank(best);
}

/* The reason is the fault, unless the thread waited in it for memory or a lock. */
static enum er_reason of_fault(enum er_reason by_stack)
{
	return by_stack == REASON_KERNEL_LOCK || by_stack == REASON_RECLAIM ? by_stack :
									      REASON_FAULT;
}

static bool says_nothing(enum er_reason r)
{
	return r == REASON_NONE || r == REASON_OTHER;
}

/* A kernel thread without work. In state D (ER_WAIT_KILLABLE) it waits for something. */
static bool idles(const struct er_wait *w)
{
	return w->flags & ER_WAIT_KTHREAD && !(w->flags & ER_WAIT_KILLABLE);
}

static enum er_reason of_sleep(struct reasons *r, const struct er_wait *w)
{
	enum er_reason by_stack = of_stack(r, w->stack), by_call;

	if (!says_nothing(by_stack))
		return by_stack;
	by_call = reason_of_syscall(w->syscall);
	if (by_call != REASON_OTHER)
		return by_call;
	if (w->flags & ER_WAIT_EXITING)
		return REASON_EXIT;
	if (w->flags & ER_WAIT_IO)
		return REASON_DISK;
	return by_stack == REASON_OTHER && idles(w) ? REASON_NO_WORK : by_stack;
}

enum er_reason reason_blocked(struct reasons *r, const struct er_wait *w)
{
	if (w->flags & ER_WAIT_FROZEN)
		return REASON_FROZEN;
	if (w->flags & ER_WAIT_THROTTLED)
		return REASON_THROTTLED;
	switch (w->state) {
	case ER_OFF_STOP:
		return of_stack(r, w->stack) == REASON_TRACED ? REASON_TRACED : REASON_STOPPED;
	case ER_OFF_LOCK:
		return REASON_USER_LOCK;
	case ER_OFF_TFAULT:
	case ER_OFF_DFAULT:
	case ER_OFF_KFAULT:
		return of_fault(of_stack(r, w->stack));
	default:
		return of_sleep(r, w);
	}
}

enum er_reason reason_runq(const struct er_wait *w)
{
	if (w->flags & ER_WAIT_THROTTLED)
		return REASON_THROTTLED;
	return w->flags & ER_WAIT_PREEMPTED ? REASON_PREEMPTED : REASON_WOKEN;
}

enum er_reason reason_rest(struct reasons *r, enum er_off_state state, uint64_t stack,
			   bool kthread)
{
	struct er_wait w = { .state = state, .stack = stack, .syscall = -1,
			     .flags = kthread ? ER_WAIT_KTHREAD : 0 };

	/* The remainder mixes waits after wakeups and after preemption. */
	return state == ER_OFF_CPU ? REASON_NONE : reason_blocked(r, &w);
}

/* The first frame from the leaf that tells the cause decides. Its callers were interrupted. */
static enum waking whose_doing(struct reasons *r, const uint64_t *pcs, size_t n)
{
	bool delivers = false;

	for (size_t i = 0; i < n; i++) {
		const char *name = recording_ksym_name(r->recording, pcs[i]);

		switch (name ? reason_doing(name) : DOING_UNSAID) {
		case DOING_UNSAID:
			break;
		case DOING_TIMER:
			return WAKING_TIMER;
		case DOING_DELIVERS:
			delivers = true;
			break;
		case DOING_THREAD:
			return delivers ? WAKING_THREAD : WAKING_INTERRUPT;
		case DOING_INTERRUPT: /* the callers are the interrupted code */
			return WAKING_INTERRUPT;
		}
	}
	return WAKING_INTERRUPT;
}

/* The frames from the leaf to the entry into the kernel; all if there is none. */
static unsigned to_entry(struct reasons *r, const uint64_t *pcs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *name = recording_ksym_name(r->recording, pcs[i]);

		if (name && reason_is_entry(name))
			return i + 1;
	}
	return n;
}

enum { WAKING_BITS = 8 };

/* An enum waking, and above it the number of frames of the interrupt. */
static uint64_t of_waker(struct reasons *r, uint64_t waker_stack)
{
	uint64_t *known = map_get(&r->doings, waker_stack);
	const uint64_t *pcs;
	size_t n;

	if (known)
		return *known;
	pcs = stacks_kernel(r->stacks, waker_stack, &n);
	if (!pcs)
		return WAKING_INTERRUPT;
	if (r->doings.len >= MAX_STACKS)
		map_free(&r->doings);
	known = map_put(&r->doings, waker_stack, NULL);
	*known = whose_doing(r, pcs, n) | (uint64_t)to_entry(r, pcs, n) << WAKING_BITS;
	return *known;
}

enum waking reason_waking(struct reasons *r, uint64_t waker_stack)
{
	return of_waker(r, waker_stack) & ((1 << WAKING_BITS) - 1);
}

unsigned reason_interrupt(struct reasons *r, uint64_t waker_stack)
{
	return of_waker(r, waker_stack) >> WAKING_BITS;
}
