/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The storage of each thread, the choice of threads to record, and the CPU time of a thread that
 * has not been reported yet.
 */
#ifndef THREAD_BPF_H
#define THREAD_BPF_H

#include "bpf/er_event.h"
#include "bpf/family.bpf.h"
#include "bpf/points.bpf.h"

enum {
	TASK_PF_EXITING = 0x00000004,
	TASK_PF_IO_WORKER = 0x00000010,
	TASK_PF_KTHREAD = 0x00200000,
	TASK_PF_FORKNOEXEC = 0x40, /* it has not run a program since its fork */
};

enum thread_state {
	THREAD_KNOWN = 1 << 0,   /* `reported` is valid */
	THREAD_SAMPLED = 1 << 1, /* `stack` and `flags` are valid */
	THREAD_DYING = 1 << 2,   /* counted in er_cpu.dying */
	THREAD_CLOSED = 1 << 3,  /* ended or paused: nothing more is to be sent */
};

/* Whether a thread is on or off the CPU. */
enum thread_where {
	WHERE_UNKNOWN, /* no edge was seen yet */
	WHERE_ON,      /* on a CPU */
	WHERE_BLOCKED, /* off the CPU; in `off_state` until it is queued */
	WHERE_QUEUED,  /* off the CPU, runnable all the time */
};

enum { OFF_SLOTS = POINTS_STATES };

#define WAKER_IN_INTERRUPT 0x80000000u /* set in waker_tid; thread numbers are far below */

/* An interval off the CPU. */
struct er_off_interval {
	__u64 blocked_ns, runq_ns, blocked_weight, runq_weight;
	__u32 oncpu_tgid, oncpu_tid;
};

/*
 * Fields are in the order of use. A switch touches the first three cache lines. With hundreds of
 * threads the cache misses on these lines are most of a switch's cost.
 */
struct er_thread {
	/* Used at each switch. */
	__u64 since;      /* clk of the last edge; every clk is in the run queue's clock */
	__u64 delay;      /* the kernel's run queue wait of the thread, accounted for so far */
	__u32 state;      /* enum thread_state */
	__u16 where;      /* enum thread_where */
	__u16 off_state;  /* enum er_off_state of the blocked part */
	__u32 wflags;     /* enum er_wait_flags of the present wait */
	__s32 syscall;    /* system call that it was in when it left the CPU; -1: none */
	__u32 owed;       /* an interval was chosen; its record is sent at the next edge */
	__u32 kfault;     /* faults before the one from kernel mode, + 1; 0: none */
	__u32 waker_tgid, waker_tid;
	__u64 waker_start;
	__u64 off_ns[OFF_SLOTS];
	struct er_points points;
	__u32 off_n[OFF_SLOTS]; /* number of intervals in off_ns */
	__u64 split_user; /* SPLIT: user time when it left the CPU, see split.bpf.h */
	__u64 ncalls;     /* SPLIT: system calls */
	__u32 split_in;   /* SPLIT: it left the CPU in a system call */
	__u32 split_cpu;  /* SPLIT: the CPU it got last */

	/* Used at clock samples. */
	__u64 reported;   /* part of its sum_exec_runtime that was sent */
	__u64 start_time; /* of the process */
	__u64 stack;      /* of the last sample */
	__u64 exec_id;    /* of the program that ran at the last sample */
	__u32 flags;      /* of the last sample, enum er_clock_flags */
	__u64 user, system; /* its times at the last residual; system: not with SPLIT */

	/* Used at faults, locks, and waits that are recorded. */
	__u64 address;    /* of the lock, of the fault; states LOCK and faults */
	__u64 touched;    /* address, by the last fault that was seen */
	__u32 futex_op, holder; /* state LOCK */
	__u64 waker_stack, early_stack;
	__u64 goroutine;  /* of the present wait, when its stack was taken; 0: none, or not known */
	struct er_off_interval off;
	__u64 weighed[OFF_SLOTS]; /* time that sent WAIT records represent */
	__u64 rest_stack[OFF_SLOTS];
	__u32 lasted[OFF_SLOTS];  /* STACKS_LEAVE: length of a recent wait in the state */

