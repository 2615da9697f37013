/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The largest part of the page: the events, as packs of columns. */
#ifndef EXPORT_PAGE_COLUMNS_H
#define EXPORT_PAGE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/base/vec.h"
#include "analysis/export/page_pack.h"

struct outfile;
struct page_events;

typedef VEC(struct packed) packed_vec;

/* Compress all events, on all CPUs. Release with free_columns. */
void make_columns(const struct page_events *events, packed_vec *ret);
/* The room that they take in the page. */
size_t columns_room(const packed_vec *packs);
/* Write and free them. Returns whether all writes to the file went well so far. */
bool put_columns(packed_vec *packs, struct outfile *out);
void free_columns(packed_vec *packs);

#endif
