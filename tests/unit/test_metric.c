/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>

#include "analysis/views/view_state.h"
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

/* The grammar of metric specifications. */
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

/* After an error the list is unchanged. */
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

/* Only "!" selects hidden metrics. */
static void test_sort(void **state)
{
	static const char *const ignored[] = { "i%user", "i.user", "i+user", "bogus", "e.bogus" };
	struct metric_list l = { 0 };
	struct metric_sort s;
	struct buf b = { 0 };
	struct opened o;

	open_user(&o);
	metric_list_parse(&o.metrics, LIST_FUNCS, "e.user:i!user", &o.diag, &l);
	metric_sort_default(&o.metrics, &l, LIST_FUNCS, &s);
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

/* Lists that follow the function list, and the defaults. */
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
	/* The attributed metric has the visibilities of both. It is hidden only if both are. */
	metric_list_parse(&o.metrics, LIST_FUNCS, "e%user:i!user:address:i.total", &o.diag, &l);
	metric_list_callers(&l, &c);
	assert_printed(&c, "a%user:e%user:i!user:address:a.total:i.total:name");
	metric_list_free(&l);
	metric_list_free(&c);
	metric_list_parse(&o.metrics, LIST_FUNCS, "e!user:i.user", &o.diag, &l);
	metric_list_callers(&l, &c);
	assert_printed(&c, "a.user:e!user:i.user:name");
	metric_list_free(&l);
	metric_list_free(&c);
	metric_list_parse(&o.metrics, LIST_FUNCS, "e!user:i!user:name", &o.diag, &l);
	metric_list_callers(&l, &c);
	assert_printed(&c, "a!user:e!user:i!user:name");
	metric_list_free(&l);
	metric_list_free(&c);
	metric_list_free(&i);
	fixture_free(&o);
}

static void assert_default(struct opened *o, const char *dmetrics, const char *want)
{
	struct metric_list l;

	metric_set_defaults(&o->metrics, dmetrics, NULL);
	metric_list_default(&o->metrics, LIST_FUNCS, &l);
	assert_printed(&l, want);
	metric_list_free(&l);
	free(o->metrics.dmetrics);
	o->metrics.dmetrics = NULL;
}

/* For each metric, defaults from files come before built-in ones. */
static void test_dmetrics(void **state)
{
	struct opened o;

	open_user(&o);
	assert_default(&o, "i.system", "i.system:e.user:e%user:i.user:i%user:name");
	assert_default(&o, "e!user", "i.user:i%user:name");
	assert_default(&o, "ei!user:i.sleep", "i.sleep:name");
	assert_default(&o, "e.user", "e.user:i.user:i%user:name");
	assert_default(&o, "e.nothing:e.:ei!any", "name");
	assert_default(&o, "name:size:ei!any", "name:size");
	metric_set_defaults(&o.metrics, "e!user", NULL);
	assert_default(&o, "e.user", "i.user:i%user:name");
	assert_int_equal(o.diag.nerrors, 0);
	fixture_free(&o);
}

static void assert_dsort(struct opened *o, const char *dsort, const char *want)
{
	struct metric_sort s;
	struct buf b = { 0 };

	metric_set_defaults(&o->metrics, NULL, dsort);
	metric_sort_default(&o->metrics, &o->view.metrics, LIST_FUNCS, &s);
	metric_sort_print(&s, &b);
	assert_string_equal(b.data, want);
	buf_free(&b);
	free(o->metrics.dsort);
	o->metrics.dsort = NULL;
}

/* The first metric that matches; hidden ones only with "!". */
static void test_dsort(void **state)
{
	struct opened o;

	open_user(&o);
	assert_dsort(&o, NULL, "e.user:e%user");
	assert_dsort(&o, "ie.any", "i.user:i%user");
	assert_dsort(&o, "i.nothing:e.system:name", "name");
	assert_dsort(&o, "e!system:name", "e!system");
	assert_dsort(&o, "e.hwc", "e.user:e%user");
	assert_dsort(&o, "-name", "-name");
	fixture_free(&o);
}

