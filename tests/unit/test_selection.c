/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Selections by lists of numbers, and definitions of object types. */
#include "analysis/metrics/filter.h"
#include "analysis/metrics/objtype.h"
#include "analysis/metrics/selection.h"
#include "analysis/views/view_state.h"
#include "tests/unit/session_fixture.h"

enum { NSAMPLES = 6, TICKS = 10 };

/*
 * Two processes with six samples each. In each sample thread 1 and thread 2 of both processes work.
 */
static void open_samples(struct opened *o)
{
	struct exp_builder *sub;

	fixture_new(o);
	sub = exp_builder_sub(o->builder, "_b_PID_20.1.er", "/bin/b", 20);
	exp_builder_sample(o->builder, "start", 0);
	exp_builder_sample(sub, "start", 0);
	for (int i = 0; i < NSAMPLES; i++) {
		exp_builder_profile_cpu(o->builder, 1, i % 2, "main", MS_USER, TICKS);
		exp_builder_profile_cpu(o->builder, 2, i % 2, "main", MS_USER, TICKS);
		exp_builder_profile_cpu(sub, 1, i % 2, "main", MS_USER, TICKS);
		exp_builder_profile_cpu(sub, 2, i % 2, "main", MS_USER, TICKS);
		exp_builder_sleep(o->builder, 1);
		exp_builder_sleep(sub, 1);
		exp_builder_sample(o->builder, "next", 0);
		exp_builder_sample(sub, "next", 0);
	}
	exp_builder_close(sub);
	fixture_open(o);
	o->view.filter = filter_new();
	filter_select(o->view.filter, &o->view.selection);
}

static int select_kind(struct opened *o, enum select_kind kind, const char *text)
{
	view_state_changed(&o->view);
	return selection_parse(&o->view.selection, o->session, kind, text, &o->diag);
}

/* The number of packets. */
static int64_t selected(struct opened *o)
{
	view_state_changed(&o->view);
	return total(o, "total") / TICKS;
}

static const char *printed(struct opened *o, unsigned experiment, enum select_kind kind)
{
	static struct buf b;
	static char text[64];

	buf_clear(&b);
	selection_print(&o->view.selection, experiment, kind, &b);
	snprintf(text, sizeof(text), "%s", b.data);
	buf_free(&b);
	return text;
}

static void test_lists(void **state)
{
	struct opened o;

	open_samples(&o);
	assert_int_equal(selected(&o), 24);
	assert_int_equal(select_kind(&o, SELECT_SAMPLE, "1:1-4+2:5,6"), 0);
	assert_int_equal(selected(&o), 8 + 4);
	assert_string_equal(printed(&o, 1, SELECT_SAMPLE), "1-4");
	assert_string_equal(printed(&o, 2, SELECT_SAMPLE), "5-6");
	assert_int_equal(select_kind(&o, SELECT_SAMPLE, "all:1,3-6"), 0);
	assert_int_equal(selected(&o), 20);
	assert_int_equal(select_kind(&o, SELECT_SAMPLE, "3-4,1,2-3"), 0);
	assert_string_equal(printed(&o, 1, SELECT_SAMPLE), "1-4");
	assert_int_equal(select_kind(&o, SELECT_CPU, "1"), 0);
	assert_int_equal(selected(&o), 8);
	assert_int_equal(select_kind(&o, SELECT_SAMPLE, "all"), 0);
	assert_int_equal(selected(&o), 12);
	assert_int_equal(select_kind(&o, SELECT_THREAD, "1:1+2:all"), 0);
	assert_int_equal(selected(&o), 3 + 6);
	assert_int_equal(select_kind(&o, SELECT_CPU, "99"), 0);
	assert_int_equal(selected(&o), 0);
	fixture_free(&o);
}

