/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/experiment/usage.h"
#include "analysis/views/table.h"
#include "tests/unit/session_fixture.h"

static const char *name_of(const struct table *t, size_t row)
{
	return t->rows.data[row].cells[t->columns.len - 1].s;
}

/* <Total> first, then by the metric, ties by name; the limit counts <Total>. */
static void test_functions(void **state)
{
	static const char *const want[] = { "<Total>", "zeta", "alpha", "main" };
	struct table t = { 0 };
	struct opened o;

	fixture_new(&o);
	exp_builder_profile(o.builder, 1, "main>zeta", MS_USER, 5);
	exp_builder_profile(o.builder, 1, "main>alpha", MS_USER, 3);
	exp_builder_profile(o.builder, 1, "waiting", MS_SLEEP, 9);
	fixture_open(&o);
	view_functions(&o.view, &t, &o.diag);
	assert_string_equal(t.title, "Functions sorted by metric: Exclusive User CPU Time");
	assert_int_equal(t.rows.len, 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(name_of(&t, i), want[i]);
	assert_int_equal(t.rows.data[1].cells[0].i, 5 * BUILDER_TICK_NS);
	assert_true(t.rows.data[1].cells[1].d == 62.5);
	assert_true(t.columns.data[0].sorted && !t.columns.data[2].sorted);
	table_free(&t);
	o.view.limit = 3;
	view_functions(&o.view, &t, &o.diag);
	assert_int_equal(t.rows.len, 3);
	table_free(&t);
	o.view.limit = 0;
	o.view.sort.reverse = true;
	view_functions(&o.view, &t, &o.diag);
	assert_string_equal(name_of(&t, 0), "<Total>");
	assert_string_equal(name_of(&t, 1), "main");
	table_free(&t);
	fixture_free(&o);
}

/* Callers, the marked function, callees. Recursion shows in both lists, with 0. */
static void test_panel(void **state)
{
	static const struct {
		const char *name;
		int64_t ticks;
		char mark;
	} want[] = { { "r", 1, 0 }, { "main", 0, 0 }, { "r", 0, '*' }, { "leaf", 1, 0 }, { "r", 0, 0 } };
	struct table t = { 0 };
	struct opened o;

	fixture_new(&o);
	exp_builder_profile(o.builder, 1, "main>r>r>leaf", MS_USER, 1);
	fixture_open(&o);
	view_callers(&o.view, (struct func *[]){ the_func(&o, "r") }, 1, &t, &o.diag);
	assert_int_equal(t.rows.len, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_string_equal(name_of(&t, i), want[i].name);
		assert_int_equal(t.rows.data[i].cells[0].i, want[i].ticks * BUILDER_TICK_NS);
		assert_int_equal(t.rows.data[i].mark, want[i].mark);
	}
	table_free(&t);
	fixture_free(&o);
}

static void assert_index(struct opened *o, const char *type, const char *const *names,
			 const int64_t *ticks, size_t n)
{
	struct table t = { 0 };

	view_index(&o->view, objtype_find(&o->view.types, type), &t, &o->diag);
	assert_int_equal(t.rows.len, n);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(name_of(&t, i), names[i]);
		assert_int_equal(t.rows.data[i].cells[0].i, ticks[i] * BUILDER_TICK_NS);
	}
	table_free(&t);
}

/* Rows have the system's ids and the numbers for filters; a sub-experiment has its own process. */
static void test_index(void **state)
{
	static const char *const cpus[] = { "<Total>", "CPU 3", "CPU 0" };
	static const int64_t ticks[] = { 1500, 1000, 500 };
	struct exp_builder *sub;
	struct table t = { 0 };
	struct opened o;

	fixture_new(&o);
	sub = exp_builder_sub(o.builder, "_work_PID_12.1.er", "/bin/work -x", 12);
	exp_builder_profile_cpu(sub, 12, 3, "main", MS_USER, 1000);
	exp_builder_profile_cpu(o.builder, 4712, 0, "k:tick", MS_USER, 500);
	exp_builder_close(sub);
	fixture_open(&o);
	assert_index(&o, "CPUs", cpus, ticks, 3);
	view_index(&o.view, objtype_find(&o.view.types, "Processes"), &t, &o.diag);
	assert_int_equal(t.rows.len, 3);
	assert_string_equal(name_of(&t, 1), "work, PID 12");
	assert_non_null(strstr(name_of(&t, 2), "PID 4711"));
	table_free(&t);
	view_index(&o.view, objtype_find(&o.view.types, "Threads"), &t, &o.diag);
	assert_string_equal(name_of(&t, 1), "work, PID 12, TID 12, thread 1");
	table_free(&t);
	fixture_free(&o);
}

