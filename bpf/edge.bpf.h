/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The edges between states: a thread leaves the CPU, comes back, is woken.
 *
 * The wait for a CPU is the kernel's own (sched_info): what it has added up,
 * and at the switch in, which comes before it adds, the time since the thread
 * was queued. A thread that leaves the CPU runnable waits for a CPU all the time
 * that it is away, also when its cgroup is throttled and takes it out of the queue.
 *
 * Two edges of a thread come in turn, as a rule. Some kernels hide the switches of
 * threads of their own (seen: those of a hypervisor's agent, 7 of 6,600), and with
 * them who comes after. When such a thread leaves, the kernel still knows when it
 * came: the edge is made up for then, exactly, but without the stack. Any other that
 * does not come in turn is counted (nmissed), and the time is not charged to a state
 * here: what the kernel has not charged as running total.bpf.h counts as
 * waiting for a CPU.
 */
#ifndef EDGE_BPF_H
#define EDGE_BPF_H

#include "bpf/clock.bpf.h"
#include "bpf/points.bpf.h"
#include "bpf/state.bpf.h"
#include "bpf/total.bpf.h"
#include "bpf/wait.bpf.h"

enum er_way { ER_WAY_BEST, ER_WAY_EXIT, ER_WAY_FINISH, ER_WAY_LEAVE, ER_WAY_NONE };

const volatile __u32 er_way;
const volatile __u64 er_trace_ns; /* 0: waits are chosen by sample points */
const volatile bool er_waker_stacks;

/* The kernel's figure up to `clk`, also of a thread that is queued. */
static __always_inline __u64 queue_wait(struct task_struct *p, __u64 clk)
{
	__u64 delay = p->sched_info.run_delay, queued = p->sched_info.last_queued;

	return queued && clk > queued ? delay + (clk - queued) : delay;
}

static __always_inline bool task_throttled(struct task_struct *p)
{
	return bpf_core_field_exists(p->se.cfs_rq->throttle_count) &&
	       p->se.cfs_rq->throttle_count > 0;
}

static __always_inline void edge_at(struct er_thread *t, __u64 clk)
{
	if (clk > t->since)
		t->since = clk;
}

static __always_inline void edge_first(struct er_thread *t, struct task_struct *p,
				       struct er_cpu *c, __u64 clk)
{
	c->counts.nmissed++;
	total_begin(t, p, clk);
	t->run0 = p->se.sum_exec_runtime;
	t->delay = queue_wait(p, clk);
}

/* SPLIT: the time since the last edge was spent in user mode or not. */
static __always_inline void split_edge(struct er_thread *t, __u64 now)
{
	if (!t->split_in && t->split_at)
		t->split_user += now - t->split_at;
	t->split_at = now;
}

/* Charge the time off the CPU up to `clk`; its length. */
static __always_inline __u64 charge_stay(struct er_thread *t, struct task_struct *p, __u64 clk)
{
	__u64 len = clk > t->since ? clk - t->since : 0;
	__u64 delay = queue_wait(p, clk), runq = delay - t->delay;
	__u32 s = t->off_state & (OFF_SLOTS - 1);

	if (t->where == WHERE_QUEUED || runq > len)
		runq = len;
	t->delay = delay;
	t->stay.runq_ns = runq;
	t->stay.blocked_ns = len - runq;
	t->off_ns[s] += len - runq;
	t->off_ns[ER_OFF_CPU] += runq;
	edge_at(t, clk);
	return len;
}

/* Give the parts of the stay their weights; is it to be recorded? */
static __always_inline bool choose_stay(struct er_thread *t, __u64 len)
{
	struct er_stay *stay = &t->stay;

	if (er_trace_ns) {
		if (len < er_trace_ns)
			return false;
		t->wflags |= ER_WAIT_TRACED;
		stay->blocked_weight = stay->blocked_ns;
		stay->runq_weight = stay->runq_ns;
		return true;
	}
	stay->blocked_weight = points_weigh(t, t->off_state & (OFF_SLOTS - 1), stay->blocked_ns);
	stay->runq_weight = points_weigh(t, ER_OFF_CPU, stay->runq_ns);
	return stay->blocked_weight || stay->runq_weight;
}

/* Have the chosen stay recorded: when the thread is back, or now. */
static __always_inline void record_stay(struct er_cpu *c, struct task_struct *p,
					struct er_thread *t, struct task_struct *before)
{
	t->stay.oncpu_tgid = before->tgid;
	t->stay.oncpu_tid = before->pid;
	/* A new thread does not come back through the scheduler's end. */
	if (er_way == ER_WAY_FINISH || (er_way == ER_WAY_EXIT && !(t->wflags & ER_WAIT_NEW))) {
		c->back = p->pid;
		return;
	}
	if (er_way == ER_WAY_LEAVE && t->early_stack)
		t->wflags |= ER_WAIT_STACK_EARLY;
	wait_send(c, er_this_ring(), p, t, er_way == ER_WAY_LEAVE ? t->early_stack : 0);
}

/* A long wait is remembered over some short ones: many threads have both in one state. */
static __always_inline void leave_learn(struct er_thread *t, __u64 len)
{
	__u32 s = t->off_state & (OFF_SLOTS - 1), last = t->lasted[s];

	if (len > 0xffffffff)
		len = 0xffffffff;
	last -= last / 8;
	t->lasted[s] = len > last ? len : last;
}

static __always_inline void edge_come(struct er_cpu *c, struct task_struct *p,
				      struct er_thread *t, struct task_struct *before, __u64 clk)
{
	__u64 len;

	if (t->where == WHERE_BLOCKED || t->where == WHERE_QUEUED) {
		len = charge_stay(t, p, clk);
		if (er_way == ER_WAY_LEAVE)
			leave_learn(t, len);
		if (choose_stay(t, len))
			record_stay(c, p, t, before);
	} else if (t->where == WHERE_UNKNOWN) {
		edge_first(t, p, c, clk);
	} else {
		c->counts.nmissed++;
	}
	t->where = WHERE_ON;
	if (er_split)
		t->split_at = bpf_ktime_get_ns();
}

/* It came unseen, when the kernel says; it is too late for its stack. */
static __always_inline void edge_late(struct er_cpu *c, struct task_struct *p, struct er_thread *t)
{
	__u64 clk = p->sched_info.last_arrival;

	if (clk < t->since) {
		c->counts.nmissed++;
		return;
	}
	if (!choose_stay(t, charge_stay(t, p, clk)))
		return;
	t->stay.oncpu_tgid = t->stay.oncpu_tid = 0;
	wait_send(c, er_this_ring(), p, t, 0);
}

/* WAY_LEAVE: will this wait be chosen? As long as a late one, twice as long to be safe. */
static __always_inline bool leave_foretold(const struct er_thread *t, __u32 state)
{
	__u32 s = state & (OFF_SLOTS - 1), last = t->lasted[s];

	if (er_trace_ns)
		return !last || last * 2ULL >= er_trace_ns;
	return !last || last * 2ULL >= t->left[s];
}

static __always_inline void leave_stack(void *ctx, struct er_cpu *c, struct task_struct *p,
					struct er_thread *t)
{
	struct sample sm;

	t->early_stack = 0;
	if (!leave_foretold(t, t->off_state))
		return;
	wait_sample(&sm, p, t, c);
	t->early_stack = wait_stack(ctx, &sm, &er_skip_leave);
}

static __always_inline void edge_leave(void *ctx, struct er_cpu *c, struct task_struct *p,
				       struct er_thread *t, bool preempted, __u64 clk)
{
	__u32 st = p->__state;

	if (t->where == WHERE_UNKNOWN)
		edge_first(t, p, c, clk);
	else if (t->where != WHERE_ON)
		edge_late(c, p, t);
	if (er_split)
		split_edge(t, bpf_ktime_get_ns());
	edge_at(t, clk);
	t->wflags = 0;
	if (preempted || !st) {
		t->where = WHERE_QUEUED;
		t->off_state = ER_OFF_CPU;
		t->wflags = ER_WAIT_PREEMPTED;
		t->address = 0;
		if (task_throttled(p))
			t->wflags |= ER_WAIT_THROTTLED;
	} else {
		t->where = WHERE_BLOCKED;
		t->off_state = off_state(t, p, st, true);
	}
	if (er_way == ER_WAY_LEAVE)
		leave_stack(ctx, c, p, t);
}

#endif
