/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The index of the page: names, threads, the call tree and the overview of the timeline. The
 * page can be drawn and used from it before any event is decoded.
 */
#ifndef EXPORT_PAGE_INDEX_H
#define EXPORT_PAGE_INDEX_H

#include <stdint.h>

struct buf;
struct export;
struct pack;
struct page_events;

/* The range that the page shows: the whole recordings, and all events. In microseconds. */
void page_range(const struct export *x, const struct page_events *events, int64_t *begin,
		int64_t *end);
/* Append the findings under er_print's filter, as an array of JSON. `error` is null if the figure is exact. */
void put_findings(const struct export *x, struct buf *b);
/* Append the sections of the index. */
void make_index(const struct export *x, const struct page_events *events, const struct buf *findings, struct pack *ret);

#endif