static bool has_line(const struct table *t, const char *part)
{
	vec_for_each(r, &t->rows) {
		if (r->cells[0].s && strstr(r->cells[0].s, part))
			return true;
	}
	return false;
}

static void header_of(struct opened *o, struct table *t)
{
	*t = (struct table){ 0 };
	assert_int_equal(view_header(&o->view, NULL, t, &o->diag), 0);
}

/* The recorder's counts are compared with the packets: one of three is missing. */
static void test_account(void **state)
{
	struct table t;
	struct opened o;
	struct expwriter *w;

	fixture_new(&o);
	w = exp_builder_writer(o.builder);
	for (uint32_t seq = 0; seq < 3; seq++)
		expwriter_clock(w, &(struct clock_packet){
			.thread = 1, .cpu = 1, .time_ns = exp_builder_now(o.builder), .seq = seq,
			.stack = exp_builder_stack(o.builder, "main"), .nticks = 1 });
	expwriter_replace(w, "recorder.xml",
			  "<recorder version=\"1\"/>\n"
			  "<ring cpu=\"1\" produced=\"5\" recorded=\"3\" lost=\"2\"/>\n"
			  "<stacks lost=\"1\" user_truncated=\"7\" kernel_truncated=\"2\" kernel_failed=\"1\"/>\n"
			  "<loss second=\"4\" pid=\"12\" tid=\"13\" kind=\"clock\" count=\"2\"/>\n"
			  "<cost program=\"clock\" runs=\"10\" ns=\"20000\"/>\n"
			  "<self user_ns=\"1000000\" system_ns=\"0\" maxrss_kb=\"2048\"/>\n"
			  "<suspended ns=\"5613000000\"/>\n"
			  "<hotplug cpu=\"1\" count=\"2\"/><hotplug cpu=\"3\" count=\"1\"/>\n");
	expwriter_text(w, "threads.xml", "<thread pid=\"12\" tid=\"13\" end=\"9\" moves=\"2\" moved=\"1500000000\"/>\n"
		       "<thread pid=\"12\" tid=\"14\" end=\"9\" moves=\"1\" moved=\"500000000\"/>\n"
		       "<thread pid=\"12\" tid=\"15\" end=\"9\"/>\n");
	fixture_open(&o);
	header_of(&o, &t);
	assert_true(has_line(&t, "The scheduler moved 2 sleeping threads, 3 times: 2.000 sec. that "
				 "schedstat counts"));
	assert_true(has_line(&t, "*** Lost: 2 of 5 samples (40.00 %) and 1 stack: times and counts"));
	assert_true(has_line(&t, "5 samples produced, 3 recorded, 2 lost; 3 in the packets"));
	assert_false(has_line(&t, "***  not as many"));
	assert_true(has_line(&t, "in second 4: 2 clock records of PID 12, TID 13"));
	assert_true(has_line(&t, "7 user stacks were deeper than was recorded"));
	assert_true(has_line(&t, "2 kernel stacks were deeper than was recorded: "
				 "raise kernel.perf_event_max_stack"));
	assert_true(has_line(&t, "1 kernel stack could not be walked"));
	assert_false(has_line(&t, "140.00 %")); /* more stacks than samples: waits have stacks, too */
	assert_true(has_line(&t, "10 runs, 0.000 sec., 2000 ns each"));
	assert_true(has_line(&t, "suspended for 5.613 sec., which are in no time here"));
	assert_true(has_line(&t, "CPU 1 went offline or came online: 2 times"));
	assert_true(has_line(&t, "CPU 3 went offline or came online: 1 time"));
	table_free(&t);
	fixture_free(&o);
}

