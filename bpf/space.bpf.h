/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns an address of a process into a file and an offset (bpf/frame.h). The kernel's tree of
 * mappings is searched first (bpf/vma.bpf.h). The result is kept as long as the process's mappings
 * do not change. While they change, and on kernels before 6.4, two others are tried: the ranges
 * that user space has published for the process, then bpf_find_vma(), which works once for each
 * sample in an interrupt.
 */
#ifndef SPACE_BPF_H
#define SPACE_BPF_H

#include "bpf/frame.h"
#include "bpf/vma.bpf.h"

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

/* The numbers of files that have a table. The key is what the kernel keeps for a mapping's file. */
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

enum {
	RANGES_KEPT = 8,
	FMODE_BACKING = 1 << 24 | 1 << 25, /* the second up to 6.13, then the first */
};

/* What is known about one process during one walk. `kept` is used by later walks, too. */
struct pc_lookup {
	struct er_range range; /* the last one found */
	__u32 first, n;        /* the ranges that user space published */
	__u64 pgoff;
	struct er_inode inode;
	struct er_inode shown; /* what user space sees in place of `inode`; zeros: the same */
	bool has_file, executable;
	struct mm_struct *mm;
	struct vma_state now;
	/* Ranges of the process `key`, valid while its mappings are in the state `state`. */
	struct er_space_key key;
	struct vma_state state;
	__u32 nkept;           /* found so far; a new one replaces the oldest */
	struct er_range kept[RANGES_KEPT];
	struct vma_search search;
};

static __always_inline void pc_keep_nothing(struct pc_lookup *l)
{
	l->state = l->now;
	l->nkept = 0;
	for (int i = 0; i < RANGES_KEPT; i++)
		l->kept[i].end = 0;
}

