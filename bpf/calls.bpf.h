/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts system calls and their errors by number, when they return. Used only if entries and
 * returns of system calls are traced anyway (split.bpf.h).
 */
#ifndef CALLS_BPF_H
#define CALLS_BPF_H

#include "bpf/arch.bpf.h"
#include "bpf/thread.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, ER_MAX_SYSCALLS);
	__type(key, __u32);
	__type(value, struct er_calls);
} er_calls SEC(".maps");

/* 32-bit calls on a 64-bit kernel have other numbers and are not counted. */
static __always_inline void calls_count(__s64 ret)
{
	struct task_struct *p = bpf_get_current_task_btf();
	const struct pt_regs *regs = arch_user_regs(p);
	__u32 nr = arch_syscall(regs);
	struct er_calls *calls;

	if (arch_is_32bit(regs) || er_stop_ns || !thread_wanted(p))
		return;
	calls = bpf_map_lookup_elem(&er_calls, &nr);
	if (!calls)
		return;
	calls->calls++;
	calls->errors += ret < 0 && ret >= -4095; /* MAX_ERRNO */
}

#endif
