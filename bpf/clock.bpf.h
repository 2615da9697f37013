/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time. States are kept in the run queue's clock, which the scheduler has just
 * read when it switches: it costs a load, and it is the clock in which the
 * kernel keeps run times and run queue waits, so that ours agree with them to the
 * nanosecond. It is not CLOCK_MONOTONIC: `er_offset` is what lies between, for
 * what records say. It follows a difference that is measured when a measured
 * switch has read the clock anyway. Such a difference is too large by the way
 * from the scheduler's reading to ours, so that the least of them is the best;
 * a larger one is followed slowly, for the clocks may drift apart.
 */
#ifndef CLOCK_BPF_H
#define CLOCK_BPF_H

__s64 er_offset; /* CLOCK_MONOTONIC - run queue clock; 0: not known yet */

/* Of the CPU that the thread is on or was on last. */
static __always_inline struct rq *task_rq(struct task_struct *p)
{
	return bpf_core_field_exists(p->se.cfs_rq) ? p->se.cfs_rq->rq : NULL;
}

static __always_inline __u64 clock_monotonic(__u64 clk)
{
	return clk + er_offset;
}

/* Where no switch is at hand. */
static __always_inline __u64 clock_now(void)
{
	return bpf_ktime_get_ns() - er_offset;
}

static __always_inline void clock_measure(__u64 monotonic, __u64 clk)
{
	__s64 off = monotonic - clk, old = er_offset;

	if (!old || off < old)
		er_offset = off;
	else
		er_offset = old + ((__u64)(off - old) >> 8);
}

#endif
