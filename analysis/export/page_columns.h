/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The largest part of the page: the events, as packs of columns. */
#ifndef EXPORT_PAGE_COLUMNS_H
#define EXPORT_PAGE_COLUMNS_H

#include <stdbool.h>

struct outfile;
struct page_events;

/* Write all events. Returns whether all writes to the file went well so far. */
bool put_columns(const struct page_events *events, struct outfile *out);

#endif