/* The latest list of experiments applies to all kinds of selection. */
static void test_experiments(void **state)
{
	struct opened o;

	open_samples(&o);
	assert_int_equal(select_kind(&o, SELECT_LWP, "1:1"), 0);
	assert_int_equal(selected(&o), 6);
	assert_string_equal(printed(&o, 2, SELECT_THREAD), "none");
	assert_false(selection_has(&o.view.selection, 2));
	assert_int_equal(select_kind(&o, SELECT_SAMPLE, "2:3"), 0);
	assert_string_equal(printed(&o, 1, SELECT_SAMPLE), "none");
	assert_string_equal(printed(&o, 1, SELECT_LWP), "none");
	assert_string_equal(printed(&o, 2, SELECT_SAMPLE), "3");
	assert_string_equal(printed(&o, 2, SELECT_LWP), "all");
	assert_string_equal(printed(&o, 2, SELECT_THREAD), "all");
	assert_int_equal(selected(&o), 2);
	/*
	 * Experiments in the new list keep their selection. An experiment that comes back has
	 * everything selected.
	 */
	assert_int_equal(select_kind(&o, SELECT_THREAD, "2"), 0);
	assert_string_equal(printed(&o, 2, SELECT_SAMPLE), "3");
	assert_string_equal(printed(&o, 1, SELECT_SAMPLE), "all");
	assert_string_equal(printed(&o, 1, SELECT_THREAD), "2");
	assert_int_equal(selected(&o), 1 + 6);
	fixture_free(&o);
}

static void test_errors(void **state)
{
	static const struct {
		const char *text;
		int column;
	} rows[] = {
		{ "", 1 },	{ "x", 1 },	{ "1-", 3 },	{ "1-x", 3 },	 { "1,", 3 },
		{ "1 ,2", 2 },	{ "3:1", 1 },	{ "0:1", 1 },	{ "1:", 3 },	 { "1:1+", 5 },
		{ "5-4", 1 },	{ "1:1:1", 4 }, { "-1", 1 },	{ "1,2-3x", 6 }, { "alll", 4 },
		{ "99999999999999999999", 1 },
	};
	struct opened o;

	open_samples(&o);
	assert_int_equal(select_kind(&o, SELECT_SAMPLE, "2"), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char want[64];

		assert_int_equal(select_kind(&o, SELECT_SAMPLE, rows[i].text), -1);
		assert_int_equal(o.diag.nerrors, i + 1);
		snprintf(want, sizeof(want), "column %d:", rows[i].column);
		if (!strstr(o.diag.msgs[3 * i].text, want))
			fail_msg("'%s' wants %s: %s", rows[i].text, want, o.diag.msgs[3 * i].text);
	}
	/* A wrong list changes nothing. */
	assert_string_equal(printed(&o, 1, SELECT_SAMPLE), "2");
	assert_int_equal(selected(&o), 4);
	fixture_free(&o);
}

static void test_define(void **state)
{
	struct opened o;

	open_samples(&o);
	assert_int_equal(objtype_define(&o.view.types, o.session, OBJ_INDEX, "Pair", "CPUID*2+THRID",
					&o.diag), 0);
	assert_string_equal(objtype_find(&o.view.types, "pAIR")->text, "CPUID*2+THRID");
	assert_int_equal(objtype_define(&o.view.types, o.session, OBJ_MEMORY, "p4k",
					"VADDR>255?(VADDR>>12):-1", &o.diag), 0);
	assert_int_equal(objtype_define(&o.view.types, o.session, OBJ_INDEX, "Twice", "Pair*2",
					&o.diag), 0);
	assert_int_equal(o.diag.nerrors, 0);
	assert_int_equal(objtype_define(&o.view.types, o.session, OBJ_INDEX, "pair", "1", &o.diag), -1);
	assert_int_equal(objtype_define(&o.view.types, o.session, OBJ_INDEX, "threads", "1", &o.diag),
			 -1);
	assert_int_equal(objtype_define(&o.view.types, o.session, OBJ_INDEX, "1x", "1", &o.diag), -1);
	assert_int_equal(objtype_define(&o.view.types, o.session, OBJ_INDEX, "a-b", "1", &o.diag), -1);
	assert_int_equal(objtype_define(&o.view.types, o.session, OBJ_INDEX, "", "1", &o.diag), -1);
	assert_int_equal(objtype_define(&o.view.types, o.session, OBJ_INDEX, "New", "1+", &o.diag), -1);
	assert_int_equal(objtype_define(&o.view.types, o.session, OBJ_INDEX, "New", "New", &o.diag), -1);
	assert_int_equal(o.diag.nerrors, 7);
	assert_null(objtype_find(&o.view.types, "New"));
	fixture_free(&o);
}

