/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses allocations at random (-H sampled), by the rule of user/preload/heap_sample.h: the distances
 * between sample points, in bytes that a thread allocates, are exponential. Chosen blocks are remembered
 * until they are freed. Blocks of processes that have ended are removed by the loader.
 */
#ifndef HEAP_SAMPLE_BPF_H
#define HEAP_SAMPLE_BPF_H

#include "bpf/heap.h"

struct heap_distance {
	__s64 bytes; /* to the next sample point */
	bool drawn;  /* it is set */
};

enum { EEXIST = 17 };

/* Sampled blocks that are not freed yet. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct er_heap_block);
	__type(value, __u8);
} er_heap_kept SEC(".maps");

const volatile __u32 er_heap_mean; /* bytes between sample points; 0: all events are recorded */
__u32 er_heap_nkept; /* blocks in er_heap_kept */

enum { FRACTION_BITS = 20, LN2 = 726817 /* of 1 << FRACTION_BITS */ };

/* The logarithm to the base 2, in units of 1 / (1 << FRACTION_BITS); x is not 0. */
static __always_inline __u64 log2_of(__u32 x)
{
	__u64 m = x, ret = 31 << FRACTION_BITS;

	for (int i = 0; i < 31 && !(m & 1ULL << 31); i++) {
		m <<= 1;
		ret -= 1 << FRACTION_BITS;
	}
	for (int i = FRACTION_BITS - 1; i >= 0; i--) {
		m = m * m >> 31;
		if (m >> 32) {
			m >>= 1;
			ret += 1 << i;
		}
	}
	return ret;
}

/* An exponential distance: -mean ln(u), u uniform in (0, 1]. */
static __noinline __u64 next_distance(void)
{
	__u32 u = bpf_get_prandom_u32();
	__u64 bits = (32ULL << FRACTION_BITS) - log2_of(u ? u : 1);

	return (bits * LN2 >> FRACTION_BITS) * er_heap_mean >> FRACTION_BITS;
}

/* Whether a sample point is inside the block. */
static __always_inline bool heap_chosen(struct heap_distance *d, __u64 size)
{
	if (!d->drawn) {
		d->drawn = true;
		d->bytes = next_distance();
	}
	if (size <= (__u64)d->bytes) {
		d->bytes -= size;
		return false;
	}
	d->bytes = next_distance(); /* the distribution has no memory */
	return true;
}

static __always_inline struct er_heap_block block_of(__u64 address)
{
	struct task_struct *p = bpf_get_current_task_btf();

	return (struct er_heap_block){ .address = address, .tgid = p->tgid, .exec = p->self_exec_id };
}

/* Remember a chosen block. False: too many are remembered. */
static __noinline bool heap_keep(__u64 address)
{
	struct er_heap_block b = block_of(address);
	__u8 one = 1;
	long err = bpf_map_update_elem(&er_heap_kept, &b, &one, BPF_NOEXIST);

	if (err)
		return err == -EEXIST;
	__sync_fetch_and_add(&er_heap_nkept, 1);
	return true;
}

/* Whether the block was chosen. It is forgotten. */
static __noinline bool heap_forget(__u64 address)
{
	struct er_heap_block b = block_of(address);

	if (!er_heap_mean)
		return true;
	if (bpf_map_delete_elem(&er_heap_kept, &b))
		return false;
	__sync_fetch_and_sub(&er_heap_nkept, 1);
	return true;
}

#endif
