/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The counters of a thread when a span begins and when it ends, and their difference.
 *
 * The thread runs at both, so its time off the CPU is all charged by then. Its CPU time is the
 * kernel's figure plus the time since the kernel last updated that.
 *
 * The duration is measured by CLOCK_MONOTONIC, the times off the CPU by the run queue's clock, and
 * the CPU time by the kernel, each by itself. Time that none of them has was stolen, as in
 * total.bpf.h. The two clocks may run apart, by some ns in a ms: such a difference counts as stolen.
 * If the parts are longer than the duration, by such a difference, they are cut, and the stolen time is negative:
 * it is always the duration less the parts as they were measured.
 */
#ifndef SPAN_TIMES_BPF_H
#define SPAN_TIMES_BPF_H

#include "bpf/clock.bpf.h"
#include "bpf/er.bpf.h"
#include "bpf/split.bpf.h"
#include "bpf/thread.bpf.h"

struct span_times {
	__u64 given;  /* how often the thread was given a CPU */
	__u64 now;    /* CLOCK_MONOTONIC */
	__u64 ran;    /* CPU time; its zero is arbitrary */
	__u64 user;   /* SPLIT: of that in user mode */
	__u64 off_ns[OFF_SLOTS];
	__u32 waits, minflt, majflt;
};

static __always_inline __u64 span_user(const struct er_thread *t, struct task_struct *p, __u64 now)
{
	struct er_cpu *c;

	if (!er_split)
		return 0;
	barrier(); /* else the compiler looks the CPU up before it asks */
	c = er_this_cpu();
	if (!c)
		return 0;
	if (c->split.tid == (__u32)p->pid)
		return split_user(c->split.word, now);
	if (t->split_in)
		return t->split_user;
	return t->split_user + split_since(t, p, now - (t->begin_ns - t->begin));
}

/*
 * The switch in of the current thread was not seen (edge.bpf.h). The kernel knows its time; the next
 * edge will charge the same.
 */
static __always_inline void span_late(struct span_times *s, struct task_struct *p, const struct er_thread *t)
{
	__u64 came = p->sched_info.last_arrival, runq = p->sched_info.run_delay - t->delay, len;

	if (t->where == WHERE_ON || came < t->since)
		return;
	len = came - t->since;
	if (t->where == WHERE_QUEUED || runq > len)
		runq = len;
	s->off_ns[ER_OFF_CPU] += runq;
	s->off_ns[t->off_state & (OFF_SLOTS - 1)] += len - runq;
}

/*
 * The kernel's sum of CPU time, when it was last updated, and the time that the run queue has deducted for
 * interrupts and stolen time. Another CPU may update them at any time, one after the other, so they are
 * read again at the end.
 */
struct span_kernel {
	__u64 sum, began, deducted;
};

static __always_inline __u64 rq_deducted(const struct rq *rq)
{
	return rq ? rq->clock - rq->clock_task : 0;
}

static __always_inline void kernel_read(struct span_kernel *k, const struct task_struct *p, const struct rq *rq)
{
	k->sum = p->se.sum_exec_runtime;
	k->began = p->se.exec_start;
	k->deducted = rq_deducted(rq);
	barrier();
}

static __always_inline bool kernel_same(const struct span_kernel *k, const struct task_struct *p,
					const struct rq *rq)
{
	barrier();
	return p->se.exec_start == k->began && p->se.sum_exec_runtime == k->sum && rq_deducted(rq) == k->deducted;
}

/* CPU time up to now of a thread on its CPU. */
static __always_inline __u64 span_ran(const struct span_kernel *k, __u64 now)
{
	return k->sum + now - k->began - k->deducted;
}

/* False: a switch or an update of the kernel's sum came in between. */
static __always_inline bool span_read(struct span_times *s, struct task_struct *p, const struct er_thread *t)
{
	const struct rq *rq = task_rq(p);
	__u64 since = t->since;
	struct span_kernel k;

	kernel_read(&k, p, rq);
	s->given = p->sched_info.pcount;
	barrier();
	s->now = bpf_ktime_get_ns();
	s->ran = span_ran(&k, s->now);
	s->user = span_user(t, p, s->now);
	for (int i = 0; i < ER_OFF_STATES; i++)
		s->off_ns[i] = t->off_ns[i];
	span_late(s, p, t);
	s->waits = p->nvcsw + p->nivcsw;
	s->minflt = p->min_flt;
	s->majflt = p->maj_flt;
	return kernel_same(&k, p, rq) && t->since == since;
}

static __noinline bool span_read_again(struct span_times *s, struct task_struct *p, const struct er_thread *t)
{
	return span_read(s, p, t);
}

/* The current thread's counters. Not a loop: 6.1 refuses the one that the compiler makes of it. */
static __always_inline void span_times(struct span_times *s, struct task_struct *p,
				       const struct er_thread *t)
{
	if (!span_read(s, p, t) && !span_read_again(s, p, t))
		span_read_again(s, p, t);
}

