/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sorts arrays that consist of a few sorted runs, as packets of several files do; by numbers; and into groups. */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sort n elements of `size` bytes by cmp, as for qsort. Equal elements keep their order if the array
 * has at most SORT_RUNS sorted runs, which then are merged; otherwise qsort sorts it. Merging takes
 * memory for half of the array, and at most for 16 MB and one element.
 */
enum { SORT_RUNS = 64 };
void sort_runs(void *data, size_t n, size_t size, int (*cmp)(const void *a, const void *b));

/* Something to be sorted by a number. */
struct keyed {
	uint64_t key;
	uint32_t value;
};

/*
 * Sort n elements by key; equal ones keep their order. `room` has space for n elements. It takes a
 * few passes over the array for each byte in which keys differ.
 */
void sort_keyed(struct keyed *data, size_t n, struct keyed *room);

/*
 * The numbers below n in the order of their groups: group g, which is below ngroups, has ret[first[g]] to
 * ret[first[g + 1] - 1], in ascending order. The caller frees both.
 */
uint32_t *sort_by_group(const uint32_t *group, size_t n, size_t ngroups, uint32_t **first);

#endif
