/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bag of sums: waits whose keys are all equal are added up. The report decides what each key
 * means.
 */
#ifndef VIEWS_WAITBAG_H
#define VIEWS_WAITBAG_H

#include <stdint.h>

#include "analysis/base/intern.h"
#include "analysis/base/vec.h"
#include "analysis/metrics/waitstat.h"

enum { WAIT_KEYS = 6 };

struct wait_sum {
	uint32_t key[WAIT_KEYS];
	struct wait_stat stat;
};

struct wait_bag {
	unsigned ngroups; /* of each sum; set it before the first sum is made */
	bool by_difference;
	struct intern ids;
	VEC(struct wait_sum) sums;
};

typedef VEC(const struct wait_sum *) sum_vec;

/* The sum for these keys, made if it is new. The pointer is valid until the next call. */
struct wait_stat *wait_bag_at(struct wait_bag *bag, const uint32_t key[WAIT_KEYS]);
void wait_bag_free(struct wait_bag *bag);
/*
 * Add up the sums of `from` in an empty bag. Keys whose bit is set in `mask` are kept; the others
 * become 0.
 */
void wait_bag_by(const struct wait_bag *from, unsigned mask, struct wait_bag *ret);
/*
 * All sums; free with vec_free. The sum with the most time comes first. If the report compares
 * differences, it is the one with the largest difference between the last group and the first.
 */
void wait_bag_sorted(const struct wait_bag *bag, sum_vec *ret);
/* The sum of the whole bag; release it with wait_stat_fini. */
struct wait_stat wait_bag_total(const struct wait_bag *bag);

/* The sums of a bag by their first nkeys keys. A report that lists thousands of them cannot search the bag for each. */
struct wait_groups {
	const struct wait_bag *bag;
	size_t nkeys;
	struct intern ids;       /* of groups */
	uint32_t *one;           /* a sum of each group */
	uint32_t *order, *first; /* the sums by group: sort_by_group */
};

/* For a bag that does not change any more, and which must live as long. Free with wait_groups_free. */
void wait_groups_init(struct wait_groups *g, const struct wait_bag *bag, size_t nkeys);
/* The sums that have these first keys, in the order of wait_bag_sorted; free with vec_free. */
void wait_groups_sorted(const struct wait_groups *g, const uint32_t *key, sum_vec *ret);
void wait_groups_free(struct wait_groups *g);

#endif
