/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the page needs to compare experiments. Events know their experiment by their thread. */
#ifndef EXPORT_PAGE_COMPARE_H
#define EXPORT_PAGE_COMPARE_H

struct buf;
struct export;

/*
 * Append members of the index, each after a comma: the names of the groups of experiments, whether
 * er_print compares them, and the files with different builds. Nothing if there is only one group.
 */
void put_comparison(const struct export *x, struct buf *b);

#endif
