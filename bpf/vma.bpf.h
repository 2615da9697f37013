/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds a mapping of the current process in the kernel's own tree (mm->mm_mt, a maple tree). The
 * tree is read without its lock, so this works in every context and any number of times.
 * bpf_find_vma() takes the lock, which works only once in an interrupt.
 *
 * What is found counts only if it cannot have changed meanwhile, as with the kernel's own look-ups
 * without the lock (lock_vma_under_rcu, from 6.4 on). One of these must hold:
 *
 * 	no writer held mmap_lock before and after, and the number that each writer increments
 * 	(mm_lock_seq) is the same;
 * 	the writer is the current thread, which this program has interrupted;
 * 	the writer is another thread, and has not marked the mapping (vm_lock_seq).
 *
 * With a writer the tree must be one for readers under RCU. A node that was freed while it was read
 * is garbage, but reading it does no harm.
 */
#ifndef VMA_BPF_H
#define VMA_BPF_H

#include "bpf/er.bpf.h"

enum {
	MAPLE_NODE_MASK = 255, /* nodes are aligned; the bits below hold the type */
	MAPLE_TYPE_SHIFT = 3,
	MAPLE_TYPE_MASK = 15,
	MAPLE_LEAF_64 = 1,
	MAPLE_RANGE_64 = 2,
	MAPLE_ARANGE_64 = 3,
	MAPLE_PIVOTS = 15,     /* of a leaf or range node */
	MAPLE_APIVOTS = 9,
	MAPLE_LEVELS = 12,     /* more than any process has */
	PAGE_BITS = 12,
	MAPLE_USE_RCU = 2,     /* MT_FLAGS_USE_RCU */
	RWSEM_WRITER = 1,      /* in the count */
	RWSEM_FLAGS = 7,       /* in the owner */
	VM_EXECUTABLE = 4,
	VM_PFNS = 0x400,       /* VM_PFNMAP */
	VM_DEVICE = 0x4000,    /* VM_IO */
};

/* File systems that ask no other program for a page. */
enum {
	FS_EXT4 = 0xef53,
	FS_TMPFS = 0x01021994,
	FS_XFS = 0x58465342,
	FS_SQUASH = 0x73717368,
};
#define FS_BTRFS 0x9123683eU /* too large for an enum */
#define FS_F2FS 0xf2f52010U
#define FS_EROFS 0xe0f5e1e2U

static __always_inline bool fs_is_kernels(__u64 magic)
{
	return magic == FS_EXT4 || magic == FS_TMPFS || magic == FS_XFS || magic == FS_SQUASH ||
	       magic == FS_BTRFS || magic == FS_F2FS || magic == FS_EROFS;
}

/* A mapping that bpf_find_vma() has found, and what is asked of it. */
struct vma_found {
	__u64 vma;  /* its address; valid while the kernel calls back */
	__u64 end;  /* it must not end before; 0: anywhere */
	bool runs;  /* it may be code of a file */
	bool yes;   /* the answer */
};

/*
 * Whether the pages of a mapping come from the kernel alone. A page may also have to come from a
 * file system in user space, from a server, or from the program that has the mapping's userfaultfd:
 * they may never answer. A mapping of overlayfs has the file below. A function of its own: the
 * verifier follows each call back, and would follow it through all the outcomes of this.
 */
__noinline int er_vma_is_kernels(struct vma_found *found)
{
	struct vm_area_struct *vma;
	__u64 flags;
	bool file;

	if (!found)
		return 0;
	vma = (void *)found->vma;
	flags = BPF_CORE_READ(vma, vm_flags);
	file = BPF_CORE_READ(vma, vm_file);
	if (flags & (VM_DEVICE | VM_PFNS) || found->end > BPF_CORE_READ(vma, vm_end))
		return 0;
	if (file && flags & VM_EXECUTABLE && !found->runs)
		return 0;
	if (bpf_core_field_exists(vma->vm_userfaultfd_ctx) &&
	    BPF_CORE_READ(vma, vm_userfaultfd_ctx.ctx))
		return 0;
	return !file || fs_is_kernels(BPF_CORE_READ(vma, vm_file, f_inode, i_sb, s_magic));
}

static long vma_look(struct task_struct *p, struct vm_area_struct *vma, struct vma_found *found)
{
	found->vma = (__u64)vma;
	found->yes = er_vma_is_kernels(found);
	return 0;
}

/*
 * Whether memory of a thread, from `at` to `end`, can be read without waiting for another program.
 * bpf_find_vma() fails if the lock of the address space is not free; a program can hold it for ever.
 */
static __always_inline bool vma_may_be_read(struct task_struct *p, __u64 at, __u64 end, bool runs)
{
	struct vma_found found = { .end = end, .runs = runs };

	return !bpf_find_vma(p, at, vma_look, &found, 0) && found.yes;
}

/* The state of an address space: equal states have equal mappings. */
struct vma_state {
	__u64 mm;
	__u32 seq;
	bool writer; /* a writer holds the lock, */
	bool own;    /* the current thread */
};

struct vma_search {
	__u64 at;     /* an entry of the tree: a node with its type; at the end the mapping */
	__u64 max;    /* last address that the entry covers */
	__u64 page;   /* that is searched for */
	__u64 parent; /* of a node; here because the BPF stack is full */
	__u64 pivots[MAPLE_PIVOTS + 1];
	bool found;   /* `at` is the mapping, or 0: there is none */
};

static __always_inline bool vma_can_search(struct mm_struct *mm)
{
	return (bpf_core_field_exists(mm->mm_lock_seq) ||
		bpf_core_field_exists(((struct mm_struct___int *)mm)->mm_lock_seq)) &&
	       bpf_core_field_exists(mm->mmap_lock.count) && bpf_core_field_exists(mm->mm_mt);
}

