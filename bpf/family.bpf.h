/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tasks that a recording is limited to: targets, which the plan names by their numbers, and the
 * family of a program, whose tasks have marks. family.bpf.c makes the marks.
 */
#ifndef FAMILY_BPF_H
#define FAMILY_BPF_H

struct er_target {
	__u32 tgid, tid; /* tid 0: all threads; tgid 0: a kernel thread */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct er_target);
	__type(value, __u32);
} er_targets SEC(".maps");

/* Marks. The recorder makes this map, and all programs use the same one. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, int);
} er_family SEC(".maps");

static __always_inline bool target_has(__u32 tgid, __u32 tid)
{
	struct er_target key = { .tgid = tgid, .tid = tid };

	return bpf_map_lookup_elem(&er_targets, &key);
}

static __always_inline bool family_has(struct task_struct *p)
{
	return bpf_task_storage_get(&er_family, p, 0, 0);
}

#endif
