/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The edges between states: a thread leaves the CPU, comes back, is woken.
 *
 * The wait for a CPU is the kernel's own figure (sched_info): its sum so far, plus the time since
 * the thread was queued if the kernel has not added that yet, as at the switch in. A thread that
 * leaves the CPU runnable waits for a CPU until it is back, even if its cgroup is throttled and
 * takes it out of the queue.
 *
 * The edges of a thread normally alternate. Some kernels hide switches of certain threads (seen
 * with a hypervisor's agent, 7 of 6,600 switches), and then the thread that runs next has no edge
 * either. When that thread leaves, the kernel still knows when it came: the missing edge is added
 * with its exact time, but without a stack. Other edges out of turn are counted (nmissed), and
 * their time is not charged to a state here. total.bpf.h counts what the kernel did not charge as
 * running as waiting for a CPU.
 */
#ifndef EDGE_BPF_H
#define EDGE_BPF_H

#include "bpf/clock.bpf.h"
#include "bpf/ran.bpf.h"
#include "bpf/state.bpf.h"
#include "bpf/total.bpf.h"
#include "bpf/wait.bpf.h"

const volatile __u64 er_trace_ns; /* 0: waits are chosen by sample points */
const volatile bool er_waker_stacks;

/* The kernel's figure of waiting for a CPU up to `clk`; the thread may still be queued. */
static __always_inline __u64 queue_wait(struct task_struct *p, __u64 clk)
{
	__u64 delay = p->sched_info.run_delay, queued = p->sched_info.last_queued;

	return queued && clk > queued ? delay + (clk - queued) : delay;
}

/*
 * The thread `t` leaves its CPU runnable. Note whether its cgroup is throttled, and for how long it
 * has been so far: the cgroup may also be throttled while the thread waits in its queue.
 */
static __always_inline void throttle_leave(struct er_thread *t, struct cfs_rq *queue)
{
	if (bpf_core_field_exists(queue->throttled_clock_pelt_time))
		t->throttled_ns = queue->throttled_clock_pelt_time;
	if (bpf_core_field_exists(queue->throttle_count) && queue->throttle_count > 0)
		t->wflags |= ER_WAIT_THROTTLED;
}

static __always_inline void throttle_come(struct er_thread *t, struct task_struct *p)
{
	if (bpf_core_field_exists(p->se.cfs_rq->throttled_clock_pelt_time) &&
	    BPF_CORE_READ(p, se.cfs_rq, throttled_clock_pelt_time) != t->throttled_ns)
		t->wflags |= ER_WAIT_THROTTLED;
}

enum { POLICY_DEADLINE = 6 };

/* A deadline thread may also have used up its own run time. */
static __always_inline void throttle_deadline(struct er_thread *t, struct task_struct *p)
{
	struct sched_dl_entity *dl = &p->dl;

	if (p->policy == POLICY_DEADLINE && BPF_CORE_READ_BITFIELD(dl, dl_throttled))
		t->wflags |= ER_WAIT_THROTTLED;
}

/*
 * The time since the last edge, without jumps of the clock. Moves t->begin forward by the jumps,
 * so that they are not in the thread's whole time either.
 */
static __always_inline __u64 edge_length(struct er_thread *t, __u64 clk)
{
	__u64 jumped = clock_jumped(t->since, clk);

	t->begin += jumped;
	return clk > t->since ? clk - t->since - jumped : 0;
}

static __always_inline void edge_at(struct er_thread *t, __u64 clk)
{
	if (clk > t->since)
		t->since = clk;
}

/*
 * The accounting of a thread that was born in the recording, but could not be seen until `clk`,
 * begins at its birth. The kernel's figures say how long it has run and waited for a CPU; the rest
 * is sleep. Each of the two counts as one wait. No record has them, so they are unsampled. The caller
 * has set run0 and delay to the kernel's figures, and `since` to clk.
 */
static __always_inline void edge_since_birth(struct er_thread *t, struct task_struct *p, __u64 clk)
{
	__u64 birth = p->start_time - er_offset, off = clk > birth ? clk - birth : 0;
	__u64 queued = t->delay;

	off = off > t->run0 ? off - t->run0 : 0;
	if (queued > off)
		queued = off;
	t->off_ns[ER_OFF_CPU] += queued;
	t->off_ns[ER_OFF_SLEEP] += off - queued;
	t->off_n[ER_OFF_CPU] += queued > 0;
	t->off_n[ER_OFF_SLEEP] += off > queued;
	t->begin = birth;
	t->begin_ns = clock_monotonic(birth);
	t->run0 = t->utime0 = t->stime0 = 0;
	t->nvcsw0 = t->nivcsw0 = t->minflt0 = t->majflt0 = 0;
	t->rchar0 = t->wchar0 = t->read0 = t->write0 = 0;
	t->total_flags = ER_TOTAL_BORN;
}

static __always_inline void edge_first(struct er_thread *t, struct task_struct *p,
				       struct er_cpu *c, __u64 clk)
{
	c->counts.nmissed++;
	total_begin(t, p, clk);
	t->run0 = p->se.sum_exec_runtime;
	t->delay = queue_wait(p, clk);
	t->where = WHERE_ON;
	t->state |= THREAD_KNOWN;
	if (thread_is_new(p))
		edge_since_birth(t, p, clk);
	else
		t->reported = t->run0; /* no sample has time from before */
}

/*
 * A sleeping thread that the kernel counts as queued. Since 6.12 the scheduler keeps some sleepers
 * in the queue for a while, and when it moves one to another CPU it notes that as the time of
 * queueing. Seen: a thread was in pthread_join() for 8 s, and the kernel's figure said that it
 * waited 8 s for a CPU. What the kernel's figure gained during sleep goes to moved_ns, so our wait
 * for a CPU is deliberately smaller by that.
 */
static __always_inline void edge_moved(struct er_thread *t, __u64 delay)
{
	__u64 moved = delay - t->delay;

	if ((__s64)moved <= 0)
		return;
	t->moved_ns += moved;
	t->nmoved++;
	t->delay = delay;
}

/* From now on the thread waits for a CPU. */
static __always_inline void edge_woken(struct er_thread *t, struct task_struct *p)
{
	if (t->where != WHERE_BLOCKED ||
	    (!p->sched_info.last_queued && p->sched_info.run_delay == t->delay))
		return;
	edge_moved(t, queue_wait(p, clock_now()));
}

/* The kernel's figure for a thread that is off the CPU when the recording begins or ends. */
static __always_inline __u64 queue_wait_open(struct er_thread *t, struct task_struct *p, __u64 clk)
{
	if (!p->__state)
		return queue_wait(p, clk);
	if (t->where == WHERE_BLOCKED)
		edge_moved(t, p->sched_info.run_delay);
	return p->sched_info.run_delay;
}

/* Charge the time off the CPU up to `clk`, its queued part to ER_OFF_CPU. Returns its length. */
static __always_inline __u64 charge_interval(struct er_thread *t, __u64 clk, __u64 delay,
					 struct er_off_interval *off)
{
	__u64 len = edge_length(t, clk), runq = delay - t->delay;
	__u32 s = t->off_state & (OFF_SLOTS - 1);

	if ((__s64)runq < 0) /* edge_moved subtracted more than the kernel's figure */
		runq = 0;
	if (t->where == WHERE_QUEUED || runq > len)
		runq = len;
	t->delay = delay;
	off->runq_ns = runq;
	off->blocked_ns = len - runq;
	t->off_ns[s] += len - runq;
	t->off_ns[ER_OFF_CPU] += runq;
	t->off_n[s] += len > runq;
	t->off_n[ER_OFF_CPU] += runq > 0;
	edge_at(t, clk);
	return len;
}

/* Set the weights of the interval's parts. True if the interval is to be recorded. */
static __always_inline bool choose_interval(struct er_thread *t, __u64 len, struct er_off_interval *off)
{
	if (er_trace_ns) {
		if (len < er_trace_ns)
			return false;
		if (er_only_locks && (t->off_state != ER_OFF_LOCK || !off->blocked_ns))
			return false;
		t->wflags |= ER_WAIT_TRACED;
		off->blocked_weight = off->blocked_ns;
		off->runq_weight = er_only_locks ? 0 : off->runq_ns;
		return true;
	}
	off->blocked_weight = points_weigh(&t->points, t->off_state, off->blocked_ns);
	off->runq_weight = points_weigh(&t->points, ER_OFF_CPU, off->runq_ns);
	return off->blocked_weight || off->runq_weight;
}

/* STACKS_LEAVE: remember a long wait over some short ones, because many threads have both. */
static __always_inline void leave_learn(struct er_thread *t, __u64 len)
{
	__u32 s = t->off_state & (OFF_SLOTS - 1), last = t->lasted[s];

	if (len > 0xffffffff)
		len = 0xffffffff;
	last -= last / 8;
	t->lasted[s] = len > last ? len : last;
}

/* STACKS_LEAVE: may this wait be chosen? Assumes at most twice the remembered length. */
static __always_inline bool leave_foretold(const struct er_thread *t)
{
	__u32 s = t->off_state & (OFF_SLOTS - 1), last = t->lasted[s];

	return !last || last * 2ULL >= (er_trace_ns ? er_trace_ns : t->points.left[s]);
}

/* End an interval whose switch in was not seen. True if it is to be recorded. */
static __always_inline bool interval_until(struct er_thread *t, __u64 clk, __u64 delay)
{
	struct er_off_interval off = {};
	__u64 len = charge_interval(t, clk, delay, &off);

	if (!choose_interval(t, len, &off))
		return false;
	t->off = off;
	return true;
}

enum come { COME_UNNOTED, COME_BACK, COME_OWED };

/*
 * A thread comes back to a CPU. Returns whether its interval is recorded, and when: as soon as the
 * thread runs (COME_BACK), or at its next edge, when it is the current thread (COME_OWED).
 */
__noinline __u32 er_come(struct er_thread *t, struct er_cpu *c, __u64 clk, __u64 delay)
{
	struct er_off_interval off;
	struct er_ran ran;
	bool chosen;
	__u64 len;

	if (!t || !c)
		return COME_UNNOTED;
	if (t->where == WHERE_ON) {
		c->counts.nmissed++;
		return COME_UNNOTED;
	}
	len = charge_interval(t, clk, delay, &off);
	chosen = choose_interval(t, len, &off);
	if (er_stack_method == ER_STACKS_LEAVE)
		leave_learn(t, len);
	t->where = WHERE_ON;
	if (!chosen)
		return COME_UNNOTED;
	ran = ran_at(c, clk - 1 - ran_moment(off.runq_ns));
	off.oncpu_tid = ran.tid;
	off.oncpu_tgid = ran.tgid;
	t->off = off;
	/* A new thread does not return through the end of the scheduler's switch. */
	if (er_stack_method == ER_STACKS_FINISH || (er_stack_method == ER_STACKS_EXIT && !(t->wflags & ER_WAIT_NEW)))
		return COME_BACK;
	t->owed = 1;
	return COME_OWED;
}

/* The switch in of the current thread was not seen; the kernel knows its time. */
static __always_inline void edge_late(struct er_thread *t, struct task_struct *p, struct er_cpu *c)
{
	__u64 clk = p->sched_info.last_arrival;

	if (clk < t->since)
		c->counts.nmissed++;
	else
		t->owed = interval_until(t, clk, p->sched_info.run_delay);
}

__noinline int er_finish(struct er_thread *t, struct er_cpu *c, __u64 clk)
{
	struct task_struct *p = bpf_get_current_task_btf();

	if (!t || !c)
		return 0;
	if (t->where == WHERE_UNKNOWN)
		edge_first(t, p, c, clk);
	else if (t->where != WHERE_ON)
		edge_late(t, p, c);
	if (t->owed) {
		t->owed = 0;
		if (er_stack_method != ER_STACKS_LEAVE)
			t->goroutine = 0;
		er_wait_send(c, t, er_stack_method == ER_STACKS_LEAVE ? t->early_stack : 0);
	}
	return 0;
}

/* Send what is still owed for the current thread, before it leaves the CPU or ends. */
static __always_inline void edge_finish(struct er_thread *t, struct er_cpu *c, __u64 clk)
{
	if (t->where != WHERE_ON || t->owed)
		er_finish(t, c, clk);
}

/* The current thread leaves its CPU. */
__noinline int er_leave(struct er_thread *t, struct er_cpu *c, __u64 clk, bool preempted)
{
	struct task_struct *p = bpf_get_current_task_btf();
	__u32 st = p->__state;

	if (!t || !c)
		return 0;
	edge_finish(t, c, clk);
	if (er_split)
		split_leave(t, p, c, clk);
	edge_length(t, clk); /* edge_length removes clock jumps during its run */
	edge_at(t, clk);
	t->wflags = task_in_iowait(p) ? ER_WAIT_IO : 0;
	if (preempted || !st) {
		t->where = WHERE_QUEUED;
		t->off_state = ER_OFF_CPU;
		t->syscall = task_syscall(p);
		t->wflags |= ER_WAIT_PREEMPTED;
	} else {
		t->where = WHERE_BLOCKED;
		t->off_state = off_state(t, p, st, true);
	}
	return 0;
}

#endif