static __always_inline void pc_begin(struct pc_lookup *l, __u64 start_time, __u32 tgid,
				     __u32 exec_id, struct mm_struct *mm)
{
	struct er_space_key key = { .start_time = start_time, .tgid = tgid, .exec_id = exec_id };
	struct er_space *space = bpf_map_lookup_elem(&er_spaces, &key);

	l->range.start = l->range.end = 0;
	l->first = l->n = 0;
	if (space && space->tag == er_space_tag(&key)) {
		l->first = space->first;
		l->n = space->n;
	}
	l->mm = mm;
	if (!vma_can_search(mm))
		return;
	vma_state(mm, &l->now);
	if (l->key.start_time == start_time && l->key.tgid == tgid && l->key.exec_id == exec_id &&
	    l->state.mm == l->now.mm && l->state.seq == l->now.seq && !l->now.writer)
		return;
	l->key = key;
	pc_keep_nothing(l);
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

static __always_inline void inode_take(struct inode *inode, struct er_inode *ret)
{
	ret->ino = BPF_CORE_READ(inode, i_ino);
	ret->dev = BPF_CORE_READ(inode, i_sb, s_dev);
}

/*
 * A file of overlayfs is mapped as the file of the layer below it (struct backing_file). From
 * Linux 6.8 on /proc/PID/maps shows the overlay's inode, from 6.18 on mmap events do so, too.
 * The flag's bit has another meaning on other kernels. There `user_path` is behind the end of the
 * file, and what is read does not agree with itself.
 */
static __always_inline void backing_take(struct pc_lookup *l, struct file *file)
{
	struct backing_file *backing = (void *)file;
	struct dentry *dentry;
	struct inode *inode;

	if (!bpf_core_field_exists(backing->user_path) ||
	    !(BPF_CORE_READ(file, f_mode) & FMODE_BACKING))
		return;
	dentry = BPF_CORE_READ(backing, user_path.dentry);
	inode = BPF_CORE_READ(dentry, d_inode);
	if (BPF_CORE_READ(dentry, d_sb) == BPF_CORE_READ(inode, i_sb))
		inode_take(inode, &l->shown);
}

/*
 * Copy a mapping's fields into the look-up. The vdso has no file; it becomes inode 0 of device 0.
 */
static __always_inline void vma_take(struct pc_lookup *l, struct vm_area_struct *vma)
{
	struct file *file = BPF_CORE_READ(vma, vm_file);
	struct mm_struct *mm = l->mm;

	l->range.start = BPF_CORE_READ(vma, vm_start);
	l->range.end = BPF_CORE_READ(vma, vm_end);
	l->range.frame = 0;
	l->executable = !bpf_core_field_exists(vma->vm_flags) ||
			BPF_CORE_READ(vma, vm_flags) & VM_EXECUTABLE;
	l->pgoff = l->inode.ino = l->inode.dev = l->inode.pad = 0;
	l->shown.ino = l->shown.dev = l->shown.pad = 0;
	l->has_file = file || l->range.start == (__u64)BPF_CORE_READ(mm, context.vdso);
	if (!file)
		return;
	l->pgoff = BPF_CORE_READ(vma, vm_pgoff) << PAGE_BITS;
	inode_take(BPF_CORE_READ(file, f_inode), &l->inode);
	backing_take(l, file);
}

static long on_vma(struct task_struct *task, struct vm_area_struct *vma, struct pc_lookup **ctx)
{
	vma_take(*ctx, vma);
	return 0;
}

enum { EBUSY = 16 };

/* Find the mapping of `pc` with the lock. Sets l->range and the fields that vma_take() sets. */
static __always_inline enum pc_found pc_ask_locked(struct pc_lookup *l, __u64 pc)
{
	struct pc_lookup *ctx = l;
	long err = bpf_find_vma(bpf_get_current_task_btf(), pc, on_vma, &ctx, 0);

	return !err ? PC_FOUND : err == -EBUSY ? PC_BUSY : PC_NOWHERE;
}

static __always_inline enum pc_found pc_ask_tree(struct pc_lookup *l, __u64 pc)
{
	struct vm_area_struct *vma = NULL;

	if (l->now.writer && !vma_tree_has_rcu(l->mm))
		return PC_BUSY;
	vma = vma_search(&l->search, l->mm, pc);
	if (vma)
		vma_take(l, vma);
	if (!l->search.found || !vma_unchanged(l->mm, &l->now, vma))
		return PC_BUSY;
	return vma && pc_in_range(l, pc) ? PC_FOUND : PC_NOWHERE;
}

/* Put the number of its file into l->range. */
static __always_inline enum pc_found pc_number(struct pc_lookup *l)
{
	struct er_inode key; /* on 6.1 a key must be on the stack */
	__u32 *file = NULL;

	if (!l->executable)
		return PC_NOWHERE;
	if (!l->has_file)
		return PC_FOUND;
	key = l->shown;
	if (key.dev)
		file = bpf_map_lookup_elem(&er_inodes, &key);
	key = l->inode;
	if (!file)
		file = bpf_map_lookup_elem(&er_inodes, &key);
	if (!file)
		return PC_STRANGE;
	l->range.frame = er_frame(*file, l->pgoff);
	return PC_FOUND;
}

static __always_inline bool pc_in_kept(struct pc_lookup *l, __u64 pc)
{
	for (int i = 0; i < RANGES_KEPT; i++) {
		if (pc >= l->kept[i].start && pc < l->kept[i].end) {
			l->range = l->kept[i];
			return true;
		}
	}
	return false;
}

static __always_inline enum pc_found pc_find_in_tree(struct pc_lookup *l, __u64 pc)
{
	enum pc_found found;

	if (pc_in_kept(l, pc))
		return PC_FOUND;
	found = pc_ask_tree(l, pc);
	if (found == PC_FOUND)
		found = pc_number(l);
	if (found != PC_FOUND)
		l->range.end = 0;
	else if (!l->now.writer)
		l->kept[l->nkept++ % RANGES_KEPT] = l->range;
	return found;
}

/*
 * Another thread may have begun or ended to change mappings since the walk began. Then what was
 * found is still true for its frame, but later walks need what is true now.
 */
static __always_inline enum pc_found pc_find_in_tree_now(struct pc_lookup *l, __u64 pc)
{
	enum pc_found found = pc_find_in_tree(l, pc);

	if (found != PC_BUSY)
		return found;
	vma_state(l->mm, &l->now);
	pc_keep_nothing(l);
	return pc_find_in_tree(l, pc);
}

/* Find the mapping of `pc` in the current process. If the result is PC_FOUND, it is in l->range. */
__noinline int er_pc_find(struct pc_lookup *l, __u64 pc)
{
	enum pc_found found;

	if (!l)
		return PC_NOWHERE;
	if (pc_in_range(l, pc))
		return PC_FOUND;
	if (vma_can_search(l->mm)) {
		found = pc_find_in_tree_now(l, pc);
		return found == PC_BUSY && pc_in_space(l, pc) ? PC_FOUND : found;
	}
	if (pc_in_space(l, pc))
		return PC_FOUND;
	found = pc_ask_locked(l, pc);
	if (found == PC_FOUND)
		found = pc_number(l);
	if (found != PC_FOUND)
		l->range.end = 0;
	return found;
}

/* The frame for `ip`, which lies in the found range or at its end. */
static __always_inline __u64 pc_frame(const struct pc_lookup *l, __u64 ip)
{
	return l->range.frame ? l->range.frame + (ip - l->range.start) : ip;
}

#endif