/* How waits were recorded, losses of waits, and effects of a budget. */
static void test_capture(void **state)
{
	struct table t;
	struct opened o;

	fixture_new(&o);
	expwriter_replace(exp_builder_writer(o.builder), "recorder.xml",
			  "<recorder version=\"1\"/>\n"
			  "<capture how=\"clock, stacks of waits by sched_exit_tp\" states=\"1\" "
			  "began_ns=\"250000000\" ended_ns=\"3260000000\" "
			  "distance_ns=\"10007000\" widest_ns=\"40028000\" split=\"1\"/>\n"
			  "<target pid=\"12\" tid=\"0\"/><target pid=\"12\" tid=\"13\"/>\n"
			  "<target pid=\"0\" tid=\"5\"/>\n"
			  "<budget percent=\"2\"/><shed second=\"3\" what=\"waker stacks\" cost=\"4\"/>\n"
			  "<shed second=\"9\" what=\"nothing\" cost=\"0.5\"/>\n"
			  "<ring cpu=\"1\" produced=\"0\" recorded=\"0\" lost=\"0\"/>\n"
			  "<waitring cpu=\"1\" produced=\"2\" recorded=\"0\" lost=\"2\"/>\n");
	fixture_open(&o);
	header_of(&o, &t);
	assert_true(has_line(&t, "Captured by clock, stacks of waits by sched_exit_tp"));
	assert_true(has_line(&t, "Recorded for 3.010 sec., from second 0.250 to 3.260"));
	assert_true(has_line(&t, "  Waits of 40.028 msec. or longer all recorded; shorter ones sampled, "
				 "at the end once in 10.007 msec. of each state; user and system time exact"));
	assert_true(has_line(&t, "  Only PID 12"));
	assert_true(has_line(&t, "  Only PID 12, TID 13"));
	assert_true(has_line(&t, "  Only kernel thread 5"));
	assert_true(has_line(&t, "Budget: 2 % of all CPU time"));
	assert_true(has_line(&t, "From second 3 on, to keep to the budget, left out: waker stacks"));
	assert_true(has_line(&t, "From second 9 on, all was recorded again"));
	assert_true(has_line(&t, "*** Lost: 2 of 2 waits (100.00 %): times are right"));
	table_free(&t);
	fixture_free(&o);
}

/* Counters: each one's own count, the overflows that were not seen, and losses. */
static void test_counters(void **state)
{
	struct table t;
	struct opened o;

	fixture_new(&o);
	expwriter_replace(exp_builder_writer(o.builder), "recorder.xml",
			  "<recorder version=\"1\"/>\n"
			  "<counterring cpu=\"0\" produced=\"10\" recorded=\"0\" lost=\"10\"/>\n"
			  "<counter name=\"page-faults\" interval=\"1\" events=\"1000\" seen=\"900\" "
			  "enabled_ns=\"100\" running_ns=\"100\"/>\n"
			  "<counter name=\"cycles\" interval=\"1000\" events=\"2500\" seen=\"2000\" "
			  "enabled_ns=\"100\" running_ns=\"60\"/>\n"
			  "<counter name=\"insts\" interval=\"1000\"/>\n"
			  "<loss second=\"1\" pid=\"7\" tid=\"8\" kind=\"counter\" count=\"10\"/>\n");
	fixture_open(&o);
	header_of(&o, &t);
	assert_true(has_line(&t, "*** Lost: 10 of 10 overflows of counters (100.00 %)"));
	assert_true(has_line(&t, "in second 1: 10 counter records of PID 7, TID 8"));
	assert_true(has_line(&t, "*** Counter page-faults: 100 of 1000 events (10.00 %) overflowed unseen"));
	assert_false(has_line(&t, "*** Counter cycles: 500 of"));
	assert_true(has_line(&t, "*** Counter cycles: counted 60.0 % of the time"));
	assert_true(has_line(&t, "Counter cycles: 2500 events, 2000 of them in overflows"));
	assert_false(has_line(&t, "Counter insts"));
	table_free(&t);
	fixture_free(&o);
}

/* The row of the table with this label. */
static const struct row *row_of(const struct table *t, const char *label)
{
	vec_for_each(r, &t->rows) {
		if (r->cells[0].s && !strcmp(r->cells[0].s, label))
			return r;
	}
	return NULL;
}

/* The recorder lists the fields that it does not count; other zeros are real. */
static void test_uncounted(void **state)
{
	struct exp_usage usage = { .time_ns = 1000000000 };
	struct table t = { 0 };
	struct opened o;

	fixture_new(&o);
	expwriter_replace(exp_builder_writer(o.builder), "recorder.xml",
			  "<recorder version=\"1\"/><usage uncounted=\"ioch ictx lock\"/>\n");
	expwriter_sample(exp_builder_writer(o.builder), &usage, "start");
	usage.time_ns += 1000000000;
	usage.inblock = 5;
	expwriter_sample(exp_builder_writer(o.builder), &usage, "end");
	fixture_open(&o);
	assert_int_equal(view_statistics(&o.view, NULL, &t, &o.diag), 0);
	assert_string_equal(row_of(&t, "Characters of I/O:")->cells[1].s, "not counted");
	assert_string_equal(row_of(&t, "Involuntary context switches:")->cells[1].s, "not counted");
	assert_string_equal(row_of(&t, "User Lock:")->cells[1].s, "not counted");
	assert_int_equal(row_of(&t, "Input blocks:")->cells[1].i, 5);
	assert_int_equal(row_of(&t, "System calls:")->cells[1].kind, CELL_COUNT);
	table_free(&t);
	fixture_free(&o);
}

