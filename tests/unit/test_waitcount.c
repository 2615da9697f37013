/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of waits, exact and estimated. */
#include "analysis/metrics/filter.h"
#include "analysis/metrics/waitstat.h"
#include "analysis/views/table.h"
#include "tests/unit/waitviews_fixture.h"

static void test_counts(void **state)
{
	struct table t = { 0 };
	const struct row *r;
	struct opened o;

	fixture_new(&o);
	/*
	 * 10 ms in waits of 2 ms count as five waits; a traced wait of 30 ms as one; 7 ms are a
	 * remainder.
	 */
	put_wait(&o, 1, "main>k:a", MS_SLEEP, 10,
		 (struct wait_info){ .reason = REASON_PIPE, .length_ns = 2 * MS });
	put_wait(&o, 1, "main>k:a", MS_SLEEP, 30,
		 (struct wait_info){ .reason = REASON_PIPE, .length_ns = 30 * MS,
				     .flags = WFLAG_TRACED });
	put_wait(&o, 1, "main>k:b", MS_SLEEP, 7,
		 (struct wait_info){ .reason = REASON_PIPE, .length_ns = 7 * MS,
				     .flags = WFLAG_REST });
	put_wait(&o, 1, "main>k:c", MS_SLEEP, 3,
		 (struct wait_info){ .reason = REASON_NO_WORK, .length_ns = 3 * MS });
	fixture_open(&o);
	assert_int_equal(view_waits(&o.view, &t, &o.diag), 0);
	r = row_of(&t, "pipe");
	assert_int_equal(r->cells[0].i, 47 * MS);
	/* A wait of 2 ms that was sampled with the probability 1/5: sqrt(10 * 8) ms. */
	assert_int_equal(r->cells[2].i, 8944272);
	assert_int_equal(r->cells[3].i, 6);
	assert_true(r->cells[3].estimate); /* there is no threads.xml to scale it by */
	assert_int_equal(r->cells[5].i, 40 * MS / 6);
	assert_int_equal(r->cells[6].i, 30 * MS);
	assert_string_equal(r->cells[7].s, "0 0 0 0 5 1 0 0 0");
	r = row_of(&t, "b < main");
	assert_int_equal(r->cells[0].i, 7 * MS);
	assert_int_equal(r->cells[3].kind, CELL_BLANK);
	/* Kernel threads without work are counted, but their stacks are not shown. */
	assert_int_equal(row_of(&t, "no work")->cells[0].i, 3 * MS);
	for (size_t i = 0; i < t.rows.len; i++)
		assert_null(strstr(text_of(&t, i), "c < main"));
	assert_int_equal(row_of(&t, "<Total>")->cells[0].i, 50 * MS);
	table_free(&t);
	fixture_free(&o);
}

enum { COUNT = 3, ERROR = 4, MEAN = 5 };

static void assert_counted(const struct table *t, const char *text, int64_t n, bool estimate,
			   int64_t mean_ns)
{
	const struct row *r = row_of(t, text);

	assert_int_equal(r->cells[COUNT].i, n);
	assert_int_equal(r->cells[COUNT].estimate, estimate);
	assert_int_equal(r->cells[MEAN].i, mean_ns);
	assert_int_equal(r->cells[MEAN].estimate, estimate);
	assert_int_equal(r->cells[ERROR].i > 0, estimate);
}

/*
 * Thread 1 slept 400 times, 40 ms in all. Unscaled, the sampled packets count as 10 waits of a and
 * 30 of b; the remainder is a quarter of the time. Thread 2 slept 5 times, always in b.
 */
