/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Residuals: the CPU time of a thread since its last sample. Sent when the thread, a segment or the recording ends. By
 * `ran_ns`, when the thread was last on a CPU, all of it had been used.
 */
#ifndef RESIDUAL_BPF_H
#define RESIDUAL_BPF_H

#include "bpf/er.bpf.h"
#include "bpf/split.bpf.h"
#include "bpf/thread.bpf.h"

/* The thread's time in user mode so far, in the measure of residual_modes. */
static __always_inline __u64 thread_user(const struct er_thread *t, const struct task_struct *p)
{
	return er_split ? t->split_user : p->utime;
}

/* From here on the next residual counts. `user` is thread_user now. */
static __always_inline void residual_begin(struct er_thread *t, const struct task_struct *p, __u64 user)
{
	t->user = user;
	t->system = p->stime;
}

/* The last sample is valid only for the program that ran then, not for one executed since. */
static __always_inline bool sample_holds(const struct er_thread *t, const struct task_struct *p)
{
	return t->state & THREAD_SAMPLED && t->exec_id == p->self_exec_id;
}

/* When the thread was last on a CPU, as far as its edges tell. */
static __always_inline __u64 last_run(const struct er_thread *t)
{
	bool off = er_states && (t->where == WHERE_BLOCKED || t->where == WHERE_QUEUED);

	return off ? clock_monotonic(t->since) : bpf_ktime_get_ns();
}

/* The CPU that the thread is on, or was last on. */
static __always_inline __u32 last_cpu(struct task_struct *p)
{
	struct rq *rq = task_rq_copy(p);

	return rq ? BPF_CORE_READ(rq, cpu) : bpf_get_smp_processor_id();
}

/*
 * The part in the kernel: exactly, or by the kernel's times, which may be ticks, so that a short-lived thread often
 * has none.
 */
static __always_inline void residual_modes(struct er_residual *r, const struct er_thread *t,
					   const struct task_struct *p, __u64 user)
{
	__u64 weight = r->at.weight, system = p->stime - t->system;

	user -= t->user;
	if (er_split) {
		r->system_ns = weight > user ? weight - user : 0;
	} else {
		__u64 both = (user + system) >> 12;

		if (!both)
			return;
		r->system_ns = weight * (system >> 12) / both;
	}
	r->at.flags |= ER_CLOCK_SPLIT;
}

static __always_inline void fill_residual(struct er_residual *r, struct task_struct *p,
					  const struct er_thread *t, struct er_cpu *c, __u32 tid, __u64 user,
					  __u64 ran)
{
	r->at.h.kind = ER_KIND_RESIDUAL;
	r->at.h.seq = er_number(c, ER_KIND_CLOCK);
	r->at.h.time_ns = bpf_ktime_get_ns();
	task_fill(&r->at.task, p, t->start_time, tid);
	r->at.cpu = bpf_get_smp_processor_id();
	r->ran_ns = ran;
	r->ran_cpu = last_cpu(p);
	if (sample_holds(t, p)) {
		r->at.stack = t->stack;
		r->at.flags = t->flags;
	} else {
		r->at.flags = ER_CLOCK_UNSAMPLED;
		residual_modes(r, t, p, user);
	}
	if (p->flags & TASK_PF_KTHREAD)
		r->at.flags |= ER_CLOCK_KTHREAD;
}

static __always_inline void residual_send(struct task_struct *p, struct er_thread *t,
					  struct er_cpu *c, __u64 sum)
{
	__u64 weight = thread_take(t, sum);
	void *ring = er_this_ring();
	struct er_residual r = {};

	if (!weight || er_only_locks)
		return;
	r.at.weight = weight;
	fill_residual(&r, p, t, c, t->tid, thread_user(t, p), bpf_ktime_get_ns());
	if (!ring || bpf_ringbuf_output(ring, &r, sizeof(r), er_wakeup(ring)))
		er_lost(c, ER_KIND_CLOCK, r.at.h.time_ns, r.at.task.tgid, r.at.task.tid);
}

#endif
