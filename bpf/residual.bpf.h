/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Residuals: the CPU time of a thread since its last sample. Sent when the thread or the
 * recording ends.
 */
#ifndef RESIDUAL_BPF_H
#define RESIDUAL_BPF_H

#include "bpf/er.bpf.h"
#include "bpf/thread.bpf.h"

/* The last sample is valid only for the program that ran then, not for one executed since. */
static __always_inline bool sample_holds(const struct er_thread *t, struct task_struct *p)
{
	return t->state & THREAD_SAMPLED && t->exec_id == p->self_exec_id;
}

static __always_inline void fill_residual(struct er_clock *r, struct task_struct *p,
					  const struct er_thread *t, struct er_cpu *c, __u32 tid)
{
	r->h.kind = ER_KIND_RESIDUAL;
	r->h.seq = er_number(c, ER_KIND_CLOCK);
	r->h.time_ns = bpf_ktime_get_ns();
	task_fill(&r->task, p, t->start_time, tid);
	r->stack = sample_holds(t, p) ? t->stack : 0;
	r->cpu = bpf_get_smp_processor_id();
	r->flags = sample_holds(t, p) ? t->flags : ER_CLOCK_UNSAMPLED;
	if (p->flags & TASK_PF_KTHREAD)
		r->flags |= ER_CLOCK_KTHREAD;
}

static __always_inline void residual_send(struct task_struct *p, struct er_thread *t,
					  struct er_cpu *c, __u64 sum)
{
	__u64 weight = thread_take(t, sum);
	void *ring = er_this_ring();
	struct er_clock r = {};

	if (!weight || er_only_locks)
		return;
	fill_residual(&r, p, t, c, t->tid);
	r.weight = weight;
	if (!ring || bpf_ringbuf_output(ring, &r, sizeof(r), er_wakeup(ring)))
		er_lost(c, ER_KIND_CLOCK, r.h.time_ns, r.task.tgid, r.task.tid);
}

#endif
