/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The name of the next experiment, among files that other programs put there. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/base/diag.h"
#include "tests/fixtures/tempdir.h"
#include "user/record/expname.h"

static void assert_next(const char *dir, const char *wanted, const char *name)
{
	const struct plan plan = { .dir = dir, .name = wanted };
	struct expname n;
	struct diag d = { 0 };

	assert_int_equal(expname_choose(&plan, &n, &d), 0);
	assert_string_equal(n.name, name);
	expname_free(&n);
	diag_free(&d);
}

static void test_next_number(void **state)
{
	char *dir = tempdir_new();

	assert_next(dir, NULL, "ktest.1.er");
	tempdir_write(dir, "ktest.2.er", "", 0);
	tempdir_write(dir, "ktest.x.er", "", 0);
	tempdir_write(dir, "ktest.7.erg", "", 0);
	tempdir_write(dir, "other.9.er", "", 0);
	assert_next(dir, NULL, "ktest.3.er");
	assert_next(dir, "ktest.2.er", "ktest.3.er");
	assert_next(dir, "ktest.5.er", "ktest.5.er");
	tempdir_remove(dir);
}

static void test_collect_name(void **state)
{
	char *dir = tempdir_new();
	struct plan plan = { .dir = dir, .program = true };
	struct expname n;
	struct diag d = { 0 };

	assert_int_equal(expname_choose(&plan, &n, &d), 0);
	assert_string_equal(n.name, "test.1.er");
	expname_free(&n);
	tempdir_remove(dir);
}

/* A number too large for a recording counts as part of the name. */
static void test_huge_numbers(void **state)
{
	static const char *const huge[] = {
		"ktest.9223372036854775807.er", "ktest.99999999999999999999.er",
		"ktest.1000000001.er", "ktest.1000000000.er",
	};
	char *dir = tempdir_new();

	for (size_t i = 0; i < sizeof(huge) / sizeof(huge[0]); i++)
		tempdir_write(dir, huge[i], "", 0);
	assert_next(dir, NULL, "ktest.1.er");
	assert_next(dir, "ktest.9223372036854775807.er", "ktest.1.er");
	tempdir_write(dir, "ktest.999999999.er", "", 0);
	assert_next(dir, NULL, "ktest.1000000002.er");
	tempdir_remove(dir);
}

/* What was chosen exists by the time it is to be made. */
static void test_evade(void **state)
{
	char *dir = tempdir_new();
	struct plan plan = { .dir = dir, .name = "two.1.er", .group = "g.erg" };
	struct expname n, next;
	struct diag d = { 0 };

	assert_int_equal(expname_choose(&plan, &n, &d), 0);
	tempdir_write(dir, "two.1.er", "", 0);
	tempdir_write(dir, "two.4.er", "", 0);
	assert_int_equal(expname_evade(&n, &next, &d), 0);
	assert_string_equal(next.name, "two.5.er");
	assert_string_equal(strrchr(next.path, '/'), "/two.5.er");
	assert_string_equal(next.group, n.group);
	assert_int_not_equal(next.dirfd, n.dirfd);
	assert_int_equal(d.nmsgs, 1);
	expname_free(&next);
	expname_free(&n);
	plan.name = "two.er";
	assert_int_equal(expname_choose(&plan, &n, &d), 0);
	assert_int_equal(expname_evade(&n, &next, &d), -EEXIST);
	expname_free(&n);
	diag_free(&d);
	tempdir_remove(dir);
}

/* A dump's number is the next one of its stem; experiments of this stem do not count. */
static void test_dumps(void **state)
{
	char *dir = tempdir_new(), *stem, *dump;
	const struct plan plan = { .dir = dir, .name = "night.7.er", .flight_ns = 1 };
	struct expname n;
	struct diag d = { 0 };

	tempdir_write(dir, "night.7.er", "", 0);
	tempdir_write(dir, "night.4", "", 0);
	tempdir_write(dir, "night.x", "", 0);
	assert_int_equal(expname_choose(&plan, &n, &d), 0);
	assert_int_equal(d.nmsgs, 0);
	stem = expname_stem(&n);
	dump = expname_dump(&n);
	assert_string_equal(stem, "night");
	assert_string_equal(dump, "night.5");
	free(stem);
	free(dump);
	expname_free(&n);
	tempdir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_next_number),
		cmocka_unit_test(test_collect_name),
		cmocka_unit_test(test_huge_numbers),
		cmocka_unit_test(test_evade),
		cmocka_unit_test(test_dumps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
