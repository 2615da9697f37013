/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calls of spans that contain a moment of a thread, and their ranks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/base/buf.h"
#include "analysis/experiment/exp_spans.h"
#include "analysis/model/spans.h"
#include "tests/fixtures/exp_builder.h"
#include "tests/fixtures/tempdir.h"

enum { THREADS = 3, CALLS = 400, TIME = 1000 };

struct call {
	int64_t thread, begin, end; /* ns from the start */
};

static uint64_t random_at(unsigned seed, unsigned n)
{
	return hash64((uint64_t)seed << 32 | (n + 1));
}

/* Nested, overlapping, equal and empty calls, in no order of time. */
static void make_calls(unsigned seed, struct call *calls)
{
	for (unsigned i = 0; i < CALLS; i++) {
		uint64_t h = random_at(seed, i);

		calls[i].thread = 10 + h % THREADS;
		calls[i].begin = (h >> 8) % TIME;
		calls[i].end = calls[i].begin + (h >> 24) % (1u << (h >> 40) % 10);
		/* Every other one lies in the one before. */
		if (i % 2 && calls[i - 1].end > calls[i - 1].begin) {
			calls[i].thread = calls[i - 1].thread;
			calls[i].begin = calls[i - 1].begin + (h >> 8) % 3;
			calls[i].end = calls[i - 1].end;
			if (calls[i].begin > calls[i].end)
				calls[i].begin = calls[i].end;
		}
	}
}

static struct session *record(const char *dir, const struct call *calls, size_t n)
{
	__cleanup(freep) char *path = xasprintf("%s/t.1.er", dir);
	struct exp_builder *b = exp_builder_new(dir, "t.1.er");
	struct session *s = session_new(NULL);

	expwriter_profile(exp_builder_writer(b), ER_PKT_SPAN, NULL);
	for (size_t i = 0; i < n; i++) {
		struct span_packet p = { .thread = calls[i].thread, .name = 1, .id = i + 1,
					 .end_ns = BUILDER_START_NS + calls[i].end,
					 .dur_ns = calls[i].end - calls[i].begin,
					 .run_ns = calls[i].end - calls[i].begin,
					 .flags = SPAN_RETURNED };

		expwriter_span(exp_builder_writer(b), &p);
	}
	exp_builder_close(b);
	assert_int_equal(session_add(s, path), 0);
	return s;
}

/* Compare a walk with a look at every call. Later begins come first. */
static void check_moment(const struct spans *sp, const struct experiment *e, const struct call *calls,
			 int64_t thread, int64_t t)
{
	bool met[CALLS] = { 0 };
	const struct span_call *c;
	int64_t last = INT64_MAX;
	struct span_walk w;

	span_walk_begin(&w, sp, e, thread, t);
	while ((c = span_walk_next(&w))) {
		assert_false(met[c->id - 1]);
		met[c->id - 1] = true;
		assert_true(c->begin_ns <= last);
		last = c->begin_ns;
	}
	for (int i = 0; i < CALLS; i++) {
		bool in = calls[i].thread == thread && calls[i].begin <= t && t < calls[i].end;

		assert_int_equal(met[i], in);
	}
}

static void joins_as_brute_force_does(void **state)
{
	for (unsigned seed = 1; seed <= 20; seed++) {
		char *dir = tempdir_new();
		struct call calls[CALLS];
		const struct spans *sp;
		struct session *s;

		make_calls(seed, calls);
		s = record(dir, calls, CALLS);
		sp = session_spans(s);
		assert_int_equal(sp->calls.len, CALLS);
		for (int64_t thread = 9; thread <= 10 + THREADS; thread++) {
			for (int64_t t = -1; t < 2 * TIME; t++)
				check_moment(sp, s->experiments.data[0], calls, thread, t);
		}
		session_free(s);
		tempdir_remove(dir);
	}
}

/* Each of a hundred thousand nested calls contains the same moment: the walk gives up. */
static void a_walk_has_an_end(void **state)
{
	enum { MANY = 100000 };
	struct call *calls = calloc(MANY, sizeof(*calls));
	char *dir = tempdir_new();
	struct span_walk w;
	struct session *s;
	int n = 0;

	for (int i = 0; i < MANY; i++)
		calls[i] = (struct call){ .thread = 1, .begin = i, .end = 2 * MANY - i };
	s = record(dir, calls, MANY);
	span_walk_begin(&w, session_spans(s), s->experiments.data[0], 1, MANY);
	for (const struct span_call *c; (c = span_walk_next(&w)); n++)
		assert_int_equal(c->begin_ns, MANY - 1 - n);
	assert_int_equal(n, SPAN_WALK_MAX);
	session_free(s);
	tempdir_remove(dir);
	free(calls);
}