static int64_t filtered(struct opened *o, const char *text)
{
	filter_free(o->view.filter);
	o->view.filter = filter_parse(o->session, &o->view.types, text, &o->diag);
	assert_non_null(o->view.filter);
	return selected(o);
}

/* Threads of a user experiment have numbers from 1, in the order of packets, in each process. */
static void test_numbers(void **state)
{
	struct exp_builder *sub;
	struct opened o;

	fixture_new(&o);
	sub = exp_builder_sub(o.builder, "_b_PID_20.1.er", "/bin/b", 20);
	exp_builder_profile(o.builder, 500, "main", MS_USER, 1 * TICKS);
	exp_builder_profile(o.builder, 300, "main", MS_USER, 2 * TICKS);
	exp_builder_profile(o.builder, 500, "main", MS_USER, 4 * TICKS);
	exp_builder_profile(sub, 300, "main", MS_USER, 8 * TICKS);
	exp_builder_close(sub);
	fixture_open(&o);
	o.view.filter = filter_new();
	filter_select(o.view.filter, &o.view.selection);
	assert_int_equal(select_kind(&o, SELECT_THREAD, "1"), 0);
	assert_int_equal(selected(&o), 1 + 4 + 8);
	assert_int_equal(select_kind(&o, SELECT_THREAD, "2"), 0);
	assert_int_equal(selected(&o), 2);
	assert_int_equal(select_kind(&o, SELECT_THREAD, "all"), 0);
	assert_int_equal(select_kind(&o, SELECT_LWP, "1:2+2:1"), 0);
	assert_int_equal(selected(&o), 2 + 8);
	assert_int_equal(select_kind(&o, SELECT_LWP, "all"), 0);
	assert_int_equal(filtered(&o, "THRID==2"), 2);
	assert_int_equal(filtered(&o, "TID==300"), 2 + 8);
	fixture_free(&o);
}

static int64_t selected_cpu(struct opened *o)
{
	view_state_changed(&o->view);
	return total(o, "cpu") / TICKS;
}

/* In a recording of er_kernel an LWP is a process, whether it was followed or not. */
static void test_processes(void **state)
{
	struct exp_builder *sub;
	struct opened o;

	fixture_new_kernel(&o);
	sub = exp_builder_sub(o.builder, "_b_PID_20.1.er", "/bin/b", 20);
	exp_builder_profile(o.builder, 30, "k:read", MS_KERNEL_CPU, 1 * TICKS);
	exp_builder_profile(sub, 20, "main", MS_USER, 2 * TICKS);
	exp_builder_profile(sub, 21, "main", MS_USER, 4 * TICKS);
	exp_builder_close(sub);
	fixture_open(&o);
	o.view.filter = filter_new();
	filter_select(o.view.filter, &o.view.selection);
	assert_int_equal(select_kind(&o, SELECT_LWP, "20"), 0);
	assert_int_equal(selected_cpu(&o), 2 + 4);
	assert_int_equal(select_kind(&o, SELECT_LWP, "30"), 0);
	assert_int_equal(selected_cpu(&o), 1);
	assert_int_equal(select_kind(&o, SELECT_LWP, "21"), 0);
	assert_int_equal(selected_cpu(&o), 0);
	assert_int_equal(select_kind(&o, SELECT_LWP, "all"), 0);
	assert_int_equal(select_kind(&o, SELECT_THREAD, "21"), 0);
	assert_int_equal(selected_cpu(&o), 4);
	fixture_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_experiments),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_define),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