static void open_counted(struct opened *o)
{
	fixture_new(o);
	put_wait(o, 1, "main>k:a", MS_SLEEP, 10,
		 (struct wait_info){ .reason = REASON_PIPE, .length_ns = 1 * MS });
	put_wait(o, 1, "main>k:b", MS_SLEEP, 10,
		 (struct wait_info){ .reason = REASON_POLL, .length_ns = 1 * MS });
	put_wait(o, 1, "main>k:b", MS_SLEEP, 10,
		 (struct wait_info){ .reason = REASON_POLL, .length_ns = MS / 2 });
	put_wait(o, 1, "main>k:c", MS_SLEEP, 10,
		 (struct wait_info){ .reason = REASON_DISK, .length_ns = 10 * MS,
				     .flags = WFLAG_REST });
	put_wait(o, 2, "main>k:b", MS_SLEEP, 20,
		 (struct wait_info){ .reason = REASON_POLL, .length_ns = 2 * MS });
	put_wait(o, 2, "<Stolen>", MS_WAIT_CPU, 7,
		 (struct wait_info){ .reason = REASON_STOLEN, .length_ns = 7 * MS,
				     .flags = WFLAG_REST });
	expwriter_text(exp_builder_writer(o->builder), "threads.xml",
		       "<thread pid=\"4711\" tid=\"1\" end=\"9\" sleep=\"40000000\" nsleep=\"400\"/>\n"
		       "<thread pid=\"4711\" tid=\"2\" end=\"9\" sleep=\"20000000\" nsleep=\"5\" wait=\"7000000\" nwait=\"3\"/>\n");
	fixture_open(o);
}

/* Estimates add up to the exact counts. A row with all waits of a thread in a state is exact. */
static void test_scaled_counts(void **state)
{
	struct table t = { 0 };
	struct opened o;

	open_counted(&o);
	assert_int_equal(view_waits(&o.view, &t, &o.diag), 0);
	assert_counted(&t, "<Total>", 405, false, 60 * MS / 405);
	assert_counted(&t, "pipe", 75, true, 10 * MS / 75);
	assert_counted(&t, "poll", 230, true, 40 * MS / 230);
	assert_counted(&t, "disk", 100, true, MS / 10);
	assert_int_equal(row_of(&t, "stolen")->cells[COUNT].kind, CELL_BLANK);
	assert_true(noted(&t, "an estimate"));
	table_free(&t);
	fixture_free(&o);
}

/*
 * All recorded waits of thread 1 were for a timer, and so is the remainder. But 98 of its 100 waits were not recorded:
 * they may have been others. Of thread 2 all were recorded.
 */
static void test_unseen_counts(void **state)
{
	struct table t = { 0 };
	struct opened o;

	fixture_new(&o);
	for (int i = 0; i < 2; i++)
		put_wait(&o, 1, "main>k:a", MS_SLEEP, 10,
			 (struct wait_info){ .reason = REASON_TIMER, .length_ns = 1 * MS });
	put_wait(&o, 1, "main>k:a", MS_SLEEP, 80,
		 (struct wait_info){ .reason = REASON_TIMER, .length_ns = 80 * MS, .flags = WFLAG_REST });
	for (int i = 0; i < 2; i++)
		put_wait(&o, 2, "main>k:b", MS_SLEEP, 20,
			 (struct wait_info){ .reason = REASON_POLL, .length_ns = 20 * MS });
	expwriter_text(exp_builder_writer(o.builder), "threads.xml",
		       "<thread pid=\"4711\" tid=\"1\" end=\"9\" sleep=\"100000000\" nsleep=\"100\"/>\n"
		       "<thread pid=\"4711\" tid=\"2\" end=\"9\" sleep=\"40000000\" nsleep=\"2\"/>\n");
	fixture_open(&o);
	assert_int_equal(view_waits(&o.view, &t, &o.diag), 0);
	assert_counted(&t, "<Total>", 102, false, 140 * MS / 102);
	assert_int_equal(row_of(&t, "timer")->cells[COUNT].i, 100);
	assert_true(row_of(&t, "timer")->cells[COUNT].estimate);
	assert_counted(&t, "poll", 2, false, 20 * MS);
	table_free(&t);
	fixture_free(&o);
}

/*
 * The exact count says that the sampled waits are twice as many as they say themselves. A row of the
 * histogram still has a mean that lies within it: its shortest length. A long wait counts as one, and has its own.
 */
