/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the page needs to count waits and to list user locks as er_print does, under its own filter:
 * the factors by which waits count, the locks, and how the report on locks reduces the stacks of
 * waits and of wakers.
 */
#ifndef EXPORT_PAGE_LOCKS_H
#define EXPORT_PAGE_LOCKS_H

struct page_events;
struct pack;
struct view_state;

/* Append the section on the factors of waits, and of locks, if there are waits for locks. */
void put_locks(struct view_state *v, struct page_events *events, struct pack *ret);

#endif