/* A kernel recording: founder of KERNEL_CPU, a followed process of all states. */
static void open_kernel_recording(struct opened *o, const char *name)
{
	struct exp_header h = { .collector = "er_kernel 0", .hostname = "h", .arch = "x86_64", .os = "Linux",
				.cwd = "/", .command = "load", .pid = 1, .wordsize = 64 };
	struct clock_packet p = { .thread = 9, .lwp = 9, .stack = 1, .state = MS_KERNEL_CPU };
	char *path = xasprintf("%s/%s", o->dir, name);
	uint64_t pc = 0x1000;
	int dir = open(o->dir, O_RDONLY | O_DIRECTORY);
	struct expwriter *founder, *sub;

	assert_int_equal(expwriter_create(dir, "k.1.er", &h, &o->diag, &founder), 0);
	expwriter_clock_profile(founder, 1000, STATES_KERNEL, false);
	expwriter_parts_begin(founder, &h);
	expwriter_clock_profile(founder, 1000, STATES_ALL, true);
	expwriter_parts_end(founder);
	assert_int_equal(expwriter_create_part(founder, "_load_PID_9.1.er", &h, &o->diag, &sub), 0);
	expwriter_stack(founder, 1, &pc, 1);
	expwriter_stack(sub, 1, &pc, 1);
	p.nticks = 1;
	expwriter_clock(founder, &p);
	p = (struct clock_packet){ .thread = 9, .stack = 1, .state = MS_SYSTEM, .nticks = 2 };
	expwriter_clock(sub, &p);
	p.state = MS_TRAP;
	p.nticks = 4;
	expwriter_clock(sub, &p);
	p.state = MS_USER;
	p.nticks = 8;
	expwriter_clock(sub, &p);
	expwriter_exit(sub, 1);
	expwriter_exit(founder, 1);
	assert_int_equal(expwriter_close(sub), 0);
	assert_int_equal(expwriter_close(founder), 0);
	close(dir);
	o->session = session_new(&o->diag);
	assert_int_equal(session_add(o->session, path), 0);
	free(path);
}

/* kcpu is kernel mode in all experiments; the default metric is the sum of it and user. */
static void test_kcpu(void **state)
{
	struct opened o;

	fixture_new(&o);
	exp_builder_close(o.builder);
	open_kernel_recording(&o, "k.1.er");
	metric_set_init(&o.metrics, o.session);
	view_state_init(&o.view, o.session, &o.metrics);
	assert_printed(&o.view.metrics,
		       "e.cpu:e%cpu:i.cpu:i%cpu:i.kcpu:name");
	assert_printed(&o.view.imetrics, "e.cpu:e%cpu:e.kcpu:name");
	assert_int_equal(total(&o, "cpu"), 1 + 2 + 4 + 8);
	assert_int_equal(total(&o, "kcpu"), 1 + 2 + 4);
	assert_int_equal(total(&o, "user"), 8);
	assert_int_equal(total(&o, "system"), 1 + 2);
	assert_int_equal(total(&o, "totalcpu"), 1 + 2 + 4 + 8);
	fixture_free(&o);
}

/* A followed process that is opened without its founder has the same metrics. */
static void test_followed_alone(void **state)
{
	struct opened o;

	fixture_new(&o);
	exp_builder_close(o.builder);
	open_kernel_recording(&o, "k.1.er/_load_PID_9.1.er");
	metric_set_init(&o.metrics, o.session);
	view_state_init(&o.view, o.session, &o.metrics);
	assert_printed(&o.view.metrics, "e.cpu:e%cpu:i.cpu:i%cpu:i.kcpu:name");
	assert_int_equal(total(&o, "kcpu"), 2 + 4);
	assert_int_equal(total(&o, "cpu"), 2 + 4 + 8);
	fixture_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grammar),
		cmocka_unit_test(test_bad_lists),
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_derived),
		cmocka_unit_test(test_dmetrics),
		cmocka_unit_test(test_dsort),
		cmocka_unit_test(test_kcpu),
		cmocka_unit_test(test_followed_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
