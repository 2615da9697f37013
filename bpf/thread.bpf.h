/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is kept for each thread, which threads are wanted, and how much CPU
 * time of theirs has not been reported.
 */
#ifndef THREAD_BPF_H
#define THREAD_BPF_H

#include "bpf/er_event.h"

enum {
	TASK_PF_IO_WORKER = 0x00000010,
	TASK_PF_KTHREAD = 0x00200000,
};

enum thread_state {
	THREAD_KNOWN = 1 << 0,   /* `reported` means something */
	THREAD_SAMPLED = 1 << 1, /* `stack` and `flags` do */
	THREAD_DYING = 1 << 2,   /* counted in er_cpu.dying */
	THREAD_CLOSED = 1 << 3,  /* the recording ended for it, nothing more is owed */
};

struct er_thread {
	__u64 reported;   /* of its sum_exec_runtime */
	__u64 start_time; /* of the process */
	__u64 stack;      /* of the last sample */
	__u64 exec_id;    /* of the program that the last sample saw */
	__u32 flags;      /* of the last sample, enum er_clock_flags */
	__u32 state;
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

/* CPU time not yet reported up to `sum`, which becomes reported; 0 if another took it. */
static __always_inline __u64 thread_take(struct er_thread *t, __u64 sum)
{
	__u64 reported = t->reported;

	if (sum <= reported || __sync_val_compare_and_swap(&t->reported, reported, sum) != reported)
		return 0;
	return sum - reported;
}

#endif
