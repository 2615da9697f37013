/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls for memory. How much memory was in use depends on which calls count, so the page
 * needs all of them, frees as well, to say it under its own filter (analysis/metrics/leaks.h).
 */
#ifndef EXPORT_PAGE_HEAP_H
#define EXPORT_PAGE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/vec.h"
#include "analysis/experiment/exp_packets.h"

struct experiment;
struct hit;
struct leaks;
struct pack;
struct view_state;

/* A call, as its packet has it. */
struct heap_call {
	int64_t time_ns;
	uint64_t size, addr, old_addr;
	uint32_t stream, order; /* index into streams; place in the stream */
	uint8_t type;		/* enum heap_type; above: unknown, and without effect */
	bool temporary;		/* leaks.h */
};

/* The calls of one experiment. */
struct heap_stream {
	const struct experiment *e;
	const struct exp_stream *stream;
	struct field_ref type, size, addr, old_addr;
	size_t n;
};

/* A zeroed struct has no calls. */
struct page_heap {
	VEC(struct heap_call) calls;
	VEC(struct heap_stream) streams;
	uint64_t bytes; /* sum of sizes */
	bool too_large; /* numbers that the page would round */
	uint32_t *rank; /* by number - 1: the number after sorting */
};

/* Add the packet's call. Returns its number, from 1; 0 for a packet of another kind. */
uint32_t page_heap_add(struct page_heap *ph, const struct leaks *l, const struct hit *h);
/* Sort the calls of each stream by time, as they happened. Numbers change to those in `rank`. */
void page_heap_sort(struct page_heap *ph);
/* Whether the page can compute from these calls; it cannot if there are none. */
bool page_heap_usable(const struct page_heap *ph);
/* Append the pack's sections. */
void put_heap(const struct page_heap *ph, const struct view_state *v, struct pack *ret);
void page_heap_free(struct page_heap *ph);

#endif
