/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Differences between two recordings, and when they count. */
#include <math.h>

#include "analysis/base/map.h"
#include "analysis/metrics/difference.h"
#include "analysis/model/builds.h"
#include "analysis/views/diff.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"
#include "tests/unit/waitviews_fixture.h"

static void test_change(void **state)
{
	static const struct {
		struct estimate a, b;
		double least;
		enum change change;
	} rows[] = {
		{ { 100, 0 }, { 100, 0 }, 0, CHANGE_NONE },
		{ { 100, 0 }, { 101, 0 }, 2, CHANGE_NONE },
		{ { 100, 0 }, { 103, 0 }, 2, CHANGE_MORE },
		{ { 100, 0 }, { 97, 0 }, 2, CHANGE_LESS },
		/* four standard errors of sqrt(8 + 8) = 4 are 16 */
		{ { 100, 8 }, { 117, 8 }, 2, CHANGE_NONE },
		{ { 100, 8 }, { 119, 8 }, 2, CHANGE_MORE },
		{ { 100, 8 }, { 83, 8 }, 2, CHANGE_NONE },
		{ { 100, 8 }, { 81, 8 }, 2, CHANGE_LESS },
		{ { 0, 0 }, { 19, 16 }, 2, CHANGE_NEW },
		{ { 0, 0 }, { 15, 16 }, 2, CHANGE_NONE },
		{ { 19, 16 }, { 0, 0 }, 2, CHANGE_GONE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(change_of(&rows[i].a, &rows[i].b, rows[i].least, 4),
				 rows[i].change);
}

/* Quantiles of the normal distribution, from tables. */
static void test_errors_for(void **state)
{
	assert_true(fabs(errors_for(0.01, 1000) - 4.2649) < 0.0001);
	assert_true(fabs(errors_for(0.01, 100) - 3.7190) < 0.0001);
	assert_true(fabs(errors_for(0.01, 1) - 3) < 0.0001);
	assert_true(fabs(errors_for(0.01, 0) - 3) < 0.0001);
}

/* So many samples of 5 ms in each of these functions. */
struct load {
	const char *stack;
	unsigned n;
};

static void put_load(struct exp_builder *b, const struct load *load)
{
	for (; load->stack; load++) {
		for (unsigned i = 0; i < load->n; i++)
			exp_builder_profile(b, 1, load->stack, MS_USER, 5);
	}
}

static void open_two(struct opened *o, const struct load *before, const struct load *after)
{
	struct exp_builder *b;
	char *path;

	fixture_new(o);
	put_load(o->builder, before);
	exp_builder_close(o->builder);
	b = exp_builder_new(o->dir, "u.1.er");
	put_load(b, after);
	exp_builder_close(b);
	o->session = session_new(&o->diag);
	for (int i = 0; i < 2; i++) {
		path = xasprintf("%s/%c.1.er", o->dir, "tu"[i]);
		assert_int_equal(session_add(o->session, path), 0);
		free(path);
	}
	metric_set_init(&o->metrics, o->session);
	view_state_init(&o->view, o->session, &o->metrics);
	assert_int_equal(metric_set_compare_squares(&o->metrics, o->session, &o->diag), 0);
}

/* The verdict on the row whose name begins so, among those of exclusive CPU time; "" if none. */
static const char *verdict_on(const struct table *t, const char *name)
{
	for (size_t i = 0; i < t->rows.len; i++) {
		if (t->rows.data[i].group == 0 && !strncmp(text_of(t, i), name, strlen(name)))
			return t->rows.data[i].cells[5].s;
	}
	return "";
}

/* Functions are matched by name: those of the second recording have other addresses. */
static void test_verdicts(void **state)
{
	static const struct load before[] = { { "main>f", 400 }, { "main>g", 800 }, { "main>little", 100 },
					      { "main>old", 400 }, { NULL, 0 } };
	static const struct load after[] = { { "main>young", 400 }, { "main>little", 110 },
					     { "main>g", 400 }, { "main>f", 800 }, { NULL, 0 } };
	struct table t = { 0 };
	bool slower = false;
	struct opened o;
	const struct row *r;

	open_two(&o, before, after);
	assert_int_equal(view_diff(&o.view, DIFF_TIME, &slower, &t, &o.diag), 0);
	assert_true(slower);
	assert_string_equal(verdict_on(&t, "f"), "slower");
	assert_string_equal(verdict_on(&t, "g"), "faster");
	assert_string_equal(verdict_on(&t, "young"), "new");
	assert_string_equal(verdict_on(&t, "old"), "gone");
	assert_string_equal(verdict_on(&t, "little"), "");
	assert_string_equal(verdict_on(&t, "<Total>"), "same");
	r = row_of(&t, "f");
	assert_int_equal(r->cells[0].i, 2000LL * MS);
	assert_int_equal(r->cells[1].i, 4000LL * MS);
	assert_int_equal(r->cells[2].i, 2000LL * MS);
	/* 5 ms * sqrt(n p (1 - p)) of both: 1,200 samples of 3,410 */
	assert_true(fabs(r->cells[3].i / 1e6 - 5 * sqrt(3410 * 0.351906 * 0.648094)) < 0.01);
	assert_string_equal(r->cells[4].s, "+100.0");
	table_free(&t);
	fixture_free(&o);
}

/* A function that appears counts by its share of all time, not by its own, which was nothing. */
static void test_new(void **state)
{
	static const struct load before[] = { { "main>f", 2000 }, { NULL, 0 } };
	static const struct load after[] = { { "main>f", 2000 }, { "main>g", 80 }, { NULL, 0 } };
	struct table t = { 0 };
	struct opened o;
	bool slower;

	open_two(&o, before, after);
	for (int i = 0; i < 2; i++) {
		o.view.threshold = i ? 0.01 : 0.1;
		assert_int_equal(view_diff(&o.view, DIFF_TIME, &slower, &t, &o.diag), 0);
		assert_string_equal(verdict_on(&t, "g"), i ? "new" : "");
		table_free(&t);
	}
	fixture_free(&o);
}

/*
 * A function that was renamed is new under its new name: it counts as slower only if it takes more time than the old
 * one, whatever else got faster. So does no function that calls what was called before.
 */
static void test_renamed(void **state)
{
	static const struct {
		struct load before[3], after[3];
		const char *note; /* NULL: nothing is new */
		bool slower;
	} cases[] = {
		{ { { "main>f", 600 }, { "main>old", 400 } }, { { "main>f", 400 }, { "main>young", 410 } },
		  "CPU time: what is new took 2.050 sec., and what is gone 2.000. What is new does not count as slower.",
		  false },
		{ { { "main>f", 900 }, { "main>old", 400 } }, { { "main>f", 400 }, { "main>young", 800 } },
		  "CPU time: what is new took 4.000 sec., and what is gone 2.000. What is new counts as slower.", true },
		{ { { "main>f", 900 } }, { { "main>f", 300 }, { "main>young", 400 } },
		  "Something got slower: new functions, CPU time.", true },
		{ { { "main>f", 900 } }, { { "main>wrapper>f", 900 } },
		  "CPU time: what is new took 0.000 sec., and what is gone 0.000. What is new does not count as slower.",
		  false },
		{ { { "main>f", 900 }, { "main>old", 400 } }, { { "main>f", 900 } }, NULL, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct table t = { 0 };
		struct opened o;
		bool slower;

		open_two(&o, cases[i].before, cases[i].after);
		assert_int_equal(view_diff(&o.view, DIFF_TIME, &slower, &t, &o.diag), 0);
		assert_int_equal(slower, cases[i].slower);
		assert_true(noted(&t, cases[i].note ? cases[i].note : "Nothing got slower."));
		assert_int_equal(noted(&t, "What is new"), cases[i].note != NULL);
		table_free(&t);
		fixture_free(&o);
	}
}

/* The total of threads is exact, and that of a part of their time is sampled. */
static void test_part(void **state)
{
	static const struct load before[] = { { "main>f", 400 }, { NULL, 0 } };
	static const struct load after[] = { { "main>f", 440 }, { NULL, 0 } };
	static const char *const filters[] = { "PID > 0", "TSTAMP >= 0" };

	for (int i = 0; i < 2; i++) {
		struct table t = { 0 };
		struct opened o;
		bool slower;

		open_two(&o, before, after);
		o.view.filter = filter_parse(o.session, NULL, filters[i], &o.diag);
		assert_int_equal(view_diff(&o.view, DIFF_TIME, &slower, &t, &o.diag), 0);
		assert_string_equal(verdict_on(&t, "<Total>"), i ? "same" : "slower");
		assert_true(fabs(t.rows.data[0].cells[3].i / 1e6 - (i ? 5 * sqrt(840) : 0)) < 0.01);
		assert_int_equal(noted(&t, "The filter leaves a part of the threads' time"), i);
		table_free(&t);
		fixture_free(&o);
	}
}

/* A few samples prove nothing, not even where they are all there is, and exact. */
static void test_few(void **state)
{
	static const struct load one[] = { { "main>f", 1 }, { NULL, 0 } };
	static const struct load other[] = { { "main>g", 2 }, { NULL, 0 } };
	struct table t = { 0 };
	bool slower = true;
	struct opened o;

	open_two(&o, one, other);
	assert_int_equal(view_diff(&o.view, DIFF_TIME, &slower, &t, &o.diag), 0);
	assert_false(slower);
	table_free(&t);
	fixture_free(&o);
}

/* In a second of recording both are the same; in the recording the second has twice the time. */
static void test_units(void **state)
{
	static const struct load once[] = { { "main>f", 400 }, { NULL, 0 } };
	static const struct load twice[] = { { "main>f", 800 }, { NULL, 0 } };
	struct table t = { 0 };
	bool slower = true;
	struct opened o;

	open_two(&o, once, twice);
	assert_int_equal(view_diff(&o.view, DIFF_RATE, &slower, &t, &o.diag), 0);
	assert_false(slower);
	assert_true(noted(&t, "The recordings lasted 2.0 s and 4.0 s"));
	table_free(&t);
	assert_int_equal(view_diff(&o.view, DIFF_TIME, &slower, &t, &o.diag), 0);
	assert_true(slower);
	assert_string_equal(verdict_on(&t, "<Total>"), "slower");
	table_free(&t);
	fixture_free(&o);
}

/*
 * Two recordings of equal loads, by a random number for each sample, a hundred times: at most one
 * seems to differ by sampling, plus what chance makes of that.
 */
static void test_quiet(void **state)
{
	enum { FUNCS = 8, SAMPLES = 600, TIMES = 100 };
	unsigned seed = 1, loud = 0;
	char names[FUNCS][16];

	for (int turn = 0; turn < TIMES; turn++) {
		struct load loads[2][FUNCS + 1] = { 0 };
		struct table t = { 0 };
		bool slower = false;
		struct opened o;

		for (int i = 0; i < 2 * FUNCS; i++) {
			snprintf(names[i % FUNCS], sizeof(names[0]), "main>f%d", i % FUNCS);
			loads[i / FUNCS][i % FUNCS].stack = names[i % FUNCS];
		}
		for (int i = 0; i < 2 * SAMPLES; i++)
			loads[i / SAMPLES][rand_r(&seed) % FUNCS].n++;
		open_two(&o, loads[0], loads[1]);
		o.view.threshold = 0;
		assert_int_equal(view_diff(&o.view, DIFF_TIME, &slower, &t, &o.diag), 0);
		loud += slower;
		table_free(&t);
		fixture_free(&o);
	}
	assert_true(loud <= 3);
}

/* Programs of one name are different builds in whatever directories, unless both recordings have the file. */
static void test_rebuilt(void **state)
{
	static const struct experiment first, second;
	static const struct {
		struct loadobj a, b;
		const char *ret; /* NULL: not different builds */
	} cases[] = {
		{ { .path = "/a/x", .build = "1", .recording = &first },
		  { .path = "/a/x", .build = "2", .recording = &second }, "/a/x" },
		{ { .path = "/a/x", .build = "1", .recording = &first },
		  { .path = "/b/x", .build = "2", .recording = &second }, "/a/x and /b/x" },
		{ { .path = "/a/x", .build = "1", .recording = &first },
		  { .path = "/b/x", .build = "1", .recording = &second }, NULL },
		{ { .path = "/a/x", .build = "1", .recording = &first },
		  { .path = "/b/x", .build = "2", .recording = &first }, NULL },
		{ { .path = "/a/x", .build = "1", .recording = &first, .met_again = true },
		  { .path = "/b/x", .build = "2", .recording = &second }, NULL },
		{ { .path = "/a/x", .build = "1", .recording = &first },
		  { .path = "/a/y", .build = "2", .recording = &second }, NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct loadobj a = cases[i].a, b = cases[i].b, *objects[] = { &a, &b };
		struct session s = { .objects = { .data = objects, .len = 2 } };
		struct strtab paths = { 0 };

		session_rebuilt(&s, &paths);
		assert_int_equal(paths.len, cases[i].ret != NULL);
		if (cases[i].ret)
			assert_string_equal(paths.strings[0], cases[i].ret);
		strtab_free(&paths);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_change),
		cmocka_unit_test(test_errors_for),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_part),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_new),
		cmocka_unit_test(test_renamed),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_rebuilt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
