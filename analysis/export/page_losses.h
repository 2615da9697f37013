/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The seconds in which threads lost records, for the timeline of the page. */
#ifndef EXPORT_PAGE_LOSSES_H
#define EXPORT_PAGE_LOSSES_H

struct buf;
struct export;
struct page_events;

/*
 * Append the member `lost` of the index after a comma: for each thread and second an array of the
 * thread (-1: it has no events), begin and end in microseconds, and the number of records. Nothing
 * if no record is known to be lost.
 */
void put_losses(const struct export *x, const struct page_events *events, struct buf *b);

#endif
