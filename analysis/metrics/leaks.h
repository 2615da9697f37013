/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which allocations were never freed. A leak is an allocation without a
 * matching free, whether or not something still points to it (M-076). Packets
 * are matched in order of time, each experiment by itself: another process has
 * other memory. A realloc frees what it was given and allocates anew; of a
 * mapping that was unmapped in part the rest is a leak.
 */
#ifndef METRICS_LEAKS_H
#define METRICS_LEAKS_H

#include <stddef.h>
#include <stdint.h>

struct exp_stream;
struct experiment;
struct map;
struct packet;
struct session;

/* Field HTYPE; values are gprofng's and on disk. */
enum heap_type { HEAP_MALLOC, HEAP_FREE, HEAP_REALLOC, HEAP_MMAP, HEAP_MUNMAP };

/* How much memory an experiment had allocated at most. */
struct heap_peak {
	const struct experiment *e;
	uint64_t bytes;
	int64_t time_ns; /* relative to the founder's start, when that was reached first */
};

struct leaks;

/* NULL when no heap data were recorded. Valid as long as the session's experiments are. */
struct leaks *leaks_new(const struct session *s);
void leaks_free(struct leaks *l);
/* The bytes of an allocation's packet that were never freed; 0: all were. l may be NULL. */
uint64_t leaks_of(const struct leaks *l, const struct packet *p);
/* By experiment, of those with heap data. */
const struct heap_peak *leaks_peaks(const struct leaks *l, size_t *n);
/*
 * The highest peak of any experiment, of what these packets allocated (keys: their addresses,
 * as in struct packet); of equal ones the last experiment's. ret->e is NULL where they had none.
 */
void leaks_peak_among(const struct session *s, const struct map *packets, struct heap_peak *ret);

#endif
