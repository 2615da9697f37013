/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocations that were never freed. An allocation without a matching free is a leak,
 * even if something still points to it. Packets are matched in order of time,
 * separately for each experiment, as processes have separate memory. A realloc frees
 * the old block and allocates a new one. If a mapping was unmapped in part, the rest is
 * a leak.
 *
 * A temporary allocation is freed by the thread that made it, with no other allocation of this thread
 * in between.
 */
#ifndef METRICS_LEAKS_H
#define METRICS_LEAKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/vec.h"

struct exp_stream;
struct experiment;
struct map;
struct packet;
struct session;

/* Field HTYPE. The values are gprofng's and on disk. */
enum heap_type { HEAP_MALLOC, HEAP_FREE, HEAP_REALLOC, HEAP_MMAP, HEAP_MUNMAP };

/* The highest amount of memory that an experiment had allocated. */
struct heap_peak {
	const struct experiment *e;
	uint64_t bytes;
	int64_t time_ns; /* when first reached; since the origin's start */
};

struct leaks;

/*
 * NULL if no heap data were recorded. Valid as long as the session's experiments. Free
 * with leaks_free.
 */
struct leaks *leaks_new(const struct session *s);
void leaks_free(struct leaks *l);
/* The bytes of an allocation's packet that were never freed; 0: none. l may be NULL. */
uint64_t leaks_of(const struct leaks *l, const struct packet *p);
/* Whether it is a temporary allocation. Unknown, and false, if the heap was sampled. */
bool leaks_temporary(const struct leaks *l, const struct packet *p);
/*
 * How many frees were of blocks whose allocation was not recorded, as of a process that ran before. Of a
 * sampled heap they are not known, and do not count.
 */
uint64_t leaks_unknown_frees(const struct leaks *l);
/* Whether the heap of an experiment was sampled, so that sums of bytes are estimates. */
bool leaks_sampled(const struct session *s);
/*
 * The variance, in bytes squared, that a sampled allocation adds to a sum: it is one of the recorded ones
 * by chance (Horvitz and Thompson, 1952). `size` is its HSIZE: its own bytes, divided by the probability that
 * it was recorded. 0 if all allocations were recorded.
 */
double leaks_variance(const struct exp_stream *st, enum heap_type type, uint64_t size);

/* A change of the memory in use. */
struct heap_change {
	int64_t time_ns; /* since the origin's start */
	int64_t bytes;
	double variance;
};

typedef VEC(struct heap_change) heap_changes;

/*
 * All changes in the session, in order of time; free with vec_free. The memory of a descendant is no
 * longer in use when it has ended. If `packets` is not NULL, only these allocations and frees count.
 */
void leaks_changes(const struct session *s, const struct map *packets, heap_changes *ret);
/* The peaks of all experiments with heap data. */
const struct heap_peak *leaks_peaks(const struct leaks *l, size_t *n);
/*
 * The highest peak in any experiment of memory allocated by these packets (keys are
 * addresses, as in struct packet). Of equal peaks the last experiment's is taken.
 * ret->e is NULL if there is none.
 */
void leaks_peak_among(const struct session *s, const struct map *packets, struct heap_peak *ret);

/* A block in use: its allocation's packet, as the keys of leaks_peak_among, and the bytes in use. */
struct heap_block {
	uintptr_t packet;
	uint64_t bytes;
	double variance;
};

typedef VEC(struct heap_block) heap_blocks;

/*
 * leaks_peak_among, and the blocks that were in use at the peak. Their bytes add up to the peak. If
 * `packets` is NULL all packets count. Free the blocks with vec_free.
 */
void leaks_at_peak(const struct session *s, const struct map *packets, struct heap_peak *peak, heap_blocks *ret);

#endif
