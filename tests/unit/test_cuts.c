/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cumulative totals and waits in; what each segment gets out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "user/record/cuts.h"

static const struct er_task task = { .start_time = 5, .tgid = 7, .tid = 8 };

/* A total up to `at`, in which the thread slept for `slept` and ran the other time from 1000 on. */
static struct er_total total_at(uint64_t at, uint64_t slept, uint32_t flags)
{
	struct er_total t = { .h = { .kind = ER_KIND_TOTAL, .time_ns = at }, .task = task,
			      .begin_ns = 1000, .end_ns = at, .flags = flags,
			      .run_ns = at - 1000 - slept };

	t.off_ns[ER_OFF_SLEEP] = slept;
	return t;
}

static struct er_wait sleep_until(uint64_t at, uint64_t ns, uint64_t weight)
{
	return (struct er_wait){ .h = { .kind = ER_KIND_WAIT, .time_ns = at }, .task = task,
				 .state = ER_OFF_SLEEP, .blocked_ns = ns, .blocked_weight = weight };
}

/* The thread is cut at t->h.time_ns. */
static void cut(struct cuts *c, struct er_total *t)
{
	cuts_begin(c, t->h.time_ns - 10, t->h.time_ns + 10);
	cuts_note(c, t);
	cuts_total(c, t);
	cuts_end(c);
}

static void test_totals_add_up(void **state)
{
	struct cuts *c = cuts_new();
	struct er_total a = total_at(3000, 500, ER_TOTAL_CUT | ER_TOTAL_BORN);
	struct er_total b = total_at(4000, 700, ER_TOTAL_CUT | ER_TOTAL_BORN);
	struct er_total end = total_at(9000, 5000, ER_TOTAL_BORN | ER_TOTAL_ENDED);

	b.off_n[ER_OFF_SLEEP] = 3;
	end.off_n[ER_OFF_SLEEP] = 4;
	cut(c, &a);
	assert_int_equal(a.run_ns, 1500);
	assert_int_equal(a.off_ns[ER_OFF_SLEEP], 500);
	assert_int_equal(a.rest_ns[ER_OFF_SLEEP], 500);
	assert_int_equal(a.flags, ER_TOTAL_BORN);
	cut(c, &b);
	assert_int_equal(b.begin_ns, 3000);
	assert_int_equal(b.end_ns, 4000);
	assert_int_equal(b.run_ns, 800);
	assert_int_equal(b.off_n[ER_OFF_SLEEP], 3);
	assert_int_equal(b.flags, 0);
	cuts_total(c, &end);
	assert_int_equal(end.begin_ns, 4000);
	assert_int_equal(end.end_ns, 9000);
	assert_int_equal(end.run_ns, 700);
	assert_int_equal(end.off_ns[ER_OFF_SLEEP], 4300);
	assert_int_equal(end.off_n[ER_OFF_SLEEP], 1);
	assert_int_equal(end.flags, ER_TOTAL_ENDED);
	cuts_free(c);
}

/* The run time at a cut was predicted 30 ns too large. The sum of the segments is still exact. */
static void test_prediction_was_too_large(void **state)
{
	struct cuts *c = cuts_new();
	struct er_total a = total_at(3000, 500, ER_TOTAL_CUT);
	struct er_total end = total_at(3070, 600, ER_TOTAL_ENDED);

	cut(c, &a);
	cuts_total(c, &end);
	assert_int_equal(end.run_ns, 0);
	assert_int_equal(end.off_ns[ER_OFF_SLEEP], 70);
	assert_int_equal(end.begin_ns, 3000);
	assert_int_equal(end.end_ns, 3070);
	cuts_free(c);
}

/* A wait of 1000 from 2500 on is cut at 3000: both segments have its time, once. */
static void test_open_wait_is_divided(void **state)
{
	struct cuts *c = cuts_new();
	struct er_total a = total_at(3000, 500, ER_TOTAL_CUT);
	struct er_total end = total_at(4000, 1000, ER_TOTAL_ENDED);
	struct er_wait open = sleep_until(3000, 500, 400), whole = sleep_until(3500, 1000, 900);

	assert_int_equal(cuts_wait(c, &open), 0);
	a.rest_ns[ER_OFF_SLEEP] = 500; /* the open wait */
	cut(c, &a);
	assert_int_equal(a.rest_ns[ER_OFF_SLEEP], 100);
	assert_int_equal(cuts_wait(c, &whole), CUT_BLOCKED);
	assert_int_equal(whole.blocked_ns, 500);
	assert_int_equal(whole.blocked_weight, 400);
	assert_true(whole.flags & ER_WAIT_OPEN_START);
	cuts_total(c, &end);
	assert_int_equal(end.rest_ns[ER_OFF_SLEEP], 100);
	cuts_free(c);
}

