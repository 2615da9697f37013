/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A snapshot: what each thread has done up to one instant, at each usage sample. An iterator visits
 * all threads and writes those that left or entered a CPU since the snapshot before. The others
 * are still in the state that they had then, so the reader knows all about them. The walk takes no
 * stacks, and changes nothing in a thread's storage that other programs use.
 *
 * Times are cumulative, and the open state is closed at the instant, in a copy of the storage. The
 * instant is before the walk begins, so nothing has to be predicted. If a thread left or entered a
 * CPU after the instant, but before the walk came to it, its own instant is that moment.
 */
#ifndef SNAPSHOT_BPF_H
#define SNAPSHOT_BPF_H

#include "bpf/cut.bpf.h"
#include "bpf/snap.h"

__u64 er_snap_ns;  /* the instant, CLOCK_MONOTONIC; user space sets it before each walk */
__u32 er_snap_all; /* write all threads, whether they did anything or not */

/* Off the CPU, but not asleep any more: its state changed without an edge. */
static __always_inline bool snap_is_woken(struct task_struct *p, const struct er_thread *t)
{
	return t->where == WHERE_BLOCKED && !p->__state;
}

static __always_inline bool snap_is_wanted(struct task_struct *p, const struct er_thread *t)
{
	if (!(t->state & THREAD_KNOWN) || t->state & THREAD_CLOSED || t->where == WHERE_UNKNOWN)
		return false;
	return er_snap_all || t->snapped != t->since || t->where == WHERE_ON || snap_is_woken(p, t);
}

static __always_inline __u64 snap_instant(const struct er_thread *t)
{
	__u64 clk = er_snap_ns - er_offset;

	if (clk < t->since)
		clk = t->since;
	return clk < t->begin ? t->begin : clk;
}

static __always_inline void snap_close(struct er_thread *copy, struct task_struct *p, __u64 clk)
{
	struct er_off_interval off = {};

	if (copy->where != WHERE_ON)
		charge_interval(copy, clk, queue_wait_open(copy, p, clk), &off);
	else if (er_split)
		split_peek(copy, p, p->pid);
}

/* Off the CPU the kernel's figure is settled: reading it follows no pointers. */
static __always_inline __u64 snap_run_time(struct task_struct *p, const struct er_thread *t,
					   __u64 clk)
{
	return t->where == WHERE_ON ? run_time_now(p, clk) : p->se.sum_exec_runtime;
}

static __always_inline __u32 snap_state(struct task_struct *p, const struct er_thread *t)
{
	if (t->where == WHERE_ON)
		return ER_SNAP_ON;
	return t->where == WHERE_QUEUED || snap_is_woken(p, t) ? ER_OFF_CPU : t->off_state;
}

static __always_inline void snap_write(struct seq_file *seq, struct task_struct *p,
				       struct er_thread *copy)
{
	struct er_total *r = record_scratch(SCRATCH_ITER);
	__u64 clk = snap_instant(copy);
	struct er_snap s = {
		.start_time = copy->start_time,
		.tgid = p->tgid,
		.tid = p->pid,
		.state = snap_state(p, copy),
		.begin_ns = copy->begin_ns,
		.time_ns = clock_monotonic(clk),
	};

	if (!r)
		return;
	if (p->flags & TASK_PF_KTHREAD)
		s.flags |= ER_TOTAL_KTHREAD;
	snap_close(copy, p, clk);
	total_times(r, copy, clk, snap_run_time(p, copy, clk) - copy->run0);
	r->flags = 0;
	total_split(r, copy, p);
	s.run_ns = r->run_ns;
	s.user_ns = r->user_ns;
	s.system_ns = r->system_ns;
	s.stolen_ns = r->stolen_ns;
	for (int i = 0; i < ER_OFF_STATES; i++)
		s.off_ns[i] = r->off_ns[i];
	last_write(seq, &s, sizeof(s));
}

static __always_inline void snap_thread(struct seq_file *seq, struct task_struct *p,
					struct er_thread *t)
{
	struct er_thread *copy;
	__u32 key = 0;

	copy = bpf_map_lookup_elem(&er_cut_copy, &key);
	if (!copy || !snap_is_wanted(p, t))
		return;
	cut_copy(copy, t);
	t->snapped = copy->since;
	snap_write(seq, p, copy);
}

#endif