static void test_mean_within_its_row(void **state)
{
	static const struct {
		const char *row;
		int64_t n, mean_ns;
		bool estimate;
	} rows[] = {
		{ "1 ms", 40, 1024 * 1000, true }, { "4 ms", 9, 4096 * 1000, true }, { "32 ms", 1, 50 * MS, false },
	};
	struct table t = { 0 };
	struct opened o;

	fixture_new(&o);
	put_wait(&o, 1, "main>k:a", MS_WAIT_CPU, 15,
		 (struct wait_info){ .reason = REASON_WOKEN, .length_ns = 3 * MS / 2 });
	put_wait(&o, 1, "main>k:a", MS_WAIT_CPU, 15,
		 (struct wait_info){ .reason = REASON_WOKEN, .length_ns = 3 * MS / 2 });
	put_wait(&o, 1, "main>k:a", MS_WAIT_CPU, 28,
		 (struct wait_info){ .reason = REASON_WOKEN, .length_ns = 6 * MS });
	put_wait(&o, 1, "main>k:b", MS_WAIT_CPU, 50,
		 (struct wait_info){ .reason = REASON_WOKEN, .length_ns = 50 * MS, .flags = WFLAG_TRACED });
	expwriter_text(exp_builder_writer(o.builder), "threads.xml",
		       "<thread pid=\"4711\" tid=\"1\" end=\"9\" wait=\"108000000\" nwait=\"50\"/>\n");
	fixture_open(&o);
	assert_int_equal(view_runqueue(&o.view, &t, &o.diag), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_counted(&t, rows[i].row, rows[i].n, rows[i].estimate, rows[i].mean_ns);
	}
	table_free(&t);
	fixture_free(&o);
}

/*
 * A filter does not change the estimates. A row with a whole thread is exact, a row with a part of
 * it is not.
 */
static void test_filtered_counts(void **state)
{
	static const struct {
		const char *filter;
		int64_t n;
		bool estimate;
	} cases[] = {
		{ "THRID == 1", 400, false }, { "THRID == 2", 5, false },
		{ "REASON == 3", 75, true },  { "THRID == 1 && REASON != 1", 300, true },
	};
	struct opened o;

	open_counted(&o);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct table t = { 0 };
		const struct row *r;

		filter_free(o.view.filter);
		o.view.filter = filter_parse(o.session, NULL, cases[i].filter, &o.diag);
		assert_non_null(o.view.filter);
		assert_int_equal(view_waits(&o.view, &t, &o.diag), 0);
		r = row_of(&t, "<Total>");
		assert_int_equal(r->cells[COUNT].i, cases[i].n);
		assert_int_equal(r->cells[COUNT].estimate, cases[i].estimate);
		table_free(&t);
	}
	filter_free(o.view.filter);
	o.view.filter = NULL;
	fixture_free(&o);
}

/* A traced wait counts as one. The others share the rest of the thread's count. */
static void test_traced_counts(void **state)
{
	struct table t = { 0 };
	struct opened o;

	fixture_new(&o);
	for (int i = 0; i < 3; i++)
		put_wait(&o, 1, "main>k:a", MS_SLEEP, 10,
			 (struct wait_info){ .reason = REASON_PIPE, .length_ns = 10 * MS,
					     .flags = WFLAG_TRACED });
	put_wait(&o, 1, "main>k:b", MS_SLEEP, 8,
		 (struct wait_info){ .reason = REASON_POLL, .length_ns = 8 * MS,
				     .flags = WFLAG_REST });
	expwriter_text(exp_builder_writer(o.builder), "threads.xml",
		       "<thread pid=\"4711\" tid=\"1\" end=\"9\" sleep=\"38000000\" nsleep=\"43\"/>\n");
	fixture_open(&o);
	assert_int_equal(view_waits(&o.view, &t, &o.diag), 0);
	assert_counted(&t, "<Total>", 43, false, 38 * MS / 43);
	assert_counted(&t, "pipe", 3, false, 10 * MS);
	assert_counted(&t, "poll", 40, false, MS / 5);
	assert_false(noted(&t, "an estimate"));
	table_free(&t);
	fixture_free(&o);
}

/* If a row has k of n equal estimates its error is that of a binomial k. */
static void test_error(void **state)
{
	struct wait_stat all = { .estimated = 100, .squares = 100, .marks = 0 };
	struct wait_stat part = { .estimated = 20, .squares = 20, .marks = 1 };

	assert_int_equal((int)(wait_stat_error(&part, &all) * wait_stat_error(&part, &all) + 0.5), 16);
	part.unscaled = true;
	assert_int_equal((int)(wait_stat_error(&part, &all) * wait_stat_error(&part, &all) + 0.5), 20);
	assert_int_equal((int)wait_stat_error(&all, &all), 0);
}