/*
 * A wait that represents itself alone, from 2500 to 3500, is cut at 3000; the sample points before it are
 * 100 ago. It has the time after the cut. The next wait that is chosen has the 100.
 */
static void test_long_wait_is_divided(void **state)
{
	struct cuts *c = cuts_new();
	struct er_total a = total_at(3000, 700, ER_TOTAL_CUT);
	struct er_total end = total_at(5000, 1400, ER_TOTAL_ENDED);
	struct er_wait whole = sleep_until(3500, 1000, 1000), after = sleep_until(4000, 150, 150);
	struct er_wait next = sleep_until(4500, 30, 130);

	a.rest_ns[ER_OFF_SLEEP] = 500 + 100;
	cut(c, &a);
	assert_int_equal(cuts_wait(c, &whole), CUT_BLOCKED);
	assert_int_equal(whole.blocked_ns, 500);
	assert_int_equal(whole.blocked_weight, 500);
	cuts_wait(c, &after); /* long, too: it takes nothing from the points before the cut */
	assert_int_equal(after.blocked_weight, 150);
	cuts_wait(c, &next);
	assert_int_equal(next.blocked_weight, 30);
	cuts_total(c, &end);
	assert_int_equal(end.rest_ns[ER_OFF_SLEEP], 1400 - 700 - 500 - 150 - 30);
	cuts_free(c);
}

/* The time of an open wait is 40 late, as conversions of clocks are. Lengths are not, and count. */
static void test_lengths_are_exact(void **state)
{
	struct cuts *c = cuts_new();
	struct er_total a = total_at(3000, 500, ER_TOTAL_CUT);
	struct er_wait open = sleep_until(3040, 500, 500), whole = sleep_until(5000, 2500, 2500);
	struct er_wait next = sleep_until(7000, 1000, 1000);

	open.flags = ER_WAIT_OPEN_END;
	cuts_wait(c, &open);
	a.rest_ns[ER_OFF_SLEEP] = 500;
	cut(c, &a);
	whole.h.time_ns = 5030;
	cuts_wait(c, &whole);
	assert_int_equal(whole.blocked_ns, 2000);
	assert_int_equal(whole.blocked_weight, 2000);
	cuts_wait(c, &next);
	assert_int_equal(next.blocked_weight, 1000);
	cuts_free(c);
}

/* From 2500 to 5000, with cuts at 3000 and 4000: each segment has its part of the wait, with its stack. */
static void test_wait_through_several_cuts(void **state)
{
	struct cuts *c = cuts_new();
	struct er_wait whole = sleep_until(5000, 2500, 2500);

	for (uint64_t at = 3000; at < 5000; at += 1000) {
		struct er_total t = total_at(at, at - 2500, ER_TOTAL_CUT);
		struct er_wait open = sleep_until(at, at - 2500, at - 2500);

		open.flags = ER_WAIT_OPEN_END;
		assert_int_equal(cuts_wait(c, &open), at == 3000 ? 0 : CUT_BLOCKED);
		assert_int_equal(open.blocked_ns, at == 3000 ? 500 : 1000);
		assert_int_equal(open.blocked_weight, open.blocked_ns);
		t.rest_ns[ER_OFF_SLEEP] = at - 2500;
		cut(c, &t);
		assert_int_equal(t.rest_ns[ER_OFF_SLEEP], 0);
	}
	assert_int_equal(cuts_wait(c, &whole), CUT_BLOCKED);
	assert_int_equal(whole.blocked_weight, 1000);
	cuts_free(c);
}

/*
 * The thread slept from 2000 to 2600, but the iterator still found it asleep at 3000. The wait is
 * counted once. One that ended before the open one began takes nothing from it.
 */
static void test_a_wait_that_the_cut_took_for_open(void **state)
{
	struct cuts *c = cuts_new();
	struct er_total a = total_at(3000, 1200, ER_TOTAL_CUT);
	struct er_wait before = sleep_until(1800, 200, 150), over = sleep_until(2600, 600, 500);
	struct er_wait open = sleep_until(3000, 1000, 900);

	open.flags = ER_WAIT_OPEN_END;
	cuts_wait(c, &before);
	cuts_wait(c, &over);
	assert_int_equal(over.blocked_weight, 500);
	assert_int_equal(cuts_wait(c, &open), CUT_BLOCKED | CUT_RUNQ);
	assert_int_equal(open.blocked_weight, 0);
	assert_int_equal(open.blocked_ns, 0);
	cut(c, &a);
	assert_int_equal(a.rest_ns[ER_OFF_SLEEP], 1200 - 150 - 500);
	cuts_free(c);
	c = cuts_new();
	before = sleep_until(2000, 200, 150);
	open = sleep_until(3000, 1000, 900);
	open.flags = ER_WAIT_OPEN_END;
	cuts_wait(c, &before);
	assert_int_equal(cuts_wait(c, &open), 0);
	assert_int_equal(open.blocked_weight, 900);
	cuts_free(c);
}

