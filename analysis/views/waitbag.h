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
 * The sums whose first n keys are these; free with vec_free. The sum with the most time comes
 * first. If the report compares differences, it is the one with the largest difference between
 * the last group and the first.
 */
void wait_bag_sorted(const struct wait_bag *bag, const uint32_t *key, size_t n, sum_vec *ret);
/* The sum of the whole bag; release it with wait_stat_fini. */
struct wait_stat wait_bag_total(const struct wait_bag *bag);

#endif
