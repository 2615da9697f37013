/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends the record of a wait, with its stack, which is walked when the thread runs again. A walk
 * begins with the frames of our program and of the tracepoint. Their number differs between
 * kernels, and changes when another tracer is attached. So frames up to __schedule() are left out.
 * The number that was right at the last walk is tried first.
 */
#ifndef WAIT_BPF_H
#define WAIT_BPF_H

#include "bpf/clock.bpf.h"
#include "bpf/er.bpf.h"
#include "bpf/stack.bpf.h"
#include "bpf/thread.bpf.h"

enum {
	SCHEDULE_SIZE = 8192,
	OWN_FRAMES = 12, /* at most */
};

__u64 er_schedule_pc; /* of __schedule(); 0: unknown */
__u32 er_shedding;        /* enum er_shedding; user space changes it at any time */

/* The number of frames below __schedule(), for each program that walks. */
__u32 er_skip_back, er_skip_leave;

static __always_inline bool in_schedule(__u64 pc)
{
	return pc - er_schedule_pc < SCHEDULE_SIZE;
}

static __always_inline __u32 learn_skip(const union stack_scratch *st, __u32 n)
{
	for (__u32 i = 0; i < OWN_FRAMES; i++)
		if (i < n && in_schedule(st->s.pcs[i]))
			return i;
	return 0;
}

static __always_inline __u32 walk_from_schedule(void *ctx, union stack_scratch *st,
						const struct sample *sm, __u32 *skip)
{
	__u32 n = walk_kernel(ctx, st, sm, *skip);

	if (!er_schedule_pc || (n && in_schedule(st->s.pcs[0])))
		return n;
	n = walk_kernel(ctx, st, sm, 0);
	*skip = learn_skip(st, n);
	return *skip ? walk_kernel(ctx, st, sm, *skip) : n;
}

static __always_inline void wait_sample(struct sample *sm, struct task_struct *p,
					const struct er_thread *t, struct er_cpu *c)
{
	sm->task = p;
	sm->mm = BPF_CORE_READ(p, mm);
	sm->rq = NULL;
	sm->cpu = c;
	sm->now = clock_monotonic(t->since);
	sm->start_time = t->start_time;
	sm->tgid = p->tgid;
	sm->tid = p->pid;
	sm->flags = 0;
	sm->goroutine = 0;
	sm->no_user = er_shedding >= ER_SHED_USER_STACKS;
}

/* The running thread's stack, from __schedule() towards its callers. */
static __always_inline __u64 wait_stack(void *ctx, struct sample *sm, __u32 *skip,
					 bool again)
{
	union stack_scratch *st = stack_begin(sm, SCRATCH_SWITCH);
	__u32 nkernel, nuser;

	if (!st)
		return 0;
	nkernel = walk_from_schedule(ctx, st, sm, skip);
	nuser = walk_user(ctx, st, nkernel, sm, SCRATCH_SWITCH, again);
	if (again)
		unread_ask(st, sm->cpu);
	return stack_finish(st, sm, nkernel, nuser, NULL);
}

/* A runnable thread has no waker. A blocked thread is always woken: the last waker is its own. */
static __always_inline void fill_waker(struct er_wait *r, const struct er_thread *t)
{
	bool woken = !(t->wflags & (ER_WAIT_PREEMPTED | ER_WAIT_OPEN_END));

	r->waker_stack = woken ? t->waker_stack : 0;
	r->waker_start = woken ? t->waker_start : 0;
	r->waker_tgid = woken ? t->waker_tgid : 0;
	r->waker_tid = woken ? t->waker_tid & ~WAKER_IN_INTERRUPT : 0;
	r->flags = woken && t->waker_tid & WAKER_IN_INTERRUPT ? ER_WAIT_WAKER_IRQ : 0;
}