	/* Used at begin and end. */
	__u64 begin;      /* clk */
	__u64 begin_ns;   /* the same in CLOCK_MONOTONIC */
	__u64 run0, utime0, stime0, nvcsw0, nivcsw0, minflt0, majflt0;
	__u64 rchar0, wchar0, read0, write0;
	__u64 split_user0; /* SPLIT: user time before the recording */
	__u64 throttled_ns; /* its cgroup's, on its CPU, when it was preempted */
	__u64 moved_ns;   /* sleep that the kernel counts as waiting for a CPU: edge_moved */
	__u32 nmoved;
	__u32 total_flags;
	__u32 tid;        /* its number when it began to exit; an exec may change it afterwards */

	__u64 snapped;    /* `since` at the last snapshot; only snapshots use it */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct er_thread);
} er_threads SEC(".maps");

const volatile bool er_states; /* WAIT and TOTAL records are wanted */
/* Of the WAIT records only waits for locks are wanted, and no other times of threads. Needs er_states. */
const volatile bool er_only_locks;
const volatile bool er_has_targets;
const volatile bool er_has_family; /* with er_has_targets: marked tasks are recorded, too */
const volatile __u32 er_self;   /* a process to leave out; 0: none */
const volatile __u32 er_helpers[ER_HELPERS]; /* with er_self: others, with their children; 0: none */
const volatile __u32 er_copy;   /* a copy of the recorder, until it runs its program; 0: none */

__u64 er_start_ns; /* threads born from here on count from 0; the end of a pause sets it anew */
__u64 er_stop_ns;  /* threads born from here on do not count; 0: neither paused nor stopped */

static __always_inline bool thread_is_self(struct task_struct *p, __u32 tgid)
{
	__u32 parent;

	if (!er_self)
		return false;
	if (tgid == er_self)
		return true;
	parent = BPF_CORE_READ(p, real_parent, tgid);
	for (int i = 0; i < ER_HELPERS; i++) {
		if (er_helpers[i] && (tgid == er_helpers[i] || parent == er_helpers[i]))
			return true;
	}
	return false;
}

static __always_inline bool thread_wanted(struct task_struct *p)
{
	__u32 tgid = p->tgid, tid = p->pid;

	if (thread_is_self(p, tgid))
		return false;
	if (!er_has_targets)
		return true;
	if (er_has_family && family_has(p))
		return true;
	if (p->flags & TASK_PF_KTHREAD)
		return target_has(0, tid);
	return target_has(tgid, 0) || target_has(tgid, tid);
}

/*
 * Whether the thread is the recorder's code in the program's process: what it calls is not the program's.
 * The flag is that of a new thread, too, so the first one of its process tells.
 */
static __always_inline bool thread_is_copy(struct task_struct *p)
{
	return er_copy && (__u32)p->tgid == er_copy && BPF_CORE_READ(p, group_leader, flags) & TASK_PF_FORKNOEXEC;
}

static __always_inline bool thread_is_new(struct task_struct *p)
{
	return p->start_time >= er_start_ns;
}

/* Copies the field instead of following a pointer: see task_rq. */
static __always_inline __u64 leader_start(struct task_struct *p)
{
	return BPF_CORE_READ(p, group_leader, start_time);
}

/* Fill in the thread of a record. `tid` is its number then: an exec may have changed it since. */
static __always_inline void task_fill(struct er_task *r, struct task_struct *p, __u64 start_time,
				      __u32 tid)
{
	r->start_time = start_time;
	r->tgid = p->tgid;
	r->tid = tid;
	bpf_core_read_str(r->comm, sizeof(r->comm), &p->comm);
}

/* Must not be called under a run queue's lock: it may allocate. */
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
 * True if the thread is not to be recorded, or was born too late. A thread that has a storage
 * always counts: er_stop_ns is set a moment after the time that it contains, and the thread may
 * have sent waits in between.
 */
static __always_inline bool thread_ignored(struct task_struct *p)
{
	return !thread_wanted(p) ||
	       (er_stop_ns && p->start_time >= er_stop_ns && !thread_find(p));
}

/* False for a thread older than the recording that er_begin missed; it counts from now on. */
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

/* Take the unreported CPU time up to `sum`, and mark it reported. 0 if another CPU took it. */
static __always_inline __u64 thread_take(struct er_thread *t, __u64 sum)
{
	__u64 reported = t->reported;

	if (sum <= reported || __sync_val_compare_and_swap(&t->reported, reported, sum) != reported)
		return 0;
	return sum - reported;
}

#endif
