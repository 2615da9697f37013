/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recorded calls of spans in the page's index: what the timeline draws below the threads. Texts stay out;
 * arguments, too, if the page is redacted. docs/howto-page.md describes both parts.
 */
#ifndef EXPORT_PAGE_SPANS_H
#define EXPORT_PAGE_SPANS_H

struct buf;
struct export;
struct pack;
struct page_events;

/*
 * The member `spans` of the index, and its sections `span`, the calls, and `spst`, the sets of calls
 * that contain events (page_spansets.h). Without recorded calls there is no member and no set; nor is
 * there a set if the page lacks a call that contains an event.
 */
void put_span_names(const struct export *x, const struct page_events *events, struct buf *b);
void put_span_calls(const struct export *x, const struct page_events *events, struct pack *p);

#endif
