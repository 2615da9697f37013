/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The overview of the timeline: for each thread its time divided into bins, and the share of
 * each state in each bin. The page draws it before the events are decoded.
 */
#ifndef EXPORT_PAGE_MIPS_H
#define EXPORT_PAGE_MIPS_H

#include <stdint.h>

struct pack;
struct page_events;

/* Append the section "mips". Times from begin to end are divided, in microseconds. */
void put_mips(struct pack *p, const struct page_events *events, int64_t begin, int64_t end);

#endif
