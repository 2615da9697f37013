/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From an address of a process to a file and an offset (bpf/frame.h). User space publishes
 * the ranges of a process when the first record of it comes. Until then, and for
 * mappings that user space has not heard of yet, the kernel is asked for the mapping
 * (bpf_find_vma): in an interrupt that works once a sample, because the lock that it
 * takes is given back by work that runs when the interrupt is over.
 */
#ifndef SPACE_BPF_H
#define SPACE_BPF_H

#include "bpf/frame.h"

enum { SPACE_SEARCH = 16 }; /* halvings of ER_SPACE_RANGES, and one more */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct er_space_key);
	__type(value, struct er_space);
} er_spaces SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct er_range);
} er_ranges SEC(".maps");

/* Files that have a table, by what a mapping says of them; values are file numbers. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct er_inode);
	__type(value, __u32);
} er_inodes SEC(".maps");

enum pc_found {
	PC_FOUND,
	PC_NOWHERE, /* in no mapping */
	PC_BUSY,    /* the mapping could not be looked up */
	PC_STRANGE, /* in a file that BPF does not know */
};

/* What is known of one process, for one walk. */
struct pc_lookup {
	struct er_range range; /* the last one found */
	__u32 first, n;        /* the process's ranges */
	bool known;            /* there are any */
	bool has_file;         /* PC_STRANGE: see above */
	__u64 pgoff;
	struct er_inode inode;
};

static __always_inline void pc_begin(struct pc_lookup *l, __u64 start_time, __u32 tgid,
				     __u32 exec_id)
{
	struct er_space_key key = { .start_time = start_time, .tgid = tgid, .exec_id = exec_id };
	struct er_space *space = bpf_map_lookup_elem(&er_spaces, &key);

	l->range.start = l->range.end = 0;
	l->first = l->n = 0;
	l->known = space && space->tag == er_space_tag(&key);
	if (!l->known)
		return;
	l->first = space->first;
	l->n = space->n;
}

static __always_inline bool pc_in_range(const struct pc_lookup *l, __u64 pc)
{
	return pc >= l->range.start && pc < l->range.end;
}

/* The last of the ranges that begins at or below pc. */
static __always_inline bool pc_in_space(struct pc_lookup *l, __u64 pc)
{
	__u32 lo = l->first, hi = l->first + l->n, at;
	struct er_range *r;

	for (int i = 0; i < SPACE_SEARCH && lo < hi; i++) {
		at = lo + (hi - lo) / 2;
		r = bpf_map_lookup_elem(&er_ranges, &at);
		if (!r)
			return false;
		if (r->start <= pc)
			lo = at + 1;
		else
			hi = at;
	}
	at = lo - 1;
	r = lo > l->first ? bpf_map_lookup_elem(&er_ranges, &at) : NULL;
	if (!r || pc < r->start || pc >= r->end)
		return false;
	l->range = *r;
	return true;
}

static long on_vma(struct task_struct *task, struct vm_area_struct *vma, struct pc_lookup **ctx)
{
	struct pc_lookup *l = *ctx;
	struct file *file = vma->vm_file;

	l->range.start = vma->vm_start;
	l->range.end = vma->vm_end;
	l->range.frame = 0;
	l->has_file = file;
	if (!file)
		return 0;
	l->pgoff = vma->vm_pgoff << 12;
	l->inode.ino = file->f_inode->i_ino;
	l->inode.dev = file->f_inode->i_sb->s_dev;
	l->inode.pad = 0;
	return 0;
}

enum { EBUSY = 16 };

static __always_inline enum pc_found pc_ask_kernel(struct pc_lookup *l, __u64 pc)
{
	struct pc_lookup *ctx = l;
	struct er_inode key; /* 6.1 takes keys from the stack only */
	__u32 *file;
	long err;

	err = bpf_find_vma(bpf_get_current_task_btf(), pc, on_vma, &ctx, 0);
	if (err)
		return err == -EBUSY ? PC_BUSY : PC_NOWHERE;
	if (!l->has_file)
		return PC_FOUND;
	key = l->inode;
	file = bpf_map_lookup_elem(&er_inodes, &key);
	if (!file) {
		l->range.end = 0; /* the next pc there is as strange */
		return PC_STRANGE;
	}
	l->range.frame = er_frame(*file, l->pgoff);
	return PC_FOUND;
}

/* Find the mapping of `pc`, of the current process: l->range when it is PC_FOUND. */
__noinline int er_pc_find(struct pc_lookup *l, __u64 pc)
{
	if (!l)
		return PC_NOWHERE;
	if (pc_in_range(l, pc) || pc_in_space(l, pc))
		return PC_FOUND;
	return pc_ask_kernel(l, pc);
}

/* The frame of `ip`, in or at the end of the range that was found. */
static __always_inline __u64 pc_frame(const struct pc_lookup *l, __u64 ip)
{
	return l->range.frame ? l->range.frame + (ip - l->range.start) : ip;
}

#endif
