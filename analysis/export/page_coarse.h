/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the timeline of a page coarser where it is oldest and quietest, so that the page has fewer
 * events. The time is divided into slices. In a coarse range, which has one or more slices, events
 * that differ only in time and length become one event with the sum of their times. Sums stay exact
 * under every filter, if the filter's range begins and ends at edges of coarse ranges.
 */
#ifndef EXPORT_PAGE_COARSE_H
#define EXPORT_PAGE_COARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/vec.h"

struct pack;
struct page_events;

enum { COARSE_SLICES = 256 };

struct coarse_range {
	int64_t from, to; /* microseconds; events that end at `from` or later, before `to` */
};

/* The state of coarsening. Begin with zeros and the times of the page's index. */
struct page_coarse {
	int64_t begin, end;
	unsigned char level[COARSE_SLICES]; /* 0: as recorded; n: in a range of 4^(n - 1) slices */
	VEC(struct coarse_range) ranges;    /* in order of time */
};

/*
 * Coarsen until there are at most so many events. May be called again with a smaller number.
 * Returns whether that was possible.
 */
bool page_coarsen(struct page_coarse *c, struct page_events *events, size_t most);
/* Append the section "crse" of the index. */
void put_coarse(struct pack *p, const struct page_coarse *c, const struct page_events *events);
void page_coarse_free(struct page_coarse *c);

#endif
