/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The largest part of the page: the events, as packs of columns. */
#ifndef EXPORT_PAGE_COLUMNS_H
#define EXPORT_PAGE_COLUMNS_H

#include "analysis/export/page_pack.h"

struct page_events;

/* Compress all events, on all CPUs. Release with packs_free. */
void make_columns(const struct page_events *events, packed_vec *ret);
/* The same for the events of page_counts.h. */
void make_count_columns(const struct page_events *events, packed_vec *ret);
/* The same for what the page reads when it is first needed: the places of stacks. */
void make_later_columns(const struct page_events *events, packed_vec *ret);

#endif