static __always_inline void vma_state(struct mm_struct *mm, struct vma_state *s)
{
	struct mm_struct___int *older = (void *)mm;
	__u64 count = RWSEM_WRITER, owner = 0;

	s->mm = (__u64)mm;
	s->seq = 0;
	bpf_core_read(&count, sizeof(count), &mm->mmap_lock.count);
	bpf_core_read(&owner, sizeof(owner), &mm->mmap_lock.owner);
	if (bpf_core_field_exists(mm->mm_lock_seq))
		bpf_core_read(&s->seq, sizeof(s->seq), &mm->mm_lock_seq);
	else
		bpf_core_read(&s->seq, sizeof(s->seq), &older->mm_lock_seq);
	s->writer = count & RWSEM_WRITER;
	s->own = s->writer && (owner & ~(__u64)RWSEM_FLAGS) == bpf_get_current_task();
}

static __always_inline bool vma_tree_has_rcu(struct mm_struct *mm)
{
	return BPF_CORE_READ(mm, mm_mt.ma_flags) & MAPLE_USE_RCU;
}

/*
 * True if no writer can have changed `vma` since the state `before`. NULL: no writer can have added
 * a mapping.
 */
static __always_inline bool vma_unchanged(struct mm_struct *mm, const struct vma_state *before,
					  struct vm_area_struct *vma)
{
	struct vm_area_struct___int *older = (void *)vma;
	struct vma_state now;
	__u32 mark = 0;

	vma_state(mm, &now);
	if (before->seq != now.seq || before->writer != now.writer)
		return false;
	if (!now.writer || now.own)
		return true;
	if (!vma)
		return false;
	if (bpf_core_field_exists(vma->vm_lock_seq))
		bpf_core_read(&mark, sizeof(mark), &vma->vm_lock_seq);
	else
		bpf_core_read(&mark, sizeof(mark), &older->vm_lock_seq);
	return mark != now.seq && BPF_CORE_READ(vma, vm_mm) == mm;
}

/* The number of pivots in use in a node, computed as by ma_data_end() in lib/maple_tree.c. */
static __always_inline __u32 maple_end(const struct vma_search *s, __u64 node, bool arange)
{
	struct maple_arange_64 *a = (void *)node;
	struct maple_range_64 *r = (void *)node;
	__u64 last = s->pivots[MAPLE_PIVOTS - 1];
	__u8 end = 0;

	if (arange)
		bpf_core_read(&end, sizeof(end), &a->meta.end);
	else if (last)
		return last == s->max ? MAPLE_PIVOTS - 1 : MAPLE_PIVOTS;
	else
		bpf_core_read(&end, sizeof(end), &r->meta.end);
	return end & 15;
}

/*
 * The number of pivots below the page, among the first `end`. Without branches, for the verifier.
 */
static __always_inline __u32 maple_slot(const struct vma_search *s, __u64 end)
{
	__u64 n = 0;

#pragma unroll
	for (__u64 i = 0; i < MAPLE_PIVOTS; i++)
		n += ((s->pivots[i] >> PAGE_BITS) - s->page) >> 63 & (i - end) >> 63;
	return n;
}

/* Go one level down. Returns nonzero at the last level. */
__noinline int er_maple_down(struct vma_search *s)
{
	__u64 node = s ? s->at & ~(__u64)MAPLE_NODE_MASK : 0, slots;
	__u32 type = s ? s->at >> MAPLE_TYPE_SHIFT & MAPLE_TYPE_MASK : 0, end, n;
	struct maple_arange_64 *a = (void *)node;
	struct maple_range_64 *r = (void *)node;
	bool arange = type == MAPLE_ARANGE_64;

	if (!s || (!arange && type != MAPLE_RANGE_64 && type != MAPLE_LEAF_64))
		return 1;
	s->parent = node;
	bpf_core_read(&s->parent, sizeof(s->parent), &r->parent);
	if ((s->parent & ~(__u64)MAPLE_NODE_MASK) == node) /* dead */
		return 1;
	if (arange)
		bpf_core_read(s->pivots, MAPLE_APIVOTS * 8, &a->pivot);
	else
		bpf_core_read(s->pivots, MAPLE_PIVOTS * 8, &r->pivot);
	end = maple_end(s, node, arange);
	n = maple_slot(s, end);
	slots = arange ? bpf_core_field_offset(a->slot) : bpf_core_field_offset(r->slot);
	if (bpf_probe_read_kernel(&s->at, sizeof(s->at), (void *)(node + slots + 8 * n)))
		return 1;
	if (n < end)
		s->max = s->pivots[n & 15];
	s->found = type == MAPLE_LEAF_64;
	return s->found;
}

static long maple_level(__u32 level, struct vma_search **s)
{
	return er_maple_down(*s) != 0;
}

/*
 * Find the mapping of `pc`; s->found says whether there is one. Read its fields before
 * vma_unchanged().
 */
static __always_inline struct vm_area_struct *vma_search(struct vma_search *s,
							 struct mm_struct *mm, __u64 pc)
{
	struct vma_search *ctx = s;
	__u64 root = (__u64)BPF_CORE_READ(mm, mm_mt.ma_root);

	s->found = false;
	s->page = pc >> PAGE_BITS;
	s->max = ~0ULL;
	s->at = root;
	if ((root & 3) == 2)
		bpf_loop(MAPLE_LEVELS, maple_level, &ctx, 0);
	if (s->found && s->at & 3)
		s->found = false;
	return s->found ? (struct vm_area_struct *)s->at : NULL;
}

#endif
