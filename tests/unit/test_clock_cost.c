/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a tick of the clock takes, and the shortest interval that leaves half of a CPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loaders/clock_cost.h"

static void test_least_interval(void **state)
{
	assert_int_equal(clock_cost_least(0), 0);
	assert_int_equal(clock_cost_least(1), 1000);
	assert_int_equal(clock_cost_least(500), 1000);
	assert_int_equal(clock_cost_least(45200), 91000);
}

/* A tick of a period that is measured with cannot take longer than the period. */
static void test_measured_cost(void **state)
{
	assert_in_range(clock_cost_ns(), 0, 250000 - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_least_interval),
		cmocka_unit_test(test_measured_cost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