/*
 * Waits of 1, 3 and 40 ms in turn, chosen by sample points at jittered intervals, as the recorder
 * does. The three estimated numbers must be equal, within four times the standard error for that
 * number of samples.
 */
static void test_unbiased(void **state)
{
	static const int64_t lengths[] = { 1000000, 3000000, 40000000 };
	double count[3] = { 0 };
	int64_t point = 10000000;
	uint64_t seed = 88172645463325252ULL;
	enum { ROUNDS = 30000 };

	for (int i = 0; i < 3 * ROUNDS; i++) {
		int64_t left = lengths[i % 3], weight = 0;

		while (point <= left) {
			left -= point;
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			point = 5000000 + (int64_t)(seed % 10000000);
			weight += 10000000;
		}
		point -= left;
		count[i % 3] += (double)weight / (double)lengths[i % 3];
	}
	/* 3,000 samples of the first kind, 9,000 of the second: 7 % and 4 % are four sigma. */
	assert_in_range((long)count[0], (long)(0.93 * ROUNDS), (long)(1.07 * ROUNDS));
	assert_in_range((long)count[1], (long)(0.96 * ROUNDS), (long)(1.04 * ROUNDS));
	assert_in_range((long)count[2], (long)(0.98 * ROUNDS), (long)(1.02 * ROUNDS));
}

static void test_buckets(void **state)
{
	assert_int_equal(wait_decade(0), 0);
	assert_int_equal(wait_decade(999), 0);
	assert_int_equal(wait_decade(1000), 1);
	assert_int_equal(wait_decade(999999), 3);
	assert_int_equal(wait_decade(1000000), 4);
	assert_int_equal(wait_decade(INT64_MAX), WAIT_DECADES - 1);
	assert_int_equal(wait_octave(999), 0);
	assert_int_equal(wait_octave(1000), 1);
	assert_int_equal(wait_octave(1999), 1);
	assert_int_equal(wait_octave(4000), 3);
	assert_int_equal(wait_octave(INT64_MAX), WAIT_OCTAVES - 1);
}

/* The longest of many waits are kept, whatever the order of their arrival. */
static void test_longest(void **state)
{
	struct table t = { 0 };
	struct opened o;

	fixture_new(&o);
	for (int i = 0; i < 200; i++)
		put_wait(&o, 1, "main>k:a", MS_SLEEP, 1,
			 (struct wait_info){ .reason = REASON_PIPE, .length_ns = (i * 77 % 200 + 1) * MS });
	put_wait(&o, 1, "main>k:b", MS_SLEEP, 900,
		 (struct wait_info){ .reason = REASON_PIPE, .length_ns = 900 * MS, .flags = WFLAG_REST });
	fixture_open(&o);
	o.view.limit = 3;
	assert_int_equal(view_longest(&o.view, &t, &o.diag), 0);
	assert_int_equal(t.rows.len, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(t.rows.data[i].cells[1].i, (200 - i) * MS);
	table_free(&t);
	o.view.limit = 0;
	assert_int_equal(view_longest(&o.view, &t, &o.diag), 0);
	assert_int_equal(t.rows.len, 20);
	table_free(&t);
	o.view.limit_given = true;
	assert_int_equal(view_longest(&o.view, &t, &o.diag), 0);
	assert_int_equal(t.rows.len, 200);
	assert_int_equal(t.rows.data[199].cells[1].i, MS);
	assert_int_equal(t.notes.len, 0);
	table_free(&t);
	fixture_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),	      cmocka_unit_test(test_scaled_counts),
		cmocka_unit_test(test_unseen_counts),
		cmocka_unit_test(test_filtered_counts), cmocka_unit_test(test_traced_counts),
		cmocka_unit_test(test_error),	      cmocka_unit_test(test_unbiased),
		cmocka_unit_test(test_buckets), cmocka_unit_test(test_longest),
		cmocka_unit_test(test_mean_within_its_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
