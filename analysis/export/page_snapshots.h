/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The exact states of threads between two usage samples, for the page: what exact_states of
 * er_print shows of any range that begins and ends at usage samples. docs/howto-page.md describes the
 * packs "snaps" and the sections of the index.
 */
#ifndef EXPORT_PAGE_SNAPSHOTS_H
#define EXPORT_PAGE_SNAPSHOTS_H

#include <stddef.h>

#include "analysis/export/page_pack.h"

struct export;
struct page_events;

/*
 * Append the sections of the index, and make the packs. No packs: no recording has snapshots, er_print's
 * filter chooses more than threads, or the packs would take more than a quarter of the size that the
 * page may have. Then the index says why, if there are snapshots.
 */
void make_snapshots(const struct export *x, const struct page_events *events, struct pack *index,
		    packed_vec *ret);

#endif
