/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sample points of waits, which is code that runs in the kernel. The records must represent the
 * time in proportion, for any order of the waits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <linux/types.h>

#define __noinline
#ifndef __always_inline
#define __always_inline inline
#endif

static uint32_t bpf_get_prandom_u32(void)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x >> 16;
}

#include "bpf/points.bpf.h"

enum { US = 1000, MS = 1000000 };

/*
 * Alternates waits of these two lengths for `total` ns. Returns the first one's share of the
 * weight.
 */
static double share(const uint32_t *lens, int n, uint64_t total)
{
	struct er_points p = { 0 };
	uint64_t first = 0, all = 0, time = 0;

	for (int i = 0; time < total; i = (i + 1) % n) {
		uint64_t w = points_weigh(&p, 4, lens[i]);

		time += lens[i];
		all += w;
		first += i ? 0 : w;
		assert_true(all <= time);
	}
	/* The time not yet weighed is below the longest distance. */
	assert_true(time - all < er_distance * 3 / 2);
	return (double)first / all;
}

static void check_share(double got, double want, double bound)
{
	if (got < want - bound || got > want + bound)
		fail_msg("share %f, wanted %f +- %f", got, want, bound);
}

static const uint64_t hour = 3600000ull * MS;

static void test_two_in_turn(void **state)
{
	static const uint32_t a[] = { 1 * MS, 3 * MS }, b[] = { 2 * MS, 3 * MS };

	/* 360,000 points; 4 sigma of as many independent choices is 0.3 %. */
	check_share(share(a, 2, hour), 0.25, 0.004);
	check_share(share(b, 2, hour), 0.40, 0.004);
}

static void test_short_among_long(void **state)
{
	static const uint32_t lens[] = { 1 * MS, 3 * MS, 40 * MS }, far[] = { 1 * MS, 999 * MS };

	check_share(share(lens, 3, hour), 1 / 44., 0.002);
	check_share(share(far, 2, 10 * hour), 1 / 1000., 0.0005);
}

/*
 * As long as the distance: always recorded, and represents itself alone, whatever came before. The points
 * of the short ones do not move.
 */
static void test_long_always(void **state)
{
	struct er_points p = { 0 };

	for (int i = 0; i < 100000; i++) {
		uint64_t len = er_distance + (i % 2 ? bpf_get_prandom_u32() : 0);
		struct er_points before;

		points_weigh(&p, 1, bpf_get_prandom_u32() % (5 * MS));
		before = p;
		assert_int_equal(points_weigh(&p, 1, len), len);
		assert_memory_equal(&p, &before, sizeof(p));
	}
}

/* … also after the distance became smaller, while the next point is still far ahead. */
static void test_long_after_a_change(void **state)
{
	struct er_points p = { 0 };

	er_distance = 1280 * MS;
	for (int i = 0; i < 1000; i++)
		points_weigh(&p, 1, 5 * MS);
	er_distance = 10 * MS;
	assert_true(p.left[1] > 12 * MS);
	assert_int_equal(points_weigh(&p, 1, 12 * MS), 12 * MS);
	assert_int_equal(points_weigh(&p, 1, 24ull * 3600000 * MS), 24ull * 3600000 * MS);
}

/*
 * Many threads with one wait each of 0.2 distances. In 4 of 5 waits there is a first point, which
 * weighs 1 ms on average. Few waits have a second point.
 */
static void test_short_lives(void **state)
{
	uint64_t time = 0, all = 0;

	for (int i = 0; i < 1000000; i++) {
		struct er_points p = { 0 };

		time += 2 * MS;
		all += points_weigh(&p, 0, 2 * MS);
	}
	check_share((double)all / time, 0.4, 0.01);
}

static void test_states_apart(void **state)
{
	struct er_points p = { 0 };

	points_weigh(&p, 3, 9 * MS);
	assert_true(p.gap[3] > 0);
	assert_int_equal(p.gap[4], 0);
	assert_int_equal(points_weigh(&p, 4, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_in_turn),   cmocka_unit_test(test_short_among_long),
		cmocka_unit_test(test_long_always),   cmocka_unit_test(test_long_after_a_change),
		cmocka_unit_test(test_short_lives),   cmocka_unit_test(test_states_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