/* The slowest hundredth has 99, rounded up to a whole call; the next one has less. */
static void ranks_are_counted_from_the_slowest(void **state)
{
	struct call calls[250];
	char *dir = tempdir_new();
	const struct spans *sp;
	struct session *s;
	unsigned slowest = 0;

	for (int i = 0; i < 250; i++)
		calls[i] = (struct call){ .thread = 1, .begin = 1000 * i, .end = 1000 * i + (i * 77) % 250 };
	s = record(dir, calls, 250);
	sp = session_spans(s);
	assert_int_equal(sp->names.len, 1);
	assert_string_equal(sp->names.data[0].sum.name, "span 1"); /* spans.xml is missing */
	for (size_t i = 0; i < 250; i++) {
		const struct span_call *c = span_ranked(sp, &sp->names.data[0], i + 1);

		assert_int_equal(c->rank, i + 1);
		assert_int_equal(c->end_ns - c->begin_ns, 249 - i);
		assert_int_equal(c->percent, 99 - i * 100 / 250);
		slowest += c->percent == 99;
	}
	assert_int_equal(slowest, 3);
	assert_null(span_ranked(sp, &sp->names.data[0], 251));
	session_free(s);
	tempdir_remove(dir);
}

/* Sums of several recordings are added up; one without a histogram makes them unknown. */
static void sums_come_back_as_written(void **state)
{
	static uint64_t hist[SPAN_BUCKETS];
	struct span_row row = { .number = 3, .name = "a<b>\x01", .spec = "x:y", .sites = 2, .count = 7,
				.threshold_ns = 5, .dur_ns = 700, .max_ns = 300, .run_ns = 100,
				.split = true, .stolen_ns = 1, .waits = 2, .minflt = 3, .majflt = 4,
				.unended = 5, .nobegin = 6, .noroom = 8, .lost = 9, .hist = hist };
	char *dir = tempdir_new();
	__cleanup(freep) char *path = xasprintf("%s/t.1.er", dir);
	struct exp_builder *b = exp_builder_new(dir, "t.1.er");
	struct session *s = session_new(NULL);
	const struct span_row *got;
	const struct span_name *both;
	struct buf text = { 0 };

	hist[0] = 2, hist[100] = 4, hist[SPAN_BUCKETS - 1] = 1;
	for (int i = 0; i < MS_COUNT; i++)
		row.state_ns[i] = mstate_descs[i].span ? 10 + i : 0;
	span_put_row(&text, &row);
	expwriter_replace(exp_builder_writer(b), SPANS_XML, text.data);
	expwriter_span_text(exp_builder_writer(b), 4000000000, "\"<\xff%\n", 5);
	exp_builder_close(b);
	session_add(s, path);
	session_add(s, path);
	got = experiment_span(s->experiments.data[0], 3);
	assert_non_null(got);
	assert_string_equal(got->name, row.name);
	assert_string_equal(got->spec, row.spec);
	assert_memory_equal(got->hist, hist, sizeof(hist));
	assert_memory_equal(got->state_ns, row.state_ns, sizeof(row.state_ns));
	assert_memory_equal(&got->sites, &row.sites, offsetof(struct span_row, state_ns) -
						     offsetof(struct span_row, sites));
	assert_memory_equal(&got->stolen_ns, &row.stolen_ns, offsetof(struct span_row, hist) -
							     offsetof(struct span_row, stolen_ns));
	assert_true(got->split);
	assert_null(experiment_span(s->experiments.data[0], 1));
	assert_string_equal(experiment_span_text(s->experiments.data[0], 4000000000), "\"<\xff%\n");
	both = session_spans(s)->names.data;
	assert_int_equal(both->sum.count, 14);
	assert_int_equal(both->sum.max_ns, 300);
	assert_int_equal(both->sum.state_ns[MS_SLEEP], 2 * row.state_ns[MS_SLEEP]);
	assert_int_equal(both->hist[100], 8);
	assert_false(span_all_recorded(both));
	buf_free(&text);
	session_free(s);
	tempdir_remove(dir);
}

static void wrong_rows_are_left_out(void **state)
{
	static const char *const rows[] = {
		"<span number=\"0\" name=\"x\" count=\"1\"/>",
		"<span number=\"1025\" name=\"x\" count=\"1\"/>",
		"<span number=\"1\" name=\"x\" count=\"2\" hist=\"5:1 \"/>",
		"<span number=\"1\" name=\"x\" count=\"2\" hist=\"5:2\"/>",
		"<span number=\"1\" name=\"x\" count=\"2\" hist=\"99999:2 \"/>",
		"<span number=\"1\" name=\"x\" count=\"2\" hist=\"1:1 18446744073709551615:1 \"/>",
		"<span number=\"1\" name=\"x\" count=\"2\" hist=\"1:3 1:18446744073709551615 \"/>",
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *dir = tempdir_new();
		__cleanup(freep) char *path = xasprintf("%s/t.1.er", dir);
		struct exp_builder *b = exp_builder_new(dir, "t.1.er");
		struct session *s = session_new(NULL);
		const struct span_row *row;

		expwriter_replace(exp_builder_writer(b), SPANS_XML, rows[i]);
		exp_builder_close(b);
		session_add(s, path);
		row = experiment_span(s->experiments.data[0], 1);
		assert_true(!row || !row->hist);
		assert_int_equal(s->experiments.data[0]->diag.nmsgs, 1);
		session_free(s);
		tempdir_remove(dir);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(joins_as_brute_force_does),
		cmocka_unit_test(a_walk_has_an_end),
		cmocka_unit_test(ranks_are_counted_from_the_slowest),
		cmocka_unit_test(sums_come_back_as_written),
		cmocka_unit_test(wrong_rows_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