/* It waits for a CPU at the cut: the part in which it was blocked is all before. */
static void test_cut_in_the_run_queue(void **state)
{
	struct cuts *c = cuts_new();
	struct er_total a = total_at(3000, 500, ER_TOTAL_CUT);
	struct er_wait w = sleep_until(3500, 600, 0);

	cut(c, &a);
	w.runq_ns = 800;
	assert_int_equal(cuts_wait(c, &w), CUT_BLOCKED | CUT_RUNQ);
	assert_int_equal(w.blocked_ns, 0);
	assert_int_equal(w.runq_ns, 500);
	cuts_free(c);
}

/* Waits whose time is in a total that is written already weigh nothing. */
static void test_late_waits(void **state)
{
	struct cuts *c = cuts_new();
	struct er_total a = total_at(3000, 500, ER_TOTAL_CUT);
	struct er_total end = total_at(4000, 900, ER_TOTAL_ENDED);
	struct er_wait early = sleep_until(2900, 100, 100), late = sleep_until(3900, 100, 100);
	struct er_wait other = sleep_until(5000, 100, 100);

	cut(c, &a);
	cuts_wait(c, &early);
	assert_int_equal(early.blocked_weight, 0);
	cuts_total(c, &end);
	assert_int_equal(end.rest_ns[ER_OFF_SLEEP], 400);
	cuts_wait(c, &late);
	assert_int_equal(late.blocked_weight, 0);
	/* Another thread got the number. */
	assert_int_equal(cuts_wait(c, &other), 0);
	assert_int_equal(other.blocked_weight, 100);
	cuts_free(c);
}

/* A total waits for a wait of its thread that was put off, for as long as that is put off. */
static void test_total_follows_its_waits(void **state)
{
	struct cuts *c = cuts_new();

	cuts_batch(c);
	assert_false(cuts_must_defer(c, &task));
	cuts_defer(c, &task);
	assert_true(cuts_must_defer(c, &task));
	cuts_batch(c);
	assert_false(cuts_must_defer(c, &task));
	cuts_free(c);
}

static bool is_next(struct cuts *c, uint32_t tid, uint64_t t)
{
	struct er_wait w = { .h = { .time_ns = t }, .task = task };

	w.task.tid = tid;
	return cuts_is_next(c, &w.h);
}

static void test_whose_record(void **state)
{
	struct cuts *c = cuts_new();
	struct er_total seen = total_at(3000, 0, ER_TOTAL_CUT);
	struct er_total ended = total_at(2995, 0, ER_TOTAL_ENDED);

	ended.task.tid = 9;
	cuts_begin(c, 2990, 3010);
	cuts_note(c, &seen);
	cuts_note(c, &ended);
	assert_false(is_next(c, 8, 3000)); /* by its own moment */
	assert_true(is_next(c, 8, 3001));
	assert_false(is_next(c, 9, 2995)); /* ended before it was visited */
	assert_false(is_next(c, 10, 2990));
	assert_true(is_next(c, 10, 2991)); /* born after its place was visited */
	cuts_free(c);
}

/* Threads that have ended are forgotten. */
static void test_nothing_grows(void **state)
{
	struct cuts *c = cuts_new();

	for (uint32_t i = 0; i < 100; i++) {
		struct er_total t = total_at(3000 + i, 0, ER_TOTAL_CUT);

		t.task.tid = 100 + i;
		cut(c, &t);
		if (i % 2) {
			t = total_at(3000 + i, 0, ER_TOTAL_ENDED);
			t.task.tid = 100 + i;
			cuts_total(c, &t);
		}
	}
	assert_in_range(cuts_nthreads(c), 1, 3);
	cuts_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_totals_add_up),
		cmocka_unit_test(test_prediction_was_too_large),
		cmocka_unit_test(test_open_wait_is_divided),
		cmocka_unit_test(test_long_wait_is_divided),
		cmocka_unit_test(test_wait_through_several_cuts),
		cmocka_unit_test(test_lengths_are_exact),
		cmocka_unit_test(test_cut_in_the_run_queue),
		cmocka_unit_test(test_a_wait_that_the_cut_took_for_open),
		cmocka_unit_test(test_late_waits),
		cmocka_unit_test(test_total_follows_its_waits),
		cmocka_unit_test(test_whose_record),
		cmocka_unit_test(test_nothing_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
