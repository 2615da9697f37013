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
 *
 * While the machine is suspended CLOCK_MONOTONIC stands still, and the run queue's clock
 * need not: on x86 it goes on by all of a suspend to idle, and by seconds of others. That
 * is no time of the recording. Whoever was away for longer than a suspend is short
 * may have been away over one: then the clock is read first, and what it jumped is
 * taken out (clock_jumped).
 */
#ifndef CLOCK_BPF_H
#define CLOCK_BPF_H

enum {
	JUMP_MIN_NS = 100000000, /* no suspend is shorter; errors of er_offset are */
	MAX_JUMPS = 16,          /* the last ones are kept */
	SETTLED = 16,            /* measurements: the first alone may have come late */
};

__s64 er_offset; /* CLOCK_MONOTONIC - run queue clock; 0: not known yet */

/* The run queue's clock went on by so much while CLOCK_MONOTONIC stood, around clk. */
__u64 er_jump_clk[MAX_JUMPS], er_jump_ns[MAX_JUMPS];
__u32 er_njumps;
__u32 er_measured; /* up to SETTLED */

/*
 * Of the CPU that the thread is on or was on last. For a pointer that a program follows the
 * verifier searches the kernel's BTF four times from end to end (0.8 ms), each time that a way
 * through the program comes by; a copy costs nothing then, and 10 ns whenever it is made. So
 * what is done at each switch or sample follows pointers, once and before any branch.
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

/* The same by a copy: it cannot be followed. */
static __always_inline struct rq *task_rq_copy(struct task_struct *p)
{
	return bpf_core_field_exists(p->se.cfs_rq) ? BPF_CORE_READ(p, se.cfs_rq, rq) : NULL;
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

/*
 * A reading of the clock is 29 ns, of jiffies one load. Where the clock stood when a switch
 * first saw the present number of jiffies is noted: so long as the number stands it is less
 * than a tick further. A tick may come late, and a bound be a little too low therefore.
 */
const volatile __u64 er_tick_ns; /* 0: not known, there is no bound */

__u64 er_jiffy, er_jiffy_clk;

static __always_inline void clock_note(__u64 clk)
{
	__u64 jiffy = bpf_jiffies64();

	if (jiffy == er_jiffy)
		return;
	er_jiffy_clk = clk;
	barrier(); /* other CPUs go by the number */
	er_jiffy = jiffy;
}

/* Is it before `clk` for sure? */
static __always_inline bool clock_before(__u64 clk)
{
	return er_tick_ns && bpf_jiffies64() == er_jiffy && er_jiffy_clk + er_tick_ns < clk;
}

/*
 * Far less than before: the machine was suspended. (CLOCK_BOOTTIME need not know yet: where
 * only a real-time clock runs meanwhile it is told later.)
 */
static __always_inline void clock_fell(__u64 ns, __u64 clk)
{
	__u32 i = __sync_fetch_and_add(&er_njumps, 1) % MAX_JUMPS;

	er_jump_ns[i] = ns;
	er_jump_clk[i] = clk - ns / 2; /* amid the jump: whoever left after it is not concerned */
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
	/* Several CPUs may find out: one of them says so. */
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

/* How much of the time from `since` to `clk` (both of a switch) the clock jumped over. */
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