struct span_result {
	__u64 dur_ns, run_ns, user_ns;
	__s64 stolen_ns;
	__u64 off_ns[ER_OFF_STATES];
	__u32 waits, minflt, majflt, pad;
};

/*
 * Divide the duration. `off`: the sum of off_ns. What the kernel did not charge to the thread was stolen. The
 * duration is no shorter than `off`.
 */
static __always_inline void span_divide(struct span_result *r, __u64 off, __s64 ran, __s64 user)
{
	__u64 on = r->dur_ns < off ? 0 : r->dur_ns - off;

	r->stolen_ns = r->dur_ns - off - ran;
	r->dur_ns = on + off;
	r->run_ns = ran < 0 ? 0 : (__u64)ran < on ? (__u64)ran : on;
	r->off_ns[ER_OFF_CPU] += on - r->run_ns;
	r->user_ns = user < 0 ? 0 : (__u64)user < r->run_ns ? (__u64)user : r->run_ns;
}

static __always_inline void span_difference(struct span_result *r, const struct span_times *a,
					    const struct span_times *b)
{
	__u64 off = 0;

	for (int i = 0; i < ER_OFF_STATES; i++) {
		r->off_ns[i] = b->off_ns[i] - a->off_ns[i];
		off += r->off_ns[i];
	}
	r->dur_ns = b->now - a->now;
	span_divide(r, off, b->ran - a->ran, b->user - a->user);
	r->waits = b->waits - a->waits;
	r->minflt = b->minflt - a->minflt;
	r->majflt = b->majflt - a->majflt;
}

/*
 * The same up to *now, if the thread has not left its CPU since `a`. Then its storage need not be looked up, because
 * its times off the CPU are those of `a`. False: it left, or the kernel's sum changed; nothing is known then.
 */
static __always_inline bool span_stayed(struct span_result *r, const struct span_times *a,
					struct task_struct *p, __u64 *now)
{
	__u64 given = p->sched_info.pcount;
	const struct rq *rq = task_rq(p);
	struct span_kernel k;

	if (er_split || a->given != given)
		return false;
	kernel_read(&k, p, rq);
	*now = bpf_ktime_get_ns();
	for (int i = 0; i < ER_OFF_STATES; i++)
		r->off_ns[i] = 0;
	r->dur_ns = *now - a->now;
	span_divide(r, 0, span_ran(&k, *now) - a->ran, 0);
	r->waits = (__u32)(p->nvcsw + p->nivcsw) - a->waits;
	r->minflt = p->min_flt - a->minflt;
	r->majflt = p->maj_flt - a->majflt;
	return kernel_same(&k, p, rq) && p->sched_info.pcount == given;
}

/* CPU time of a thread that may run on another CPU; its zero as in span_times. */
static __always_inline __u64 span_ran_other(struct task_struct *p, const struct er_thread *t, __u64 now)
{
	__u64 began = p->se.exec_start, sum = p->se.sum_exec_runtime;
	struct rq *rq = task_rq_copy(p);

	if (t->where != WHERE_ON || !rq)
		return sum + t->begin_ns - t->begin;
	return sum + now - began - (BPF_CORE_READ(rq, clock) - BPF_CORE_READ(rq, clock_task));
}

/* The part of `open` ns off the CPU, up to `clk`, in which the thread waited for a CPU. */
static __always_inline __u64 span_queued(struct task_struct *p, const struct er_thread *t, __u64 open,
					 __u64 clk)
{
	__u64 delay = p->sched_info.run_delay - t->delay, since = p->sched_info.last_queued;

	if (t->where == WHERE_QUEUED)
		return open;
	if (p->__state)
		return 0;
	if (since && clk > since)
		delay += clk - since;
	return delay < open ? delay : open;
}

/* The counters of any thread. Its open interval off the CPU counts up to now. */
static __always_inline void span_times_other(struct span_times *s, struct task_struct *p,
					     const struct er_thread *t)
{
	__u32 state = t->off_state & (OFF_SLOTS - 1);
	__u64 clk, open, queued;

	s->now = bpf_ktime_get_ns();
	s->ran = span_ran_other(p, t, s->now);
	s->user = t->split_user;
	for (int i = 0; i < OFF_SLOTS; i++)
		s->off_ns[i] = t->off_ns[i];
	s->waits = p->nvcsw + p->nivcsw;
	s->minflt = p->min_flt;
	s->majflt = p->maj_flt;
	clk = s->now - (t->begin_ns - t->begin);
	if (t->where == WHERE_ON || clk < t->since)
		return;
	open = clk - t->since;
	queued = span_queued(p, t, open, clk);
	s->off_ns[ER_OFF_CPU] += queued;
	s->off_ns[state] += open - queued;
}

#endif
