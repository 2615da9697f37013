/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scheduler's events (sched_switch, sched_waking) of threads all of whose waits were recorded.
 * Between two waits a thread runs on the CPU on which the first of them ended. Its CPU before its
 * first wait is not known, so its first event is either its waking or the switch to it.
 */
#include <string.h>

#include "analysis/base/wrap.h"
#include "analysis/experiment/exp_threads.h"
#include "analysis/experiment/mstate.h"
#include "analysis/experiment/packet.h"
#include "analysis/export/perfetto_impl.h"
#include "analysis/export/protobuf.h"
#include "analysis/metrics/timeline.h"
#include "analysis/model/session.h"

enum {
	BUNDLE_CPU = 1, BUNDLE_EVENT = 2,
	FTRACE_TIMESTAMP = 1, FTRACE_PID = 2, FTRACE_SWITCH = 4, FTRACE_FLAGS = 5, FTRACE_WAKING = 20,
	SWITCH_PREV_COMM = 1, SWITCH_PREV_PID = 2, SWITCH_PREV_PRIO = 3, SWITCH_PREV_STATE = 4,
	SWITCH_NEXT_COMM = 5, SWITCH_NEXT_PID = 6, SWITCH_NEXT_PRIO = 7,
	WAKING_COMM = 1, WAKING_PID = 2, WAKING_PRIO = 3, WAKING_SUCCESS = 4, WAKING_CPU = 5,
	FLAG_HARDIRQ = 8,
	PRIO = 120, /* the default priority; priorities are not recorded */
};

/* The kernel's task states, with the numbers that sched_switch uses since 4.14. */
enum {
	STATE_S = 1, STATE_D = 2, STATE_T = 4, STATE_TRACED = 8, STATE_X = 0x10, STATE_I = 0x80,
	STATE_R_PLUS = 0x100,
};

/*
 * A wait's end and its length come from two clocks, which differ by less than this. The same bound
 * applies between the time at which a thread leaves a CPU and the time at which the next one gets
 * it.
 */
enum { SKEW_NS = 1000 };

/* A time on a CPU between two waits. */
struct stay {
	int64_t enters, leaves; /* absolute; leaves INT64_MAX: not in the recording */
	const struct timeline *thread;
	int64_t state;          /* the task's state after it leaves */
	int32_t cpu;
};

/* A switch or, with `woken`, a waking. A NULL thread is the idle thread. */
struct sched_event {
	int64_t time;
	const struct stay *leaves, *enters;
	const struct activity *woken;
	const struct timeline *thread; /* woken */
	int32_t cpu;
};

/* The recorder's exact counts of the threads that had an id. */
struct exact {
	int64_t off_ns;
	bool unknown;     /* off_ns lacks a part */
	int64_t ended_ns; /* when the last of them ended; -1: it did not */
};

struct sched {
	VEC(struct stay) stays;
	VEC(struct sched_event) events;
	struct map by_thread; /* origin's id << 32 | tid, to 1 + index in exact */
	VEC(struct exact) exact;
};

static uint64_t thread_key(const struct experiment *origin, int64_t tid)
{
	return (uint64_t)origin->id << 32 | (uint32_t)tid;
}

/* Of a folded thread the time off a CPU is not known: its waits may not be all. */
static void read_exact(struct sched *s, const struct experiment *founder)
{
	vec_for_each(th, &founder->threads) {
		uint64_t *at = map_put(&s->by_thread, thread_key(founder->origin, th->tid), NULL);
		struct exact *e;

		if (!*at) {
			vec_push(&s->exact, (struct exact){ 0 });
			*at = s->exact.len;
		}
		e = &s->exact.data[*at - 1];
		for (int i = 0; i < MS_COUNT; i++)
			add_to(&e->off_ns, th->off_ns[i]);
		e->unknown |= th->fold != 0;
		e->ended_ns = th->ended ? wrap_plus(th->end_ns, experiment_offset_ns(founder)) : -1;
	}
}

