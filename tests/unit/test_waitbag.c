/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums of waits by keys, and their groups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/views/waitbag.h"

/* Add n sums of keys { i % 7, i % 11, i }, with times that are not in their order. */
static void fill(struct wait_bag *bag, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		wait_bag_at(bag, (uint32_t[WAIT_KEYS]){ i % 7, i % 11, i })->time_ns = i * 37 % 1000;
}

static void equal_keys_are_one_sum(void **state)
{
	struct wait_bag bag = { 0 }, by;
	struct wait_stat total;

	(void)state;
	fill(&bag, 100);
	fill(&bag, 100);
	assert_int_equal(bag.sums.len, 100);
	wait_bag_at(&bag, (uint32_t[WAIT_KEYS]){ 0 })->time_ns += 5;
	assert_int_equal(bag.sums.len, 100);
	wait_bag_by(&bag, 1, &by);
	assert_int_equal(by.sums.len, 7);
	total = wait_bag_total(&by);
	assert_int_equal(total.time_ns, wait_bag_total(&bag).time_ns);
	wait_bag_free(&by);
	wait_bag_free(&bag);
}

/* Each group has all sums with its keys and no others, the most time first. */
static void check_groups(const struct wait_bag *bag, size_t nkeys, uint32_t of0, uint32_t of1)
{
	struct wait_groups g;
	size_t seen = 0;

	wait_groups_init(&g, bag, nkeys);
	for (uint32_t a = 0; a < of0; a++) {
		for (uint32_t b = 0; b < of1; b++) {
			uint32_t key[] = { a, b };
			sum_vec sums;

			wait_groups_sorted(&g, key, &sums);
			for (size_t i = 0; i < sums.len; i++) {
				assert_memory_equal(sums.data[i]->key, key, nkeys * sizeof(*key));
				assert_true(!i || sums.data[i - 1]->stat.time_ns >= sums.data[i]->stat.time_ns);
			}
			seen += sums.len;
			vec_free(&sums);
		}
	}
	assert_int_equal(seen, bag->sums.len);
	wait_groups_free(&g);
}

static void groups_divide_the_bag(void **state)
{
	struct wait_bag bag = { 0 };

	(void)state;
	fill(&bag, 5000);
	check_groups(&bag, 1, 7, 1);
	check_groups(&bag, 2, 7, 11);
	wait_bag_free(&bag);
}

static void unknown_keys_have_no_sums(void **state)
{
	struct wait_bag bag = { 0 };
	struct wait_groups g;
	sum_vec sums;

	(void)state;
	wait_groups_init(&g, &bag, 1);
	wait_groups_sorted(&g, (uint32_t[]){ 0 }, &sums);
	assert_int_equal(sums.len, 0);
	wait_groups_free(&g);
	fill(&bag, 100);
	wait_groups_init(&g, &bag, 1);
	wait_groups_sorted(&g, (uint32_t[]){ 7 }, &sums);
	assert_int_equal(sums.len, 0);
	wait_groups_free(&g);
	wait_bag_free(&bag);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_keys_are_one_sum),
		cmocka_unit_test(groups_divide_the_bag),
		cmocka_unit_test(unknown_keys_have_no_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
