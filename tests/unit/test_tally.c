/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/views/view_state.h"
#include "tests/unit/session_fixture.h"

/* The worked example of Sun's manual, with every number. */
static void test_worked_example(void **state)
{
	static const struct {
		const char *func;
		int excl, incl;
	} rows[] = { { "main", 2, 32 }, { "A", 0, 10 }, { "B", 5, 20 }, { "C", 5, 25 },
		     { "E", 10, 10 },   { "F", 5, 10 }, { "G", 5, 5 } };
	static const struct {
		const char *caller, *callee;
		int value;
	} arrows[] = { { "main", "A", 10 }, { "main", "B", 20 }, { "A", "C", 10 }, { "B", "C", 15 },
		       { "C", "E", 10 },    { "C", "F", 10 },    { "F", "G", 5 } };
	struct opened o;

	fixture_new(&o);
	exp_builder_profile(o.builder, 1, "main", MS_USER, 2);
	exp_builder_profile(o.builder, 1, "main>B", MS_USER, 5);
	exp_builder_profile(o.builder, 1, "main>A>C", MS_USER, 2);
	exp_builder_profile(o.builder, 1, "main>A>C>E", MS_USER, 4);
	exp_builder_profile(o.builder, 1, "main>A>C>F", MS_USER, 2);
	exp_builder_profile(o.builder, 1, "main>A>C>F>G", MS_USER, 2);
	exp_builder_profile(o.builder, 1, "main>B>C", MS_USER, 3);
	exp_builder_profile(o.builder, 1, "main>B>C>E", MS_USER, 6);
	exp_builder_profile(o.builder, 1, "main>B>C>F", MS_USER, 3);
	exp_builder_profile(o.builder, 1, "main>B>C>F>G", MS_USER, 3);
	fixture_open(&o);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(excl(&o, rows[i].func, "user"), rows[i].excl);
		assert_int_equal(incl(&o, rows[i].func, "user"), rows[i].incl);
	}
	for (size_t i = 0; i < sizeof(arrows) / sizeof(arrows[0]); i++) {
		assert_int_equal(attributed(&o, false, arrows[i].caller, arrows[i].callee, "user"),
				 arrows[i].value);
		assert_int_equal(attributed(&o, true, arrows[i].callee, arrows[i].caller, "user"),
				 arrows[i].value);
	}
	assert_int_equal(total(&o, "user"), 32);
	assert_int_equal(attributed(&o, true, "main", "<Total>", "user"), 32);
	fixture_free(&o);
}

/* Recursion counts once and is attributed at the innermost call. */
static void test_recursion(void **state)
{
	struct opened o;

	fixture_new(&o);
	exp_builder_profile(o.builder, 1, "main>r>r>r", MS_USER, 1);
	fixture_open(&o);
	assert_int_equal(excl(&o, "r", "user"), 1);
	assert_int_equal(incl(&o, "r", "user"), 1);
	assert_int_equal(attributed(&o, true, "r", "r", "user"), 1);
	assert_int_equal(attributed(&o, true, "r", "main", "user"), 0);
	assert_int_equal(attributed(&o, false, "main", "r", "user"), 1);
	assert_int_equal(attributed(&o, false, "r", "r", "user"), 0);
	fixture_free(&o);
}

/* With indirect recursion the callers add up to inclusive, the callees to inclusive - exclusive. */
static void test_identity(void **state)
{
	struct opened o;

	fixture_new(&o);
	exp_builder_profile(o.builder, 1, "main>a>b>a>b>c", MS_USER, 7);
	exp_builder_profile(o.builder, 1, "main>b>a", MS_USER, 3);
	exp_builder_profile(o.builder, 1, "main>a>b", MS_USER, 5);
	fixture_open(&o);
	assert_int_equal(incl(&o, "a", "user"), 15);
	assert_int_equal(attributed(&o, true, "a", "main", "user") +
				 attributed(&o, true, "a", "b", "user"), 15);
	assert_int_equal(attributed(&o, false, "a", "b", "user") + excl(&o, "a", "user"), 15);
	assert_int_equal(attributed(&o, false, "b", "a", "user") +
				 attributed(&o, false, "b", "c", "user") + excl(&o, "b", "user"),
			 incl(&o, "b", "user"));
	fixture_free(&o);
}

static void test_states(void **state)
{
	struct opened o;

	fixture_new(&o);
	exp_builder_profile(o.builder, 1, "main>f", MS_USER, 1);
	exp_builder_profile(o.builder, 1, "main>f", MS_SYSTEM, 2);
	exp_builder_profile(o.builder, 1, "main>f", MS_TRAP, 4);
	exp_builder_profile(o.builder, 1, "main>f", MS_SLEEP, 8);
	exp_builder_profile(o.builder, 1, "main>f", MS_KERNEL_CPU, 16);
	fixture_open(&o);
	assert_int_equal(excl(&o, "f", "user"), 1);
	assert_int_equal(excl(&o, "f", "system"), 2);
	assert_int_equal(excl(&o, "f", "totalcpu"), 7);
	assert_int_equal(excl(&o, "f", "total"), 15);
	assert_int_equal(excl(&o, "f", "owait"), 8);
	assert_int_equal(excl(&o, "main", "total"), 0);
	fixture_free(&o);
}

/* All user functions of a builder belong to one object. If it is hidden they are one line. */
static void test_hidden_object(void **state)
{
	struct loadobj *dynamic;
	struct opened o;

	fixture_new(&o);
	exp_builder_profile(o.builder, 1, "main>work>k:vfs_read>k:memcpy", MS_SYSTEM, 3);
	exp_builder_profile(o.builder, 1, "main>work", MS_USER, 4);
	fixture_open(&o);
	dynamic = session_find_object(o.session, "DYNAMIC_FUNCTIONS");
	assert_non_null(dynamic);
	dynamic->show = SHOW_HIDE;
	assert_int_equal(incl(&o, "<DYNAMIC_FUNCTIONS>", "total"), 7);
	assert_int_equal(excl(&o, "<DYNAMIC_FUNCTIONS>", "total"), 4);
	assert_int_equal(incl(&o, "main", "total"), 0);
	assert_int_equal(attributed(&o, false, "<DYNAMIC_FUNCTIONS>", "vmlinux`vfs_read", "total"), 3);
	view_state_changed(&o.view);
	dynamic->show = SHOW_ALL;
	the_func(&o, "vmlinux`vfs_read")->obj->show = SHOW_API;
	assert_int_equal(excl(&o, "vmlinux`vfs_read", "total"), 3);
	assert_int_equal(incl(&o, "vmlinux`memcpy", "total"), 0);
	fixture_free(&o);
}

static void test_empty(void **state)
{
	struct opened o;

	fixture_new(&o);
	fixture_open(&o);
	assert_int_equal(total(&o, "user"), 0);
	assert_int_equal(view_tally(&o.view)->npackets, 0);
	fixture_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worked_example), cmocka_unit_test(test_recursion),
		cmocka_unit_test(test_identity),       cmocka_unit_test(test_states),
		cmocka_unit_test(test_hidden_object),  cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
