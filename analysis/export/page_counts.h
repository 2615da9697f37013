/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packets of the page that have no state: overflows of counters, hits of probes, traced calls
 * for memory and I/O, counts of locks. They are a second stream of events, so the page's filter
 * holds for them as well. An event adds to metrics; events that add to the same metrics in the same
 * way share a class. Calls for memory also have a number in page_heap.h; frees add to no metric.
 */
#ifndef EXPORT_PAGE_COUNTS_H
#define EXPORT_PAGE_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/vec.h"
#include "analysis/export/page_heap.h"
#include "analysis/export/page_subjects.h"

struct amount;
struct buf;
struct hit;
struct metric_set;
struct page_event;
struct view_state;

enum count_from { COUNT_ONE, COUNT_WEIGHT, COUNT_LENGTH }; /* 1, or a member of the event */

struct count_add {
	uint32_t metric; /* id in the metric set */
	uint32_t from;	 /* enum count_from */
};

enum { COUNT_ADDS = 6 };

struct count_class {
	struct count_add adds[COUNT_ADDS];
	uint32_t nadds;
	bool heap; /* the events are calls for memory */
	size_t n;  /* events */
};

/* A zeroed struct has no events. */
struct page_counts {
	/* By end. `weight` and `length` have values in the units of metrics; no other times are
	 * set. */
	VEC(struct page_event) all;
	VEC(struct count_class) classes;
	struct subjects subjects;
	struct page_heap heap;
	bool left_out; /* they take too much of the page */
};

/* Whether packets can add to a metric that is not a time by state. */
bool counts_possible(const struct metric_set *ms);
/*
 * Add what a packet adds to metrics, with the properties of `ev`; nothing if that is nothing and the
 * packet is no call for memory. There are several events if the packet has more than two different
 * numbers, or adds to many metrics.
 */
void page_counts_add(struct page_counts *c, const struct metric_set *ms, const struct hit *h,
		     struct page_event ev, const struct amount *amounts, size_t n);
/* Sort the events. Call it once, after the last one was added. */
void page_counts_sort(struct page_counts *c);
/*
 * Append the member `counts` of the index after a comma: number of events, metrics, classes, which
 * name metrics by their index in that list, and the indexes of classes of calls for memory. Nothing
 * if there are no events, or if they were left out.
 */
void put_counts(const struct page_counts *c, const struct view_state *v, struct buf *b);
void page_counts_free(struct page_counts *c);

#endif
