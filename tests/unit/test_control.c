/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The governor and the pace, given costs of recording and numbers of waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "user/record/calibrate.h"
#include "user/record/governor.h"
#include "user/record/pace.h"

#define SECOND 1000000000ULL
#define MS     1000000ULL

/* Advance by one second in which recording cost this many ms. */
static bool second(struct governor *g, uint64_t *t, uint64_t *cost, uint64_t ms)
{
	*t += SECOND;
	*cost += ms * MS;
	return governor_look(g, *t, *cost);
}

static void test_sheds_and_gives_back(void **state)
{
	struct governor g;
	struct buf b = { 0 };
	uint64_t t = 100 * SECOND, cost = 0;

	governor_init(&g, 0.02, 2); /* 40 ms a second */
	assert_false(second(&g, &t, &cost, 900)); /* the start does not count */
	assert_false(second(&g, &t, &cost, 39));
	for (int level = SHED_WAKER_STACKS; level <= SHED_SHORT_STACKS; level++) {
		assert_true(second(&g, &t, &cost, 41));
		assert_int_equal(g.level, level);
	}
	assert_false(second(&g, &t, &cost, 500)); /* nothing more to shed: totals are never shed */
	assert_int_equal(g.level, SHED_SHORT_STACKS);
	for (int i = 0; i < 20; i++)
		assert_false(second(&g, &t, &cost, 25)); /* not far below the budget */
	for (int i = 0; i < 4; i++)
		assert_false(second(&g, &t, &cost, 10));
	assert_true(second(&g, &t, &cost, 10));
	assert_int_equal(g.level, SHED_USER_STACKS);
	governor_write(&g, 100 * SECOND, &b);
	assert_string_equal(b.data,
		"<budget percent=\"2\"/>\n"
		"<shed second=\"3\" what=\"waker stacks\" cost=\"2.05\"/>\n"
		"<shed second=\"4\" what=\"waker stacks, user stacks of waits\" cost=\"2.05\"/>\n"
		"<shed second=\"5\" what=\"waker stacks, user stacks of waits, stacks of short waits\""
		" cost=\"2.05\"/>\n"
		"<shed second=\"31\" what=\"waker stacks, user stacks of waits\" cost=\"0.50\"/>\n");
	buf_free(&b);
	governor_free(&g);
}

static void test_no_budget_no_governor(void **state)
{
	struct governor g;
	struct buf b = { 0 };
	uint64_t t = SECOND, cost = 0;

	governor_init(&g, 0, 2);
	for (int i = 0; i < 10; i++)
		assert_false(second(&g, &t, &cost, 1900));
	governor_write(&g, 0, &b);
	assert_int_equal(b.len, 0);
	governor_free(&g);
}

static void test_clock_that_stands_still(void **state)
{
	struct governor g;

	governor_init(&g, 0.01, 1);
	governor_look(&g, SECOND, 0);
	assert_false(governor_look(&g, SECOND, SECOND));
	assert_int_equal(g.level, SHED_NOTHING);
	governor_free(&g);
}

/* The first call sets the base; a cost that decreases is ignored. */
static void test_looks_that_do_not_count(void **state)
{
	struct governor g;

	governor_init(&g, 0.01, 1);
	assert_false(governor_look(&g, SECOND, SECOND));
	assert_false(governor_look(&g, 2 * SECOND, SECOND / 2));
	assert_int_equal(g.level, SHED_NOTHING);
	assert_true(governor_look(&g, 3 * SECOND, SECOND));
	governor_free(&g);
}

static void test_pace_follows_the_rate(void **state)
{
	struct pace p;
	uint64_t t = SECOND, waits = 0;

	pace_init(&p, 10 * MS, 10 * MS, 2, false);
	assert_false(pace_look(&p, t, 1000000)); /* waits before the first look do not count */
	waits = 1000000;
	assert_false(pace_look(&p, t += SECOND, waits += 950));
	assert_true(pace_look(&p, t += SECOND, waits += 1050));
	assert_int_equal(p.distance_ns, 20 * MS);
	assert_false(pace_look(&p, t + 10 * MS, waits + 5000)); /* too early to decide */
	assert_false(pace_look(&p, t += SECOND, waits += 500));
	for (int i = 0; i < 20; i++)
		pace_look(&p, t += SECOND, waits += 1000000);
	assert_int_equal(p.distance_ns, 1280 * MS); /* the largest distance */
	for (int i = 0; i < 20; i++)
		pace_look(&p, t += SECOND, waits += 40);
	assert_int_equal(p.distance_ns, 10 * MS);
	assert_int_equal(p.widest_ns, 1280 * MS);
}

