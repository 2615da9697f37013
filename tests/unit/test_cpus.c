/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loaders/cpus.h"
#include "loaders/rings.h"
#include "loaders/targets.h"

static void test_lists(void **state)
{
	struct cpu_list l;

	assert_int_equal(cpus_parse("0\n", &l), 0);
	assert_int_equal(l.n, 1);
	assert_int_equal(l.cpus[0], 0);
	cpus_free(&l);

	assert_int_equal(cpus_parse("0-2,8,10-11", &l), 0);
	assert_int_equal(l.n, 6);
	assert_int_equal(l.cpus[2], 2);
	assert_int_equal(l.cpus[3], 8);
	assert_int_equal(l.cpus[5], 11);
	cpus_free(&l);
}

/* A thread may be moved to another CPU while it exits. */
static void test_exits_across_cpus(void **state)
{
	struct er_cpu cpus[3] = { { .dying = 7, .dead = 5 }, { .dying = 3, .dead = 5 } };

	assert_int_equal(cpus_unfinished(cpus, 3), 0);
	cpus[2] = (struct er_cpu){ .dying = 2, .dead = UINT32_MAX };
	assert_int_equal(cpus_unfinished(cpus, 3), 3);
}

static void test_not_lists(void **state)
{
	static const char *const bad[] = { "", "\n", "a", "1-", "3-1", "0-999999999", "1,", "1;2",
					   "99999999999999999999" };
	struct cpu_list l;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(cpus_parse(bad[i], &l), -EINVAL);
		assert_null(l.cpus);
	}
}

/* Kernel stacks as long as the limit are cut; a larger limit would hide that. */
static void test_stack_limit(void **state)
{
	assert_in_range(stack_limit(), 1, ER_MAX_KERNEL_FRAMES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stack_limit),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_not_lists),
		cmocka_unit_test(test_exits_across_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