/* Fill in everything except the number and the stack. */
static __always_inline void wait_fill(struct er_wait *r, struct task_struct *p,
				      const struct er_thread *t)
{
	bool locked = t->off_state == ER_OFF_LOCK;

	r->h.kind = ER_KIND_WAIT;
	task_fill(&r->task, p, t->start_time, p->pid);
	r->blocked_ns = t->off.blocked_ns;
	r->runq_ns = t->off.runq_ns;
	r->blocked_weight = t->off.blocked_weight;
	r->runq_weight = t->off.runq_weight;
	r->address = locked || t->off_state <= ER_OFF_KFAULT ? t->address : 0;
	r->futex_op = locked ? t->futex_op : 0;
	r->holder_tid = locked ? t->holder : 0;
	fill_waker(r, t);
	r->oncpu_tgid = t->off.oncpu_tgid;
	r->oncpu_tid = t->off.oncpu_tid;
	r->cpu = bpf_get_smp_processor_id();
	r->syscall = t->syscall;
	r->state = t->off_state;
	r->flags |= t->wflags;
	if (er_stack_method == ER_STACKS_LEAVE && t->early_stack)
		r->flags |= ER_WAIT_STACK_EARLY;
	if (p->flags & TASK_PF_KTHREAD)
		r->flags |= ER_WAIT_KTHREAD;
	r->pad = 0;
	r->goroutine = t->goroutine;
}

/*
 * Time that a sent record represents is no longer part of the remainder. That has short waits only, so it
 * gets the stack of a wait that was chosen by sample points.
 */
static __always_inline void wait_sent(struct er_thread *t, __u64 stack)
{
	__u32 s = t->off_state & (OFF_SLOTS - 1);

	t->weighed[s] += t->off.blocked_weight;
	t->weighed[ER_OFF_CPU] += t->off.runq_weight;
	if (points_is_sample(t->off.blocked_weight, t->off.blocked_ns))
		t->rest_stack[s] = stack;
	if (points_is_sample(t->off.runq_weight, t->off.runq_ns))
		t->rest_stack[ER_OFF_CPU] = stack;
}

/*
 * Send the record for the current thread. Not if the thread was closed since it came back: then
 * the remainder has the wait already.
 */
__noinline int er_wait_send(struct er_cpu *c, struct er_thread *t, __u64 stack)
{
	struct task_struct *p = bpf_get_current_task_btf();
	void *ring = er_this_ring();
	struct er_wait *r = NULL;
	__u64 now;
	__u32 seq;

	if (!c || !t || t->state & THREAD_CLOSED)
		return 0;
	seq = er_number(c, ER_KIND_WAIT);
	now = clock_monotonic(t->since);
	if (ring)
		r = bpf_ringbuf_reserve(ring, sizeof(*r), 0);
	if (!r) {
		er_lost(c, ER_KIND_WAIT, now, p->tgid, p->pid);
		return 0;
	}
	wait_fill(r, p, t);
	r->h.seq = seq;
	r->h.time_ns = now;
	r->stack = stack;
	wait_sent(t, stack);
	bpf_ringbuf_submit(r, er_wakeup(ring));
	return 0;
}

/* True for a wait that was chosen by chance while stacks of short waits are shed. */
static __always_inline bool wait_sheds_stack(const struct er_thread *t)
{
	return er_shedding >= ER_SHED_SHORT_STACKS &&
	       t->off.blocked_ns + t->off.runq_ns < er_distance;
}

/* The thread runs again: take its stack and send the record. */
static __always_inline void wait_back(void *ctx, struct er_cpu *c, bool again)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct er_thread *t;
	struct sample sm;
	__u64 stack = 0;

	if (c->back != (__u32)p->pid)
		return;
	c->back = 0;
	t = thread_find(p);
	if (!t)
		return;
	wait_sample(&sm, p, t, c);
	if (!wait_sheds_stack(t))
		stack = wait_stack(ctx, &sm, &er_skip_back, again);
	t->goroutine = sm.goroutine;
	er_wait_send(c, t, stack);
}

#endif
