/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cut: what each thread has done so far, while the recording goes on. An iterator visits all
 * threads. It changes nothing in a thread's storage except that it takes the CPU time not yet
 * reported, which is safe at any time (thread_take). It works on a copy of the storage: there it
 * closes the open wait, as the end of the recording would (end.bpf.h), and computes the total.
 *
 * Totals are cumulative: from the begin of the recording, not from the last cut. The reader
 * subtracts what it had at the last cut, so the parts add up to the whole by construction, whatever
 * a copy may have missed. Flag ER_TOTAL_CUT marks such a total. In it, rest_ns has another meaning:
 * the off-CPU time up to the cut that later WAIT records may represent again. That is the open wait,
 * and the time since the last sample point. The reader subtracts it from those records.
 */
#ifndef CUT_BPF_H
#define CUT_BPF_H

#include "bpf/end.bpf.h"

enum { CUT_TRIES = 4 };

/* There is only one iterator at a time. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct er_thread);
} er_cut_copy SEC(".maps");

/* True if no edge changed the thread while it was copied. */
static __always_inline bool cut_holds(const struct er_thread *copy, const struct er_thread *t)
{
	__u64 differs = (copy->since ^ t->since) | (copy->delay ^ t->delay) |
			(copy->where ^ t->where);

	for (int i = 0; i < OFF_SLOTS; i++)
		differs |= copy->off_ns[i] ^ t->off_ns[i];
	return !differs;
}

/* An edge takes some ten ns, so a few tries suffice. The last copy is used in any case. */
static __always_inline void cut_copy(struct er_thread *copy, const struct er_thread *t)
{
	for (int i = 0; i < CUT_TRIES; i++) {
		bpf_probe_read_kernel(copy, sizeof(*copy), t);
		barrier();
		if (cut_holds(copy, t))
			return;
	}
}

/* Set `weighed` so that total_times finds the time that later records may represent. */
static __always_inline void cut_weighed(struct er_thread *copy)
{
	for (int i = 0; i < OFF_SLOTS; i++) {
		__u64 past = er_trace_ns ? 0 : copy->points.gap[i] - copy->points.left[i];

		copy->weighed[i] = copy->off_ns[i] > past ? copy->off_ns[i] - past : 0;
	}
}

static __always_inline void cut_record(struct seq_file *seq, struct er_cpu *c,
				       struct task_struct *p, struct er_thread *copy, __u64 stack)
{
	if (last_wait(seq, c, p, copy, stack) &&
	    points_is_sample(copy->off.blocked_weight, copy->off.blocked_ns))
		copy->rest_stack[copy->off_state & (OFF_SLOTS - 1)] = stack;
}

/* As end_wait. */
static __always_inline void cut_wait(struct seq_file *seq, struct er_cpu *c, struct task_struct *p,
				     struct er_thread *copy)
{
	struct sample sm;

	copy->wflags |= ER_WAIT_OPEN_END;
	copy->early_stack = 0;
	wait_sample(&sm, p, copy, c);
	cut_record(seq, c, p, copy, er_stack_method == ER_STACKS_NONE ? 0 : asleep_stack(seq, &sm));
}

static __always_inline void cut_states(struct seq_file *seq, struct er_cpu *c,
				       struct task_struct *p, struct er_thread *copy, __u64 clk,
				       __u64 sum)
{
	struct er_total *r;

	cut_weighed(copy);
	if (copy->where == WHERE_ON) {
		if (er_split)
			split_peek(copy, p, p->pid);
	} else if (interval_until(copy, clk, queue_wait_open(copy, p, clk))) {
		cut_wait(seq, c, p, copy);
	}
	r = record_scratch(SCRATCH_ITER);
	if (!r)
		return;
	total_fill(r, p, copy, clk, sum - copy->run0, p->pid);
	r->flags |= ER_TOTAL_CUT;
	r->h.seq = er_number(c, ER_KIND_TOTAL);
	if (!last_write(seq, r, sizeof(*r)))
		er_lost(c, ER_KIND_TOTAL, r->h.time_ns, r->task.tgid, r->task.tid);
}

/* The current thread is the reader of the iterator's file. */
static __always_inline void cut_thread(struct seq_file *seq, struct er_cpu *c,
				       struct task_struct *p, struct er_thread *t)
{
	__u64 clk = clock_now(), sum = run_time_now(p, clk), ran;
	struct er_thread *copy;
	__u32 key = 0;

	copy = bpf_map_lookup_elem(&er_cut_copy, &key);
	if (!copy || !(t->state & THREAD_KNOWN) || t->state & THREAD_CLOSED)
		return;
	cut_copy(copy, t);
	ran = last_run(copy);
	if (er_states && copy->where != WHERE_UNKNOWN)
		cut_states(seq, c, p, copy, clk, sum);
	end_residual(seq, c, p, t, sum, thread_user(copy, p), ran);
}

#endif
