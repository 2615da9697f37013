/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The search for what a thread did after a time: the same answer wherever the last one was. */
#include "analysis/metrics/timeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { ACTS = 20 };

static size_t expected(const struct timeline *t, int64_t time)
{
	size_t n = 0;

	vec_for_each(a, &t->acts)
		n += a->end <= time;
	return n;
}

static void test_after(void **state)
{
	struct timeline t = { 0 };

	assert_int_equal(timeline_after(&t, 5), 0);
	/* Two activities end at each even time. */
	for (int i = 0; i < ACTS; i++)
		vec_push(&t.acts, (struct activity){ .end = i / 2 * 2 });
	for (int64_t last = -1; last <= ACTS; last++) {
		for (int64_t time = -1; time <= ACTS; time++) {
			timeline_after(&t, last);
			assert_int_equal(timeline_after(&t, time), expected(&t, time));
		}
	}
	vec_free(&t.acts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_after),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
