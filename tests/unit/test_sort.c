/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sorting: runs, numbers, groups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/base/alloc.h"
#include "analysis/base/map.h"
#include "analysis/base/sort.h"
#include "analysis/base/vec.h"

struct numbered {
	int key, at;
	char rest[24]; /* so that an element is no machine word */
};

static int by_key(const void *pa, const void *pb)
{
	const struct numbered *a = pa, *b = pb;

	return (a->key > b->key) - (a->key < b->key);
}

/* Arrays of `runs` sorted runs of several lengths: sorted, and equal keys keep their order. */
static void check_runs(size_t runs)
{
	VEC(struct numbered) v = { 0 };

	for (size_t r = 0; r < runs; r++) {
		for (size_t i = 0; i < 1 + r * 37 % 101; i++)
			vec_push(&v, (struct numbered){ .key = (int)(i / 2 - r % 3),
							.at = (int)v.len });
	}
	vec_sort(&v, by_key);
	for (size_t i = 1; i < v.len; i++) {
		const struct numbered *a = &v.data[i - 1], *b = &v.data[i];

		assert_true(a->key < b->key ||
			    (a->key == b->key && (a->at < b->at || runs > SORT_RUNS)));
	}
	vec_free(&v);
}

static void runs_are_merged_in_order(void **state)
{
	for (size_t runs = 0; runs <= SORT_RUNS + 6; runs++)
		check_runs(runs);
}

struct large {
	int key, at;
	char rest[(128 << 10) - 2 * sizeof(int)];
};

static int by_large_key(const void *pa, const void *pb)
{
	const struct large *a = pa, *b = pb;

	return (a->key > b->key) - (a->key < b->key);
}

/* Runs of these lengths, which do not fit into the memory that is taken. Keys are 0, step / 3, 2 * step / 3, ... */
static void check_large_runs(const size_t lengths[], const int steps[], size_t runs)
{
	size_t n = 0;
	struct large *all;

	for (size_t r = 0; r < runs; r++)
		n += lengths[r];
	all = xcalloc(n, sizeof(*all));
	for (size_t r = 0, at = 0; r < runs; r++) {
		for (size_t i = 0; i < lengths[r]; i++, at++) {
			all[at].key = (int)i * steps[r] / 3;
			all[at].at = (int)at;
			all[at].rest[sizeof(all->rest) - 1] = (char)at;
		}
	}
	sort_runs(all, n, sizeof(*all), by_large_key);
	for (size_t i = 0; i < n; i++) {
		const struct large *a = i ? &all[i - 1] : NULL, *b = &all[i];

		assert_true(!a || a->key < b->key || (a->key == b->key && a->at < b->at));
		assert_int_equal(b->rest[sizeof(b->rest) - 1], (char)b->at);
	}
	free(all);
}

static void large_runs_are_merged_in_order(void **state)
{
	check_large_runs((size_t[]){ 300, 200, 150 }, (int[]){ 2, 3, 1 }, 3);
	check_large_runs((size_t[]){ 150, 400 }, (int[]){ 7, 2 }, 2);
	check_large_runs((size_t[]){ 280, 270 }, (int[]){ 1, 0 }, 2);
}

/* By all bytes of the key; equal keys keep their order. */
static void numbers_are_sorted(void **state)
{
	enum { N = 5000 };
	static struct keyed all[N], room[N];

	for (int bytes = 0; bytes <= 8; bytes++) {
		uint64_t mask = bytes < 8 ? (1ULL << 8 * bytes) - 1 : UINT64_MAX;

		for (uint32_t i = 0; i < N; i++)
			all[i] = (struct keyed){ hash64(i % 4000) & mask, i };
		sort_keyed(all, N, room);
		for (size_t i = 0; i < N; i++) {
			assert_true(all[i].key == (hash64(all[i].value % 4000) & mask));
			assert_true(!i || all[i - 1].key < all[i].key ||
				    (all[i - 1].key == all[i].key && all[i - 1].value < all[i].value));
		}
	}
	sort_keyed(all, 0, room);
}

static void groups_have_their_members_in_order(void **state)
{
	static const uint32_t group[] = { 2, 0, 2, 4, 2, 0 }, order[] = { 1, 5, 0, 2, 4, 3 };
	static const uint32_t first[] = { 0, 2, 2, 5, 5, 6 };
	uint32_t *got_first, *got = sort_by_group(group, 6, 5, &got_first);

	(void)state;
	assert_memory_equal(got, order, sizeof(order));
	assert_memory_equal(got_first, first, sizeof(first));
	free(got);
	free(got_first);
	got = sort_by_group(NULL, 0, 0, &got_first);
	assert_int_equal(got_first[0], 0);
	free(got);
	free(got_first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_are_merged_in_order),
		cmocka_unit_test(large_runs_are_merged_in_order),
		cmocka_unit_test(numbers_are_sorted),
		cmocka_unit_test(groups_have_their_members_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
