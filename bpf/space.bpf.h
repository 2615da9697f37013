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
#include "bpf/search.h"
#include "bpf/unwind.h"
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

/* Unwind tables by file number. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct er_unwind_file);
} er_files SEC(".maps");

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
	RANGES_KEPT = 8, /* of a process, */
	SPACES_KEPT = 16, /* and of how many; a power of two */
	FMODE_BACKING = 1 << 24 | 1 << 25, /* the second up to 6.13, then the first */
};

/* Ranges of the process `key` that walks found; valid while its mappings are in this state. */
struct space_kept {
	struct er_space_key key;
	struct vma_state state;
	__u32 generation;  /* of file 0: since then no number belongs to another file */
	__u32 n;           /* found so far; a new one replaces the oldest */
	struct er_range ranges[RANGES_KEPT];
};

/* What is known about one process during one walk. `spaces` are for later walks. */
struct pc_lookup {
	struct er_range range; /* the last one found */
	__u32 first, n;        /* the ranges that user space published */
	__u64 pgoff;
	struct er_inode inode;
	struct er_inode shown; /* what user space sees in place of `inode`; zeros: the same */
	bool has_file, executable;
	struct mm_struct *mm;
	struct vma_state now;
	struct er_space_key key; /* of this process */
	__u32 slot;            /* of this process in `spaces` */
	struct space_kept spaces[SPACES_KEPT];
	struct vma_search search;
};

static __always_inline struct space_kept *space_kept(struct pc_lookup *l)
{
	return &l->spaces[l->slot & (SPACES_KEPT - 1)];
}

static __always_inline void pc_keep_nothing(struct pc_lookup *l, struct space_kept *k)
{
	k->state = l->now;
	k->n = 0;
	for (int i = 0; i < RANGES_KEPT; i++)
		k->ranges[i].end = 0;
}

static __always_inline __u32 files_generation(void)
{
	__u32 none = 0;
	const struct er_unwind_file *f = bpf_map_lookup_elem(&er_files, &none);

	return f ? f->generation : 0;
}

/* Select what is kept of the process, if that is still true; otherwise begin anew. */
static __always_inline void space_select(struct pc_lookup *l, const struct er_space_key *key)
{
	__u32 generation = files_generation();
	struct space_kept *k;

	l->slot = (key->tgid * 0x9e3779b1U) >> 28;
	k = space_kept(l);
	if (k->key.start_time == key->start_time && k->key.tgid == key->tgid &&
	    k->key.exec_id == key->exec_id && k->state.mm == l->now.mm &&
	    k->state.seq == l->now.seq && k->generation == generation && !l->now.writer)
		return;
	k->key = *key;
	k->generation = generation;
	pc_keep_nothing(l, k);
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
	l->key = key;
	if (!vma_can_search(mm))
		return;
	vma_state(mm, &l->now);
	space_select(l, &key);
}

static __always_inline bool pc_in_range(const struct pc_lookup *l, __u64 pc)
{
	return pc >= l->range.start && pc < l->range.end;
}

/* The last of the ranges that begins at or below pc. */
static __always_inline bool pc_in_space(struct pc_lookup *l, __u64 pc)
{
	struct search s = { l->first, l->first + l->n };
	struct er_range *r;
	__u32 at;

	for (int i = 0; i < SPACE_SEARCH && s.lo < s.hi; i++) {
		at = search_middle(&s);
		r = bpf_map_lookup_elem(&er_ranges, &at);
		if (!r)
			return false;
		search_step(&s, r->start, pc);
	}
	at = s.lo - 1;
	r = s.lo > l->first ? bpf_map_lookup_elem(&er_ranges, &at) : NULL;
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
	const struct space_kept *k = space_kept(l);

	for (int i = 0; i < RANGES_KEPT; i++) {
		if (pc >= k->ranges[i].start && pc < k->ranges[i].end) {
			l->range = k->ranges[i];
			return true;
		}
	}
	return false;
}

static __always_inline void pc_keep(struct pc_lookup *l)
{
	struct space_kept *k = space_kept(l);

	k->ranges[k->n++ % RANGES_KEPT] = l->range;
}

/* Returns enum pc_found. */
__noinline int er_pc_in_tree(struct pc_lookup *l, __u64 pc)
{
	enum pc_found found;

	if (!l || !vma_can_search(l->mm)) /* the verifier sees this function by itself */
		return PC_NOWHERE;
	if (pc_in_kept(l, pc))
		return PC_FOUND;
	found = pc_ask_tree(l, pc);
	if (found == PC_FOUND)
		found = pc_number(l);
	if (found != PC_FOUND)
		l->range.end = 0;
	else if (!l->now.writer)
		pc_keep(l);
	return found;
}

/*
 * Another thread may have begun or ended to change mappings since the walk began. Then what was
 * found is still true for its frame, but later walks need what is true now.
 */
static __always_inline enum pc_found pc_find_in_tree_now(struct pc_lookup *l, __u64 pc)
{
	enum pc_found found = er_pc_in_tree(l, pc);

	if (found != PC_BUSY)
		return found;
	vma_state(l->mm, &l->now);
	pc_keep_nothing(l, space_kept(l));
	return er_pc_in_tree(l, pc);
}

/* Find the mapping of `pc` in the current process. If the result is PC_FOUND, it is in l->range. */
__noinline int er_pc_find(struct pc_lookup *l, __u64 pc)
{
	enum pc_found found = PC_BUSY;

	if (!l)
		return PC_NOWHERE;
	if (pc_in_range(l, pc))
		return PC_FOUND;
	if (vma_can_search(l->mm))
		found = pc_find_in_tree_now(l, pc);
	if (found != PC_BUSY)
		return found;
	if (pc_in_space(l, pc))
		return PC_FOUND;
	if (vma_can_search(l->mm))
		return PC_BUSY;
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
