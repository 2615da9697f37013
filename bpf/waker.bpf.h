/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who wakes a thread. Noted at each waking, for whether the wait is to be
 * recorded shows only when it is over. In an interrupt the running thread is merely who
 * was interrupted.
 */
#ifndef WAKER_BPF_H
#define WAKER_BPF_H

#include "bpf/edge.bpf.h"

/*
 * Interrupts that come in the kernel run on a stack of their own; one that comes
 * in user mode runs on the thread's, with registers that are no system call's.
 * (The count of preemption, where the kernel keeps it, cannot be had without all of
 * kallsyms.) The context lies on the stack that is in use. Its address comes
 * by the way of a difference of pointers, which is all that the verifier
 * allows to make a number of.
 */
static __always_inline bool in_interrupt(void *ctx, struct task_struct *p)
{
	__u64 apart = (__u64)p - (__u64)ctx, sp;

	barrier_var(apart);
	sp = bpf_get_current_task() - apart;
	if (sp - (__u64)p->stack >= ARCH_STACK_SIZE)
		return true;
	return !(p->flags & (TASK_PF_KTHREAD | TASK_PF_IO_WORKER)) &&
	       arch_syscall(arch_user_regs(p)) < 0;
}

/* Has the wait that ends reached its threshold or its next point, so that it will be recorded? */
static __always_inline bool waker_matters(const struct er_thread *t)
{
	__u64 reached = t->since;

	if (t->where != WHERE_BLOCKED || er_shedding >= ER_SHED_WAKER_STACKS)
		return false;
	reached += er_trace_ns ? er_trace_ns : t->points.left[t->off_state & (OFF_SLOTS - 1)];
	return !clock_before(reached) && clock_now() >= reached;
}

static __always_inline __u64 waker_walk(void *ctx, struct er_cpu *c, struct task_struct *waker)
{
	struct sample sm;

	sm.task = waker;
	sm.mm = BPF_CORE_READ(waker, mm);
	sm.rq = NULL;
	sm.cpu = c;
	sm.ring = er_this_ring();
	sm.now = bpf_ktime_get_ns();
	sm.start_time = leader_start(waker);
	sm.tgid = waker->tgid;
	sm.tid = waker->pid;
	sm.flags = 0;
	sm.no_user = er_shedding >= ER_SHED_USER_STACKS;
	return sample_stack(ctx, &sm, SCRATCH_WAKING);
}

static __always_inline void waker_note(void *ctx, struct er_cpu *c, struct er_thread *t,
				       struct task_struct *waker, struct task_struct *leader)
{
	t->waker_tgid = waker->tgid;
	t->waker_tid = waker->pid | (in_interrupt(ctx, waker) ? WAKER_IN_INTERRUPT : 0);
	t->waker_start = leader->start_time;
	if (!er_waker_stacks)
		return;
	t->waker_stack = waker_matters(t) ? waker_walk(ctx, c, waker) : 0;
}

#endif