/* The distance after 30 quiet seconds, and a minute of `rate` waits a second on each of two CPUs. */
static uint64_t distance_at(uint64_t base_ns, uint64_t interval_ns, uint64_t rate)
{
	struct pace p;
	uint64_t t = SECOND, waits = 0;

	pace_init(&p, base_ns, interval_ns, 2, false);
	for (int i = 0; i <= 30; i++)
		assert_false(pace_look(&p, t += SECOND, waits));
	for (int i = 0; i < 60; i++)
		pace_look(&p, t += SECOND, waits += 2 * rate * base_ns / p.distance_ns);
	return p.distance_ns;
}

static void test_pace_of_long_recordings(void **state)
{
	struct pace p;
	uint64_t t = SECOND;

	pace_init(&p, 10 * MS, 10 * MS, 2, false);
	for (int i = 0; i < 30; i++)
		assert_false(pace_look(&p, t += SECOND, i * 400));
	assert_false(pace_look(&p, t += SECOND / 2, 29 * 400 + 200)); /* the base of the next */
	assert_true(pace_look(&p, t += SECOND, 29 * 400 + 600));
	assert_int_equal(p.distance_ns, 20 * MS);
	/* As many waits as clock samples, … */
	assert_int_equal(distance_at(10 * MS, 10 * MS, 99), 10 * MS);
	assert_int_equal(distance_at(10 * MS, 10 * MS, 399), 40 * MS);
	/* … but at least 50 with a slow clock, and at most 500 with a fast one. */
	assert_int_equal(distance_at(100 * MS, 100 * MS, 49), 100 * MS);
	assert_int_equal(distance_at(100 * MS, 100 * MS, 51), 200 * MS);
	assert_int_equal(distance_at(10 * MS, MS, 499), 10 * MS);
	assert_int_equal(distance_at(10 * MS, MS, 501), 20 * MS);
	/* BPF cannot have a distance of 2^31 ns or more. */
	assert_int_equal(distance_at(1000 * MS, 1000 * MS, 1000000), 2000 * MS);
	assert_int_equal(distance_at(100 * MS, 100 * MS, 1000000), 1600 * MS);
}

/* The distance after so many seconds of `rate` waits a second on each of two CPUs. */
static uint64_t distance_after(unsigned seconds, uint64_t interval_ns, uint64_t rate, bool drops)
{
	struct pace p;
	uint64_t t = SECOND, waits = 0;

	pace_init(&p, 10 * MS, interval_ns, 2, drops);
	for (unsigned i = 0; i <= seconds; i++)
		pace_look(&p, t += SECOND, waits += 2 * rate * 10 * MS / p.distance_ns);
	return p.distance_ns;
}

static void test_pace_of_old_recordings(void **state)
{
	/* A quarter of the clock's rate after five minutes, … */
	assert_int_equal(distance_after(299, 10 * MS, 99, false), 10 * MS);
	assert_int_equal(distance_after(310, 10 * MS, 99, false), 40 * MS);
	assert_int_equal(distance_after(310, 10 * MS, 24, false), 10 * MS);
	/* … which is at least 25 with a slow clock, and 250 with a clock of 1000 Hz, … */
	assert_int_equal(distance_after(310, 100 * MS, 25, false), 10 * MS);
	assert_int_equal(distance_after(310, 100 * MS, 26, false), 20 * MS);
	assert_int_equal(distance_after(310, MS, 250, false), 10 * MS);
	assert_int_equal(distance_after(310, MS, 251, false), 20 * MS);
	/* … but not if old data are dropped. */
	assert_int_equal(distance_after(310, 10 * MS, 99, true), 10 * MS);
}

static void test_pace_off(void **state)
{
	struct pace p;

	pace_init(&p, 0, 10 * MS, 2, false);
	for (int i = 1; i < 9; i++)
		assert_false(pace_look(&p, i * SECOND, i * 100000));
}

/* Longer than a system call, and too short to notice. */
static void test_calibration(void **state)
{
	uint64_t ns = calibrate_threshold();

	assert_in_range(ns, 1000, SECOND);
}

/* A wait of five times the cost is not traced, one of seven times is. */
static void test_threshold(void **state)
{
	assert_true(calibrate_threshold_of(1000) > 5 * 1000);
	assert_true(calibrate_threshold_of(1000) < 7 * 1000);
	assert_in_range(calibrate_threshold_of(0), 1000, SECOND); /* cost unknown */
	/* Six times the measured cost. */
	for (int i = 0; i < 10; i++)
		assert_int_equal(calibrate_threshold() % 6, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sheds_and_gives_back),
		cmocka_unit_test(test_no_budget_no_governor),
		cmocka_unit_test(test_clock_that_stands_still),
		cmocka_unit_test(test_looks_that_do_not_count),
		cmocka_unit_test(test_pace_follows_the_rate),
		cmocka_unit_test(test_pace_of_long_recordings),
		cmocka_unit_test(test_pace_of_old_recordings),
		cmocka_unit_test(test_pace_off),
		cmocka_unit_test(test_calibration),
		cmocka_unit_test(test_threshold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
