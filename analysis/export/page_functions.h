/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the page's summary of a function says beside its times. */
#ifndef EXPORT_PAGE_FUNCTIONS_H
#define EXPORT_PAGE_FUNCTIONS_H

struct buf;
struct page_tree;
struct session;

/*
 * Append the pseudo report `fsummary`: a row for each function of the tree, in the tree's order.
 * A row is its size in bytes, its address as er_print shows it, its source file and its other names
 * (null: unknown).
 */
void put_functions(struct session *s, const struct page_tree *tree, struct buf *b);

#endif
