/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is kept for each thread, which threads are wanted, and how much CPU
 * time of theirs has not been reported.
 */
#ifndef THREAD_BPF_H
#define THREAD_BPF_H

#include "bpf/er_event.h"
#include "bpf/points.bpf.h"

enum {
	TASK_PF_EXITING = 0x00000004,
	TASK_PF_IO_WORKER = 0x00000010,
	TASK_PF_KTHREAD = 0x00200000,
};

enum thread_state {
	THREAD_KNOWN = 1 << 0,   /* `reported` means something */
	THREAD_SAMPLED = 1 << 1, /* `stack` and `flags` do */
	THREAD_DYING = 1 << 2,   /* counted in er_cpu.dying */
	THREAD_CLOSED = 1 << 3,  /* the recording ended for it, nothing more is owed */
};

/* Where a thread is, for its states. */
enum thread_where {
	WHERE_UNKNOWN, /* no edge of it was seen yet */
	WHERE_ON,      /* on a CPU */
	WHERE_BLOCKED, /* off, and until it is queued in `off_state` */
	WHERE_QUEUED,  /* off, runnable all the time */
};

enum { OFF_SLOTS = POINTS_STATES };

#define WAKER_IN_INTERRUPT 0x80000000u /* in waker_tid; numbers stay far below */

/* An interval off the CPU. */
struct er_off_interval {
	__u64 blocked_ns, runq_ns, blocked_weight, runq_weight;
	__u32 oncpu_tgid, oncpu_tid;
};

/*
 * In the order of use: a switch touches the first three cache lines, which among
 * hundreds of threads is most of what it costs.
 */
struct er_thread {
	/* At each switch. */
	__u64 since;      /* clk of the last edge; all clk are in the run queue's clock */
	__u64 delay;      /* the kernel's run queue wait of the thread, accounted for so far */
	__u32 state;      /* enum thread_state */
	__u16 where;      /* enum thread_where */
	__u16 off_state;  /* enum er_off_state of the blocked part */
	__u32 wflags;     /* enum er_wait_flags, of the present wait */
	__s32 syscall;    /* it was in when it left the CPU, -1 none */
	__u32 owed;       /* an interval was chosen, its record is to be sent at the next edge */
	__u32 kfault;     /* faults it had when it entered one from kernel mode, + 1; 0 none */
	__u32 waker_tgid, waker_tid;
	__u64 waker_start;
	__u64 off_ns[OFF_SLOTS];
	struct er_points points;
	__u32 off_n[OFF_SLOTS]; /* intervals that off_ns adds up */
	__u64 split_user; /* SPLIT: user time up to when it left, see split.bpf.h */
	__u64 ncalls;     /* SPLIT: system calls */
	__u32 split_in;   /* SPLIT: it left in a system call */
	__u32 split_cpu;  /* SPLIT: where it came last */

	/* At clock samples. */
	__u64 reported;   /* of its sum_exec_runtime */
	__u64 start_time; /* of the process */
	__u64 stack;      /* of the last sample */
	__u64 exec_id;    /* of the program that the last sample saw */
	__u32 flags;      /* of the last sample, enum er_clock_flags */

	/* At faults, locks, and waits that are recorded. */
	__u64 address;    /* of the lock, of the fault; states LOCK and faults */
	__u64 touched;    /* by the last fault that was seen */
	__u32 futex_op, holder; /* state LOCK */
	__u64 waker_stack, early_stack;
	struct er_off_interval off;
	__u64 weighed[OFF_SLOTS]; /* what WAIT records that were sent stand for */
	__u64 rest_stack[OFF_SLOTS];
	__u32 lasted[OFF_SLOTS];  /* a late wait that began in the state; STACKS_LEAVE */

