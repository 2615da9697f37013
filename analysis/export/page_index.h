/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The index of the page: names, threads, the call tree and the overview of the timeline. The
 * page can be drawn and used from it before any event is decoded.
 */
#ifndef EXPORT_PAGE_INDEX_H
#define EXPORT_PAGE_INDEX_H

#include <stdbool.h>

struct export;
struct outfile;
struct page_events;

/* Write the index. Returns whether all writes to the file went well so far. */
bool put_index(const struct export *x, const struct page_events *events, struct outfile *out);

#endif
