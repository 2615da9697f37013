/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is due when, on a simulated clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "user/record/schedule.h"

#define SEC 1000000000ULL

static const uint64_t start = 5 * SEC + 7;

/* The number of times it is due between `from` and `to`, if checked every `step` ns. */
static unsigned times(struct schedule *s, enum due what, uint64_t from, uint64_t to, uint64_t step)
{
	unsigned n = 0;

	for (uint64_t t = from; t <= to; t += step)
		n += schedule_due(s, what, start + t);
	return n;
}

/* -S 1 -t 2.5: due at 1 s and at 2 s, independent of other work in between. */
static void usage_samples_keep_their_beat(void **state)
{
	const struct plan plan = { .sample_s = 1, .end_ns = 5 * SEC / 2 };
	struct schedule s;

	schedule_init(&s, &plan, start);
	assert_int_equal(times(&s, DUE_SAMPLE, 0, SEC - 1, SEC / 10 - 1), 0);
	assert_int_equal(times(&s, DUE_SAMPLE, SEC, plan.end_ns, SEC / 10), 2);
	/* A late caller finds everything that was due, and then the next one on time. */
	schedule_init(&s, &plan, start);
	assert_int_equal(times(&s, DUE_SAMPLE, 19 * SEC / 5, 4 * SEC - 1, 1000000), 3);
	assert_true(schedule_due(&s, DUE_SAMPLE, start + 4 * SEC));
}

/* A killed recorder leaves counts that are a second old, and five in a long recording. */
static void counts_are_written_less_often_later(void **state)
{
	const struct plan plan = { 0 };
	struct schedule s;

	schedule_init(&s, &plan, start);
	assert_int_equal(times(&s, DUE_RECORDER_XML, 0, 10 * SEC - 1, SEC / 100), 9);
	assert_int_equal(times(&s, DUE_RECORDER_XML, 10 * SEC, 60 * SEC - 1, SEC / 100), 10);
}

/* After a pause missed ticks are not made up for. */
static void ticks_are_not_made_up_for(void **state)
{
	const struct plan plan = { 0 };
	struct schedule s;

	schedule_init(&s, &plan, start);
	assert_true(schedule_due(&s, DUE_TICK, start + 100 * SEC));
	assert_false(schedule_due(&s, DUE_TICK, start + 100 * SEC));
	assert_in_range(times(&s, DUE_TICK, 100 * SEC, 110 * SEC, 1000000), 51, 100); /* 100 to 200 ms */
	assert_int_equal(times(&s, DUE_RECORDER_XML, SEC, 9 * SEC, SEC / 100), 9);
	assert_int_equal(times(&s, DUE_SAMPLE, 0, 100 * SEC, SEC), 0); /* none are wanted */
	assert_int_equal(times(&s, DUE_END, 0, 100 * SEC, SEC), 0);
}

static void what_is_cancelled_is_never_due(void **state)
{
	const struct plan plan = { .begin_ns = SEC };
	struct schedule s;

	schedule_init(&s, &plan, start);
	schedule_cancel(&s, DUE_BEGIN);
	assert_int_equal(times(&s, DUE_BEGIN, 0, 10 * SEC, SEC), 0);
}

static void the_end_comes_once_and_may_come_earlier(void **state)
{
	const struct plan plan = { .end_ns = 9 * SEC, .begin_ns = SEC };
	struct schedule s;

	schedule_init(&s, &plan, start);
	assert_int_equal(times(&s, DUE_BEGIN, 0, 10 * SEC, SEC / 4), 1);
	schedule_by(&s, DUE_END, start + 12 * SEC); /* not later */
	assert_false(schedule_due(&s, DUE_END, start + 9 * SEC - 1));
	assert_true(schedule_due(&s, DUE_END, start + 9 * SEC));
	schedule_init(&s, &plan, start);
	schedule_by(&s, DUE_END, start + 2 * SEC);
	assert_int_equal(times(&s, DUE_END, 2 * SEC, 20 * SEC, SEC), 1);
}

/* A wait of less than a millisecond takes one; otherwise the recorder would spin. */
static void waits_are_rounded_up(void **state)
{
	const struct plan plan = { .end_ns = SEC / 1000 + 1 };
	struct schedule s;

	schedule_init(&s, &plan, start);
	assert_int_equal(schedule_wait_ms(&s, start), 2);
	assert_int_equal(schedule_wait_ms(&s, start + 1), 1);
	assert_int_equal(schedule_wait_ms(&s, start + plan.end_ns - 1), 1);
	assert_int_equal(schedule_wait_ms(&s, start + plan.end_ns), 0);
	assert_int_equal(schedule_wait_ms(&s, start + 10 * SEC), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usage_samples_keep_their_beat),
		cmocka_unit_test(counts_are_written_less_often_later),
		cmocka_unit_test(ticks_are_not_made_up_for),
		cmocka_unit_test(what_is_cancelled_is_never_due),
		cmocka_unit_test(the_end_comes_once_and_may_come_earlier),
		cmocka_unit_test(waits_are_rounded_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