	/* At begin and end. */
	__u64 begin;      /* clk */
	__u64 begin_ns;   /* the same in CLOCK_MONOTONIC */
	__u64 run0, utime0, stime0, nvcsw0, nivcsw0, minflt0, majflt0;
	__u64 rchar0, wchar0, read0, write0;
	__u64 split_user0; /* SPLIT: user time before the recording */
	__u64 throttled_ns; /* of its cgroup on its CPU, when it was preempted */
	__u64 moved_ns;   /* of sleep, down as waiting for a CPU: edge_moved */
	__u32 nmoved;
	__u32 total_flags;
	__u32 tid;        /* when it began to exit; an exec may then give its number away */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct er_thread);
} er_threads SEC(".maps");

struct er_target {
	__u32 tgid, tid; /* tid 0: all threads; tgid 0: a kernel thread */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct er_target);
	__type(value, __u32);
} er_targets SEC(".maps");

const volatile bool er_states; /* WAIT and TOTAL records are wanted */
const volatile bool er_has_targets;
const volatile __u32 er_self; /* a process to leave out, 0 none */

__u64 er_start_ns; /* threads born from here on count from 0 */
__u64 er_stop_ns;  /* threads born from here on do not count */

static __always_inline bool target_has(__u32 tgid, __u32 tid)
{
	struct er_target key = { .tgid = tgid, .tid = tid };

	return bpf_map_lookup_elem(&er_targets, &key);
}

static __always_inline bool thread_wanted(struct task_struct *p)
{
	__u32 tgid = p->tgid, tid = p->pid;

	if (er_self && tgid == er_self)
		return false;
	if (!er_has_targets)
		return true;
	if (p->flags & TASK_PF_KTHREAD)
		return target_has(0, tid);
	return target_has(tgid, 0) || target_has(tgid, tid);
}

static __always_inline bool thread_is_new(struct task_struct *p)
{
	return p->start_time >= er_start_ns;
}

/* By a copy, not a pointer: see task_rq. */
static __always_inline __u64 leader_start(struct task_struct *p)
{
	return BPF_CORE_READ(p, group_leader, start_time);
}

/* Whose record it is. `tid` is the thread's own number: an exec may have given it another since. */
static __always_inline void task_fill(struct er_task *r, struct task_struct *p, __u64 start_time,
				      __u32 tid)
{
	r->start_time = start_time;
	r->tgid = p->tgid;
	r->tid = tid;
	bpf_core_read_str(r->comm, sizeof(r->comm), &p->comm);
}

/* Not under a run queue's lock: it may allocate. */
static __always_inline struct er_thread *thread_get(struct task_struct *p, __u64 start_time)
{
	struct er_thread *t;

	t = bpf_task_storage_get(&er_threads, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (t)
		t->start_time = start_time;
	return t;
}

static __always_inline struct er_thread *thread_find(struct task_struct *p)
{
	return bpf_task_storage_get(&er_threads, p, 0, 0);
}

/*
 * Not of interest, or born too late. A thread that already has a storage counts whatever its
 * birth: er_stop_ns is set a moment after the time it holds, and the thread may have sent waits.
 */
static __always_inline bool thread_ignored(struct task_struct *p)
{
	return !thread_wanted(p) ||
	       (er_stop_ns && p->start_time >= er_stop_ns && !thread_find(p));
}

/* False for a thread older than the recording that er_begin missed: it is known from now on. */
static __always_inline bool thread_know(struct er_thread *t, struct task_struct *p, __u64 sum)
{
	if (t->state & THREAD_KNOWN)
		return true;
	t->state |= THREAD_KNOWN;
	if (thread_is_new(p))
		return true;
	t->reported = sum;
	return false;
}

/* CPU time not yet reported up to `sum`, which becomes reported; 0 if another took it. */
static __always_inline __u64 thread_take(struct er_thread *t, __u64 sum)
{
	__u64 reported = t->reported;

	if (sum <= reported || __sync_val_compare_and_swap(&t->reported, reported, sum) != reported)
		return 0;
	return sum - reported;
}

#endif
