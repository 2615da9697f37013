/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses allocations at random so that each byte has the same chance (-H sampled): the distances
 * between sample points, in bytes that a thread allocates, are exponential with mean
 * HEAP_SAMPLE_BYTES. A block of `size` bytes is chosen with probability 1 - exp(-size / mean). A
 * free is recorded if its block was chosen.
 */
#ifndef USER_PRELOAD_HEAP_SAMPLE_H
#define USER_PRELOAD_HEAP_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/preload/heap_client.h"

/* The thread has used up the distance. Returns whether a point was inside the last `size` bytes. */
bool heap_sample_passed(struct heap_thread *t, size_t size);

static inline bool heap_sample(struct heap_thread *t, size_t size)
{
	t->distance -= size;
	return t->distance < 0 && heap_sample_passed(t, size);
}

/* Remember a chosen block. False: too many are remembered. */
bool heap_sample_keep(const void *block);
bool heap_sample_find(const void *block);

/* How many chosen blocks have this hash; nearly always 0. */
extern uint16_t heap_sample_filter[1 << 16];

/* Whether the block was chosen. It is forgotten. */
static inline bool heap_sample_forget(const void *block)
{
	uint64_t hash = ((uintptr_t)block >> 4) * 0x9e3779b97f4a7c15 >> 48;

	return __atomic_load_n(&heap_sample_filter[hash], __ATOMIC_RELAXED) && heap_sample_find(block);
}

#endif
