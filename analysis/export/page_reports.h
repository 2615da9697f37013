/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports of er_print that the page shows as they are, because it cannot compute them from its
 * events: the lengths of waits for locks, and what is known of the recording. They follow er_print's
 * filter, not the page's.
 */
#ifndef EXPORT_PAGE_REPORTS_H
#define EXPORT_PAGE_REPORTS_H

#include <stdbool.h>

#include "analysis/export/page_pack.h"

struct buf;
struct export;
struct page_events;

/* A report, compressed. */
struct made_report {
	size_t which; /* row of the table in page_reports.c */
	size_t nrows;
	struct packed pack;
};

/* A zeroed struct has none. */
struct made_reports {
	VEC(struct made_report) all;
};

/* Make those reports that depend on the recording and er_print's filter only. */
void make_fixed_reports(const struct export *x, struct made_reports *ret);
void made_reports_free(struct made_reports *made);

/*
 * Compress the other reports, the facts about each function of the tree, and the subjects of events: a pack
 * for each, so that the page reads only those that are looked at. Takes the packs of `fixed`, too. Appends the
 * names of all with the number of rows to `rows`, as members of a JSON object. Release with free_packs. has_heap:
 * the page has the calls of page_heap.h.
 */
void make_reports(const struct export *x, const struct page_events *events, bool has_heap, struct made_reports *fixed,
		  packed_vec *ret, struct buf *rows);

#endif