/* NULL: nothing is known exactly. */
static const struct exact *exact_of(const struct sched *s, const struct timeline *t)
{
	const uint64_t *at = map_get(&s->by_thread, thread_key(t->origin, t->tid));

	return at ? &s->exact.data[*at - 1] : NULL;
}

/* What sched_switch would have reported. The recording has the reason instead of the state. */
static int64_t task_state(const struct activity *a)
{
	if (a->state == MS_WAIT_CPU)
		return STATE_R_PLUS;
	if (a->state == MS_STOPPED)
		return a->reason == REASON_TRACED ? STATE_TRACED : STATE_T;
	if (a->state == MS_TFAULT || a->state == MS_DFAULT || a->state == MS_KFAULT ||
	    a->flags & WFLAG_IO)
		return STATE_D;
	return a->reason == REASON_NO_WORK ? STATE_I : STATE_S;
}

/* Whether the recorded waits are all of the thread's waits, that is, add up to its exact total. */
static bool is_complete(const struct sched *s, const struct timeline *t)
{
	const struct exact *e = exact_of(s, t);
	int64_t recorded = 0, last = INT64_MIN;

	vec_for_each(a, &t->acts) {
		if (mstate_descs[a->state].on_cpu)
			continue;
		if (a->begin < last || a->cpu < 0)
			return false;
		last = a->end;
		add_to(&recorded, wrap_minus(a->end, a->begin));
	}
	return e && !e->unknown && e->off_ns == recorded;
}

/* The thread got a CPU at the end of a wait. */
static void add_stay(struct sched *s, const struct timeline *t, const struct activity *before)
{
	vec_push(&s->stays, (struct stay){ .enters = wrap_plus(t->origin->start_ns, before->end),
					   .leaves = INT64_MAX, .thread = t, .cpu = before->cpu });
}

static void end_stay(struct sched *s, const struct timeline *t, int64_t time, int64_t state)
{
	struct stay *last = &s->stays.data[s->stays.len - 1];

	last->leaves = wrap_plus(t->origin->start_ns, time);
	last->state = state;
}

static void add_waking(struct sched *s, const struct timeline *t, const struct activity *a)
{
	if (a->state != MS_WAIT_CPU && !(a->flags & WFLAG_OPEN_END))
		vec_push(&s->events, (struct sched_event){
			.time = wrap_plus(t->origin->start_ns, a->end), .cpu = a->cpu, .woken = a,
			.thread = t });
}

/* Adjacent waits are one absence: first asleep, then runnable. */
static void add_thread(struct sched *s, const struct timeline *t)
{
	int64_t ended = exact_of(s, t)->ended_ns;
	const struct activity *last = NULL;

	vec_for_each(a, &t->acts) {
		if (mstate_descs[a->state].on_cpu)
			continue;
		if (last && last->end != a->begin) {
			add_stay(s, t, last);
			end_stay(s, t, a->begin, task_state(a));
		}
		add_waking(s, t, a);
		last = a;
	}
	if (!last || last->flags & WFLAG_OPEN_END)
		return;
	add_stay(s, t, last);
	if (ended >= last->end)
		end_stay(s, t, ended, STATE_X);
}

static int by_cpu(const void *pa, const void *pb)
{
	const struct stay *a = pa, *b = pb;

	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return (a->enters > b->enters) - (a->enters < b->enters);
}

static int by_time(const void *pa, const void *pb)
{
	const struct sched_event *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (!a->woken != !b->woken)
		return a->woken ? -1 : 1;
	return (a->leaves < b->leaves) - (a->leaves > b->leaves);
}

static void add_switch(struct sched *s, int64_t time, const struct stay *leaves,
		       const struct stay *enters)
{
	vec_push(&s->events, (struct sched_event){ .time = time, .leaves = leaves, .enters = enters,
						   .cpu = leaves ? leaves->cpu : enters->cpu });
}

/*
 * A CPU has one thread at a time, so a thread has left when the next one gets the CPU. If there is
 * a gap between two stays, the CPU was idle or had a thread that is left out.
 */
