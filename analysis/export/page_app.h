/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The application of the page, which make puts together from analysis/export/page/. */
#ifndef EXPORT_PAGE_APP_H
#define EXPORT_PAGE_APP_H

struct buf;

/*
 * Append the document up to its data: its head with a content security policy that allows this
 * script and this style only, and the application.
 */
void put_app(struct buf *b);

#endif
