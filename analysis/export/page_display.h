/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What .er.rc files say of the display, for the page: tabs and the timeline. */
#ifndef EXPORT_PAGE_DISPLAY_H
#define EXPORT_PAGE_DISPLAY_H

struct buf;
struct display;

/* Append the member "display" of the index. */
void put_display(const struct display *d, struct buf *b);

#endif