static void add_switches(struct sched *s)
{
	vec_sort(&s->stays, by_cpu);
	for (size_t i = 0; i < s->stays.len; i++) {
		struct stay *now = &s->stays.data[i], *before = i ? now - 1 : NULL;
		struct stay *after = i + 1 < s->stays.len ? now + 1 : NULL;

		if (before && before->cpu != now->cpu)
			before = NULL;
		if (after && after->cpu != now->cpu)
			after = NULL;
		if (after && now->leaves >= wrap_minus(after->enters, SKEW_NS))
			now->leaves = after->enters;
		if (before && before->leaves == now->enters)
			add_switch(s, now->enters, before, now);
		else
			add_switch(s, now->enters, NULL, now);
		if (now->leaves != INT64_MAX && (!after || now->leaves != after->enters))
			add_switch(s, now->leaves, now, NULL);
	}
	vec_sort(&s->events, by_time);
}

/* Add its time and thread to the event in p->message, and write it. */
static void put_bundle(struct perfetto *p, const struct sched_event *e, int64_t pid)
{
	pb_uint(&p->message, FTRACE_TIMESTAMP, e->time);
	pb_uint(&p->message, FTRACE_PID, pid);
	pb_uint(&p->inner, BUNDLE_CPU, e->cpu);
	pb_message(&p->inner, BUNDLE_EVENT, &p->message);
	pb_message(&p->packet, PACKET_FTRACE, &p->inner);
	perfetto_put(p, 0);
}

static const char *comm(struct perfetto *p, const struct timeline *t)
{
	return t ? perfetto_text(p, perfetto_thread_name(p, t->origin, t->tid)) : "swapper";
}

static void put_switch(struct perfetto *p, const struct sched_event *e)
{
	const struct timeline *prev = e->leaves ? e->leaves->thread : NULL;
	const struct timeline *next = e->enters ? e->enters->thread : NULL;

	pb_string(&p->inner, SWITCH_PREV_COMM, comm(p, prev));
	pb_uint(&p->inner, SWITCH_PREV_PID, prev ? prev->tid : 0);
	pb_uint(&p->inner, SWITCH_PREV_PRIO, PRIO);
	pb_uint(&p->inner, SWITCH_PREV_STATE, prev ? e->leaves->state : 0);
	pb_string(&p->inner, SWITCH_NEXT_COMM, comm(p, next));
	pb_uint(&p->inner, SWITCH_NEXT_PID, next ? next->tid : 0);
	pb_uint(&p->inner, SWITCH_NEXT_PRIO, PRIO);
	pb_message(&p->message, FTRACE_SWITCH, &p->inner);
	put_bundle(p, e, prev ? prev->tid : 0);
}

/* A waking by an interrupt is attributed to the idle thread and marked as an interrupt's. */
static void put_waking(struct perfetto *p, const struct sched_event *e)
{
	bool irq = e->woken->flags & WFLAG_WAKER_IRQ;

	pb_string(&p->inner, WAKING_COMM, comm(p, e->thread));
	pb_uint(&p->inner, WAKING_PID, e->thread->tid);
	pb_uint(&p->inner, WAKING_PRIO, PRIO);
	pb_uint(&p->inner, WAKING_SUCCESS, 1);
	pb_uint(&p->inner, WAKING_CPU, e->cpu);
	pb_message(&p->message, FTRACE_WAKING, &p->inner);
	if (irq)
		pb_uint(&p->message, FTRACE_FLAGS, FLAG_HARDIRQ);
	put_bundle(p, e, irq ? 0 : e->woken->waker);
}

size_t perfetto_sched(struct perfetto *p, const struct timelines *tl)
{
	struct sched s = { 0 };
	size_t gaps = 0;

	vec_for_each(e, &p->session->experiments)
		read_exact(&s, *e);
	vec_for_each(t, &tl->threads) {
		if (is_complete(&s, t))
			add_thread(&s, t);
		else
			gaps += exact_of(&s, t) != NULL;
	}
	add_switches(&s);
	vec_for_each(e, &s.events) {
		if (e->woken)
			put_waking(p, e);
		else
			put_switch(p, e);
	}
	vec_free(&s.stays);
	vec_free(&s.events);
	map_free(&s.by_thread);
	vec_free(&s.exact);
	return gaps;
}
