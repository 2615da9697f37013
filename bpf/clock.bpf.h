/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Clocks. The times of states are in the run queue's clock. The scheduler has just read it when it
 * switches, so it costs one load; and the kernel keeps run times and run queue waits in it, so
 * our times agree with the kernel's to the nanosecond.
 *
 * Records need CLOCK_MONOTONIC. `er_offset` is the difference between the two clocks. It is
 * measured at switches that read CLOCK_MONOTONIC anyway, to measure cost. A measured difference is
 * too large by the time between the scheduler's reading and ours, so the smallest is the best. A
 * larger one is followed slowly, because the clocks may drift apart.
 *
 * CLOCK_MONOTONIC stands still while the machine is suspended; the run queue's clock may not. On
 * x86 it advances by the whole length of a suspend to idle, and by seconds in other suspends. That
 * time does not belong to the recording. If a thread was away for at least the length of the
 * shortest suspend, CLOCK_MONOTONIC is read first, and the jump is subtracted (clock_jumped).
 */
#ifndef CLOCK_BPF_H
#define CLOCK_BPF_H

enum {
	JUMP_MIN_NS = 100000000, /* every suspend is longer, errors of er_offset are smaller */
	MAX_JUMPS = 16,          /* the last ones are kept */
	SETTLED = 16,            /* measurements; a single one may have been taken late */
};

__s64 er_offset; /* CLOCK_MONOTONIC - run queue clock; 0: not known yet */

/* How far the run queue's clock advanced, around clk, while CLOCK_MONOTONIC stood still. */
__u64 er_jump_clk[MAX_JUMPS], er_jump_ns[MAX_JUMPS];
__u32 er_njumps;
__u32 er_measured; /* up to SETTLED */

/*
 * The run queue of the CPU that the thread runs on or last ran on. For each pointer that a program
 * follows the verifier searches the kernel's whole BTF four times (0.8 ms), once for each path that
 * reaches it. Copying the field costs the verifier nothing, but takes 10 ns at run time. Therefore
 * code that runs at each switch or sample follows pointers once, before any branch.
 */
static __always_inline struct cfs_rq *task_queue(struct task_struct *p)
{
	return bpf_core_field_exists(p->se.cfs_rq) ? p->se.cfs_rq : NULL;
}

static __always_inline struct rq *task_rq(struct task_struct *p)
{
	struct cfs_rq *queue = task_queue(p);

	return queue ? queue->rq : NULL;
}

/* The same by copying the fields. The result cannot be followed as a pointer. */
static __always_inline struct rq *task_rq_copy(struct task_struct *p)
{
	return bpf_core_field_exists(p->se.cfs_rq) ? BPF_CORE_READ(p, se.cfs_rq, rq) : NULL;
}

static __always_inline __u64 clock_monotonic(__u64 clk)
{
	return clk + er_offset;
}

/* The time of the run queue's clock where there is no switch. */
static __always_inline __u64 clock_now(void)
{
	return bpf_ktime_get_ns() - er_offset;
}

/*
 * Reading CLOCK_MONOTONIC takes 29 ns, reading jiffies one load. The time is noted when a switch
 * first sees a new value of jiffies; while that value stays, less than one tick has passed. A tick
 * may be late, so the bound may be a little too low.
 */
const volatile __u64 er_tick_ns; /* 0: unknown, there is no bound */

__u64 er_jiffy, er_jiffy_clk;

static __always_inline void clock_note(__u64 clk)
{
	__u64 jiffy = bpf_jiffies64();

	if (jiffy == er_jiffy)
		return;
	er_jiffy_clk = clk;
	barrier(); /* other CPUs rely on the number */
	er_jiffy = jiffy;
}

/* True if the present time is certainly before `clk`. */
static __always_inline bool clock_before(__u64 clk)
{
	return er_tick_ns && bpf_jiffies64() == er_jiffy && er_jiffy_clk + er_tick_ns < clk;
}

/*
 * The difference is much smaller than before: the machine was suspended. (CLOCK_BOOTTIME may not
 * know yet: if only a real-time clock ran meanwhile, CLOCK_BOOTTIME is corrected later.)
 */
static __always_inline void clock_fell(__u64 ns, __u64 clk)
{
	__u32 i = __sync_fetch_and_add(&er_njumps, 1) % MAX_JUMPS;

	er_jump_ns[i] = ns;
	er_jump_clk[i] = clk - ns / 2; /* mid-jump; threads that left later are not affected */
}

static __always_inline void clock_measure(__u64 monotonic, __u64 clk)
{
	__s64 off = monotonic - clk, old = er_offset;
	bool settled = er_measured >= SETTLED;

	if (!settled)
		er_measured++;
	if (old && off >= old) {
		er_offset = old + ((__u64)(off - old) >> 8);
		return;
	}
	/* Several CPUs may notice the jump; one of them records it. */
	if (__sync_val_compare_and_swap(&er_offset, old, off) == old && settled &&
	    old - off > JUMP_MIN_NS)
		clock_fell(old - off, clk);
}

struct jump_sum {
	__u64 since, clk, ns;
};

static long jump_add(__u32 i, struct jump_sum *j)
{
	i %= MAX_JUMPS;
	if (j->since < er_jump_clk[i] && er_jump_clk[i] < j->clk)
		j->ns += er_jump_ns[i];
	return 0;
}

/* The length of all jumps between `since` and `clk`, which are times of switches. */
__noinline __u64 er_jumped(__u64 since, __u64 clk)
{
	struct jump_sum j = { .since = since, .clk = clk };

	clock_measure(bpf_ktime_get_ns(), clk);
	bpf_loop(MAX_JUMPS, jump_add, &j, 0);
	return j.ns < clk - since ? j.ns : clk - since;
}

static __always_inline __u64 clock_jumped(__u64 since, __u64 clk)
{
	return clk > since + JUMP_MIN_NS ? er_jumped(since, clk) : 0;
}

#endif
