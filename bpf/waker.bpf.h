/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Notes the waker at each wakeup, because only the end of a wait shows whether it is recorded. In
 * an interrupt the running thread did not wake anyone: the interrupt did.
 */
#ifndef WAKER_BPF_H
#define WAKER_BPF_H

#include "bpf/edge.bpf.h"

/*
 * True in an interrupt. An interrupt from kernel mode runs on a stack of its own. One from user
 * mode runs on the thread's stack, and its registers are not those of a system call. (The kernel's
 * preemption count cannot be read without all of kallsyms.) The program's context is on the stack
 * in use. Its address is computed as a difference of pointers, because the verifier allows no
 * other way to turn a pointer into a number.
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

/*
 * A wakeup comes before the thread is queued, and the wait ends when it is queued. On another CPU
 * that takes an interrupt: some microseconds in a virtual machine.
 */
enum { WAKE_TO_QUEUE_NS = 5000 };

/*
 * True if the wait has reached its threshold or next sample point, or will before the thread is
 * queued, so that it will be recorded.
 */
static __always_inline bool waker_matters(const struct er_thread *t)
{
	__u64 reached = t->since - WAKE_TO_QUEUE_NS;

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
	sm.now = bpf_ktime_get_ns();
	sm.start_time = leader_start(waker);
	sm.tgid = waker->tgid;
	sm.tid = waker->pid;
	sm.flags = 0;
	sm.no_user = er_shedding >= ER_SHED_USER_STACKS;
	return sample_stack(ctx, &sm, SCRATCH_WAKING, false);
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
