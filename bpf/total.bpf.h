/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The total of a thread: all its time by state. Time on the CPU is the time from begin to end, in
 * the run queue's clock, minus the time off the CPU, so the parts add up by construction. On the
 * CPU the thread ran for the time that the kernel has charged to it. The hypervisor took the
 * remainder, or interrupts did if the kernel accounts them separately. The thread could run then
 * but had no CPU, so the remainder counts as waiting for a CPU; `stolen_ns` is that part.
 *
 * A total that finds no room in its ring goes to a queue, which the reader empties: stacks may be
 * lost, totals may not.
 */
#ifndef TOTAL_BPF_H
#define TOTAL_BPF_H

#include "bpf/clock.bpf.h"
#include "bpf/er.bpf.h"
#include "bpf/split.bpf.h"
#include "bpf/stack.bpf.h"
#include "bpf/thread.bpf.h"

enum { MAX_SPILLED = 2048 };

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, MAX_SPILLED);
	__type(value, struct er_total);
} er_spilled SEC(".maps");

static __always_inline bool has_chars(struct task_struct *p)
{
	return bpf_core_field_exists(p->ioac.rchar);
}

static __always_inline bool has_blocks(struct task_struct *p)
{
	return bpf_core_field_exists(p->ioac.read_bytes);
}

static __always_inline void total_begin(struct er_thread *t, struct task_struct *p, __u64 clk)
{
	t->begin = t->since = clk;
	t->begin_ns = clock_monotonic(clk);
	t->tid = p->pid;
	t->utime0 = p->utime;
	t->stime0 = p->stime;
	t->nvcsw0 = p->nvcsw;
	t->nivcsw0 = p->nivcsw;
	t->minflt0 = p->min_flt;
	t->majflt0 = p->maj_flt;
	if (has_chars(p)) {
		t->rchar0 = p->ioac.rchar;
		t->wchar0 = p->ioac.wchar;
	}
	if (has_blocks(p)) {
		t->read0 = p->ioac.read_bytes;
		t->write0 = p->ioac.write_bytes;
	}
}

static __always_inline void total_times(struct er_total *r, const struct er_thread *t,
					__u64 clk, __u64 ran)
{
	__u64 off = 0, on;

	for (int i = 0; i < ER_OFF_STATES; i++) {
		r->off_ns[i] = t->off_ns[i];
		r->off_n[i] = t->off_n[i];
		r->rest_stack[i] = t->rest_stack[i];
		off += t->off_ns[i];
	}
	on = clk - t->begin > off ? clk - t->begin - off : 0;
	r->begin_ns = t->begin_ns;
	r->end_ns = t->begin_ns + on + off;
	r->run_ns = ran < on ? ran : on;
	r->stolen_ns = on - r->run_ns;
	r->off_ns[ER_OFF_CPU] += r->stolen_ns;
	for (int i = 0; i < ER_OFF_STATES; i++)
		r->rest_ns[i] = r->off_ns[i] > t->weighed[i] ? r->off_ns[i] - t->weighed[i] : 0;
}

static __always_inline void total_split(struct er_total *r, const struct er_thread *t,
					struct task_struct *p)
{
	r->user_ns = p->utime - t->utime0;
	r->system_ns = p->stime - t->stime0;
	if (!er_split)
		return;
	r->flags |= ER_TOTAL_SPLIT;
	r->user_ns = t->split_user - t->split_user0;
	if (r->user_ns > r->run_ns)
		r->user_ns = r->run_ns;
	r->system_ns = r->run_ns - r->user_ns;
}

static __always_inline void total_io(struct er_total *r, const struct er_thread *t,
				     struct task_struct *p)
{
	r->rchar = has_chars(p) ? p->ioac.rchar - t->rchar0 : 0;
	r->wchar = has_chars(p) ? p->ioac.wchar - t->wchar0 : 0;
	r->read_bytes = has_blocks(p) ? p->ioac.read_bytes - t->read0 : 0;
	r->write_bytes = has_blocks(p) ? p->ioac.write_bytes - t->write0 : 0;
}

/* CONFIG_IRQ_TIME_ACCOUNTING: run queues note the time of interrupts. */
static __always_inline bool irq_time_is_apart(void)
{
	struct rq *rq = NULL;

	return bpf_core_field_exists(rq->prev_irq_time);
}

/* Fill in everything except the number. */
static __always_inline void total_fill(struct er_total *r, struct task_struct *p,
				       const struct er_thread *t, __u64 clk, __u64 ran, __u32 tid)
{
	r->h.kind = ER_KIND_TOTAL;
	r->h.time_ns = clock_monotonic(clk);
	task_fill(&r->task, p, t->start_time, tid);
	total_times(r, t, clk, ran);
	r->flags = t->total_flags;
	if (p->flags & TASK_PF_KTHREAD)
		r->flags |= ER_TOTAL_KTHREAD;
	if (irq_time_is_apart())
		r->flags |= ER_TOTAL_IRQ_APART;
	total_split(r, t, p);
	r->nwaits = p->nvcsw - t->nvcsw0;
	r->npreempted = p->nivcsw - t->nivcsw0;
	r->minflt = p->min_flt - t->minflt0;
	r->majflt = p->maj_flt - t->majflt0;
	r->ncalls = t->ncalls;
	total_io(r, t, p);
	r->cgroup = BPF_CORE_READ(p, cgroups, dfl_cgrp, kn, id);
	r->cpu = bpf_get_smp_processor_id();
	r->moved_ns = t->moved_ns;
	r->nmoved = t->nmoved;
	r->exit_status = 0;
}

/* Memory for one record: a program's stack is small. */
static __always_inline void *record_scratch(enum scratch_user user)
{
	__u32 key = user;

	return bpf_map_lookup_elem(&er_scratch, &key);
}

/* Send the total of a thread that ends; its number was `tid`, `sum` is its run time. */
static __always_inline void total_send(struct er_cpu *c, struct task_struct *p,
				       const struct er_thread *t, __u64 clk, __u64 sum,
				       __u32 tid, enum scratch_user user)
{
	struct er_total *r = record_scratch(user);
	void *ring = er_this_ring();

	if (!r || er_only_locks)
		return;
	r->h.seq = er_number(c, ER_KIND_TOTAL);
	total_fill(r, p, t, clk, sum - t->run0, tid);
	r->flags |= ER_TOTAL_ENDED;
	r->exit_status = p->exit_code;
	if (ring && !bpf_ringbuf_output(ring, r, sizeof(*r), er_wakeup(ring)))
		return;
	if (bpf_map_push_elem(&er_spilled, r, 0))
		er_lost(c, ER_KIND_TOTAL, r->h.time_ns, r->task.tgid, r->task.tid);
	else
		__sync_fetch_and_add(&c->nspilled, 1);
}

#endif