static void test_not_closed(void **state)
{
	struct table t;
	struct opened o;

	fixture_new(&o);
	exp_builder_profile(o.builder, 1, "main", MS_USER, 1);
	exp_builder_abandon(o.builder);
	fixture_open_built(&o);
	header_of(&o, &t);
	assert_true(has_line(&t, "was not closed"));
	table_free(&t);
	fixture_free(&o);
}

/* Every view works on an experiment without packets. */
/* The panel of a function does not depend on how many CPUs share the work. */
static void all_panels_are_those_of_each(void **state)
{
	struct table all = { 0 }, one = { 0 };
	struct opened o;
	size_t at = 0;

	fixture_new(&o);
	for (int i = 0; i < 60; i++) {
		char stack[64];

		snprintf(stack, sizeof(stack), "main>f%d>g%d>h%d>f%d", i % 7, i % 11, i % 5, i % 3);
		exp_builder_profile(o.builder, 1, stack, MS_USER, 1 + i % 4);
	}
	fixture_open(&o);
	assert_int_equal(view_callers_callees(&o.view, &all, &o.diag), 0);
	table_draw(&all);
	for (int group = 0; at < all.rows.len; group++) {
		struct func *middle = NULL;

		for (size_t i = at; i < all.rows.len && all.rows.data[i].group == group; i++) {
			if (all.rows.data[i].mark)
				middle = !strcmp(name_of(&all, i), "<Total>") ?
						 o.session->total :
						 the_func(&o, name_of(&all, i));
		}
		assert_non_null(middle);
		view_callers(&o.view, &middle, 1, &one, &o.diag);
		for (size_t i = 0; i < one.rows.len; i++, at++) {
			assert_int_equal(all.rows.data[at].group, group);
			assert_string_equal(name_of(&all, at), name_of(&one, i));
			assert_memory_equal(all.rows.data[at].cells, one.rows.data[i].cells,
					    (one.columns.len - 1) * sizeof(struct cell));
		}
		table_free(&one);
	}
	assert_int_equal(all.rows.data[all.rows.len - 1].group, 1 + 1 + 7 + 11 + 5 - 1);
	table_free(&all);
	fixture_free(&o);
}

static void test_empty(void **state)
{
	struct table t = { 0 };
	struct opened o;

	fixture_new(&o);
	fixture_open(&o);
	view_functions(&o.view, &t, &o.diag);
	assert_int_equal(t.rows.len, 1);
	table_free(&t);
	view_callers_callees(&o.view, &t, &o.diag);
	table_free(&t);
	view_summary(&o.view, NULL, &t, &o.diag);
	table_free(&t);
	view_objects(&o.view, &t, &o.diag);
	table_free(&t);
	view_object_list(&o.view, &t, &o.diag);
	table_free(&t);
	view_experiment_list(&o.view, &t, &o.diag);
	assert_int_equal(t.rows.len, 1);
	table_free(&t);
	view_sample_list(&o.view, &t, &o.diag);
	table_free(&t);
	view_overview(&o.view, NULL, &t, &o.diag);
	table_free(&t);
	view_statistics(&o.view, NULL, &t, &o.diag);
	table_free(&t);
	vec_for_each(type, &o.view.types.all) {
		bool memory = type->kind == OBJ_MEMORY; /* no counter has its address */

		assert_int_equal(view_index(&o.view, type, &t, &o.diag), memory ? -1 : 0);
		assert_int_equal(t.rows.len, memory ? 0 : 1);
		table_free(&t);
	}
	fixture_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions), cmocka_unit_test(test_panel),
		cmocka_unit_test(test_index),	  cmocka_unit_test(test_account),
		cmocka_unit_test(test_capture),	  cmocka_unit_test(test_counters),
		cmocka_unit_test(test_uncounted),
		cmocka_unit_test(test_not_closed), cmocka_unit_test(test_empty),
		cmocka_unit_test(all_panels_are_those_of_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
