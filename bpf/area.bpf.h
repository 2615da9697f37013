/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Since Linux 6.0 a program at a breakpoint can be preempted by another thread's on the same CPU. So
 * each CPU has several areas to walk stacks in, and a hit takes a free one.
 */
#ifndef AREA_BPF_H
#define AREA_BPF_H

#include "bpf/er_event.h"

/* Reserve an area; `busy` has a bit for each that is in use. Returns its number; -1: all are in use. */
static __always_inline int area_claim(__u64 *busy)
{
	for (int i = 0; i < ER_PROBE_AREAS; i++)
		if (!(__sync_fetch_and_or(busy, 1ULL << i) & 1ULL << i))
			return i;
	return -1;
}

static __always_inline void area_release(__u64 *busy, int area)
{
	__sync_fetch_and_and(busy, ~(1ULL << (area & 63)));
}

#endif
