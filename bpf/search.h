/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Binary search without a branch that depends on what is found: the verifier would follow both sides of it, in each
 * round again. Also in user space, for the walker that both have.
 */
#ifndef ER_SEARCH_H
#define ER_SEARCH_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/* What a search still has to look at: [lo, hi). */
struct search {
	__u32 lo, hi;
};

static inline __u32 search_middle(const struct search *s)
{
	return s->lo + (s->hi - s->lo) / 2;
}

/*
 * The entry in the middle has this key. If that is `wanted` or less, go on above it, else below. In the end lo is the
 * number of the first entry whose key is greater.
 */
static inline void search_step(struct search *s, __u64 key, __u64 wanted)
{
	/* The highest bit: whether wanted - key borrows, that is, whether the key is greater. */
	__u64 greater = (~wanted & key) | (~(wanted ^ key) & (wanted - key));
	__u32 middle = search_middle(s), up;

	asm volatile("" : "+r"(greater)); /* otherwise the compiler makes a branch of it */
	up = (__u32)(greater >> 63) - 1;
	s->lo += (middle + 1 - s->lo) & up;
	s->hi -= (s->hi - middle) & ~up;
}

#endif
