/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The index of the page: names, threads, the call tree and the overview of the timeline. The
 * page can be drawn and used from it before any event is decoded.
 */
#ifndef EXPORT_PAGE_INDEX_H
#define EXPORT_PAGE_INDEX_H

#include <stdint.h>

struct export;
struct pack;
struct page_events;

/* The range that the page shows: the whole recordings, and all events. In microseconds. */
void page_range(const struct export *x, const struct page_events *events, int64_t *begin,
		int64_t *end);
/* Append the sections of the index. */
void make_index(const struct export *x, const struct page_events *events, struct pack *ret);

#endif
