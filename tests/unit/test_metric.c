/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/session_fixture.h"

static void open_user(struct opened *o)
{
	fixture_new(o);
	exp_builder_profile(o->builder, 1, "main", MS_USER, 1);
	fixture_open(o);
}

static void assert_list(struct opened *o, enum list_kind kind, const char *spec, const char *want)
{
	struct metric_list l = { 0 };
	struct buf b = { 0 };

	assert_int_equal(metric_list_parse(&o->metrics, kind, spec, &o->diag, &l), 0);
	metric_list_print(&l, &b);
	assert_string_equal(b.data, want);
	metric_list_free(&l);
	buf_free(&b);
}

/* T-22, T-23 and the grammar around them. */
static void test_grammar(void **state)
{
	static const struct {
		const char *spec, *want;
	} rows[] = {
		{ "ie.%user", "i.user:i%user:e.user:e%user:name" },
		{ "i.user:i%user:e.user:e%user", "i.user:i%user:e.user:e%user:name" },
		{ "i%.user", "i.user:i%user:name" },
		{ "i.%user", "i.user:i%user:name" },
		{ "i.user:e.user:i%user", "i.user:i%user:e.user:name" },
		{ "i+user", "i.user:name" },
		{ "e.user:e.user", "e.user:name" },
		{ "name:e.user", "name:e.user" },
		{ "user", "e.user:i.user:name" },
		{ "e.ulock:e.text", "e.lock:e.textpfault:name" },
		{ "i!user:i.user", "i!user:name" },
		{ "size:!address:e.user", "size:!address:e.user:name" },
	};
	struct opened o;

	open_user(&o);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_list(&o, LIST_FUNCS, rows[i].spec, rows[i].want);
	assert_list(&o, LIST_CALLERS, "i.user:a%user", "i.user:a%user:name");
	assert_int_equal(o.diag.nerrors, 0);
	fixture_free(&o);
}

/* T-26: an error leaves the list as it was. */
static void test_bad_lists(void **state)
{
	static const char *const bad[] = { "bogus", "e.bogus", "e!.user", "a.user", "d.user", "", "e.",
					   "e.user:", ":", "e.user:x" };
	struct metric_list l = { 0 };
	struct buf b = { 0 };
	struct opened o;

	open_user(&o);
	assert_int_equal(metric_list_parse(&o.metrics, LIST_FUNCS, "e.user", &o.diag, &l), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(metric_list_parse(&o.metrics, LIST_FUNCS, bad[i], &o.diag, &l), -1);
		assert_int_equal(o.diag.nerrors, i + 1);
	}
	metric_list_print(&l, &b);
	assert_string_equal(b.data, "e.user:name");
	assert_int_equal(metric_list_parse(&o.metrics, LIST_INDEX, "i.user", &o.diag, &l), -1);
	metric_list_free(&l);
	buf_free(&b);
	fixture_free(&o);
}

/* T-24: only "!" reaches what is hidden. */
static void test_sort(void **state)
{
	static const char *const ignored[] = { "i%user", "i.user", "i+user", "bogus", "e.bogus" };
	struct metric_list l = { 0 };
	struct metric_sort s;
	struct buf b = { 0 };
	struct opened o;

	open_user(&o);
	metric_list_parse(&o.metrics, LIST_FUNCS, "e.user:i!user", &o.diag, &l);
	metric_sort_default(&l, &s);
	assert_int_equal(s.col.flavor, FLAVOR_EXCL);
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		assert_int_equal(metric_sort_parse(&o.metrics, &l, LIST_FUNCS, ignored[i], &o.diag,
						   &s), -1);
	assert_int_equal(s.col.flavor, FLAVOR_EXCL);
	assert_int_equal(o.diag.nwarnings, 5);
	assert_int_equal(metric_sort_parse(&o.metrics, &l, LIST_FUNCS, "i!user", &o.diag, &s), 0);
	assert_int_equal(s.col.flavor, FLAVOR_INCL);
	assert_int_equal(metric_sort_parse(&o.metrics, &l, LIST_FUNCS, "-e%user", &o.diag, &s), 0);
	metric_sort_describe(&s, &b);
	assert_string_equal(b.data, "-Exclusive User CPU Time");
	buf_clear(&b);
	assert_int_equal(metric_sort_parse(&o.metrics, &l, LIST_FUNCS, "i.user:name", &o.diag, &s), 0);
	metric_sort_print(&s, &b);
	assert_string_equal(b.data, "name");
	assert_int_equal(metric_sort_parse(&o.metrics, &l, LIST_FUNCS, "default", &o.diag, &s), 0);
	assert_int_equal(s.col.flavor, FLAVOR_EXCL);
	metric_list_free(&l);
	buf_free(&b);
	fixture_free(&o);
}

static void assert_printed(const struct metric_list *l, const char *want)
{
	struct buf b = { 0 };

	metric_list_print(l, &b);
	assert_string_equal(b.data, want);
	buf_free(&b);
}

/* What follows from the function list (P-022), and the defaults (M-065). */
static void test_derived(void **state)
{
	struct metric_list l = { 0 }, c, i;
	struct opened o;

	open_user(&o);
	assert_printed(&o.view.metrics, "e.user:e%user:i.user:i%user:name");
	metric_list_parse(&o.metrics, LIST_FUNCS, "e.user:i%user:size", &o.diag, &l);
	metric_list_callers(&l, &c);
	assert_printed(&c, "a.user:a%user:e.user:i%user:size:name");
	metric_list_index(&l, &i);
	assert_printed(&i, "e.user:e%user:name");
	metric_list_free(&l);
	metric_list_free(&c);
	metric_list_free(&i);
	fixture_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grammar),
		cmocka_unit_test(test_bad_lists),
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_derived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
