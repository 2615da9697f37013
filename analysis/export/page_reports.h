/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports of er_print that the page shows as they are, because it cannot compute them from its
 * events: lists of lines and locks, and what is known of the recording. They follow er_print's
 * filter, not the page's.
 */
#ifndef EXPORT_PAGE_REPORTS_H
#define EXPORT_PAGE_REPORTS_H

struct export;
struct pack;
struct page_tree;

/* Append the reports, and the facts about each function of the tree. */
void make_reports(const struct export *x, const struct page_tree *tree, struct pack *ret);

#endif
