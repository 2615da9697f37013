/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sorts arrays that consist of a few sorted runs, as packets of several files do. */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include <stddef.h>

/*
 * Sort n elements of `size` bytes by cmp, as for qsort. Equal elements keep their order if the array
 * has at most SORT_RUNS sorted runs, which then are merged; otherwise qsort sorts it. Merging takes
 * memory for half of the array at most.
 */
enum { SORT_RUNS = 64 };
void sort_runs(void *data, size_t n, size_t size, int (*cmp)(const void *a, const void *b));

#endif
