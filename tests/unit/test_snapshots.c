/* SPDX-License-Identifier: GPL-2.0-or-later */
/* snapshots.xml: what the drain writes of threads, and how a range of time is read. */
#include <linux/types.h>

#include "analysis/experiment/exp_range.h"
#include "bpf/snap.h"
#include "tests/fixtures/exp_builder.h"
#include "tests/fixtures/tempdir.h"
#include "tests/unit/drain_fixture.h"
#include "user/record/snapshots.h"

/* Snapshots at 1, 2, 3 and 4 s; the last walk took long. */
static const char recorded[] =
	/* 10 sleeps from the begin on; 12 computes all the time; 11 began at 0.5 s. */
	"<snapshot at=\"1000\" took=\"10\" threads=\"10,ss1000 9/12,rr1000u900y100 "
	"11+5,wr400s50w55\"/>\n"
	"<snapshot at=\"2000\" took=\"10\" threads=\"9/12,rr1000\"/>\n"
	/* 11 waited for a CPU until here. 12 left the CPU while the walk was under way. */
	"<snapshot at=\"3000\" took=\"10\" threads=\"9/12+7,lr1003l4 11,rw1990r5\"/>\n"
	"<ends threads=\"11+3500,r505w-5\"/>\n"
	"<snapshot at=\"4000\" took=\"100\" threads=\"\"/>\n"
	/* 10 ran a little at the end. */
	"<ends threads=\"10+5000,s3900r100 9/12+5000,l1993\"/>\n";

static struct experiment *open_with(const char *at, const char *name, const char *text)
{
	__cleanup(freep) char *path = xasprintf("%s/%s", at, name);
	struct exp_builder *b = exp_builder_new(at, name);
	struct experiment *e;

	expwriter_text(exp_builder_writer(b), "snapshots.xml.gz", text);
	exp_builder_close(b);
	e = experiment_open(path, NULL);
	assert_non_null(e);
	e->end_ns = 5000;
	return e;
}

/* A recording that has no end. */
static struct experiment *open_killed(const char *at, const char *text)
{
	__cleanup(freep) char *path = xasprintf("%s/k.1.er", at);
	struct exp_builder *b = exp_builder_new(at, "k.1.er");
	struct experiment *e;

	expwriter_text(exp_builder_writer(b), "snapshots.xml.gz", text);
	exp_builder_abandon(b);
	e = experiment_open(path, NULL);
	assert_non_null(e);
	e->end_ns = 5000;
	return e;
}

static const struct exp_span_of_thread *thread_of(const struct exp_range *r, int64_t tid)
{
	vec_for_each (th, &r->threads) {
		if (th->tid == tid)
			return th;
	}
	return NULL;
}

/* Checks the time of a thread on a CPU, asleep, waiting for a CPU, and in locks. */
static void check(struct experiment *e, int64_t from, int64_t to, int64_t tid,
		  const int64_t want[4])
{
	struct exp_range r;
	const struct exp_span_of_thread *th;

	assert_true(exp_range_read(e, from, to, &r));
	assert_int_equal(r.vague_ns, 0);
	th = thread_of(&r, tid);
	assert_int_equal(th ? th->run_ns : 0, want[0]);
	assert_int_equal(th ? th->off_ns[MS_SLEEP] : 0, want[1]);
	assert_int_equal(th ? th->off_ns[MS_WAIT_CPU] : 0, want[2]);
	assert_int_equal(th ? th->off_ns[MS_USER_LOCK] : 0, want[3]);
	exp_range_free(&r);
}

#define CHECK(from, to, tid, ...) check(e, from, to, tid, (const int64_t[4]){ __VA_ARGS__ })

/* A thread without a record goes on in its state, so each second is exact. */
static void test_seconds(void **state)
{
	struct experiment *e = open_with(*state, "s.1.er", recorded);

	CHECK(0, 1000, 10, 0, 1000, 0, 0);
	CHECK(1000, 2000, 10, 0, 1000, 0, 0);
	CHECK(2000, 4000, 10, 0, 2000, 0, 0);
	CHECK(4000, 5000, 10, 100, 900, 0, 0);
	CHECK(0, 5000, 10, 100, 4900, 0, 0);
	CHECK(1000, 2000, 12, 1000, 0, 0, 0);
	CHECK(2000, 3000, 12, 1003, 0, 0, 4);
	CHECK(3000, 4000, 12, 0, 0, 0, 993);
	CHECK(4000, 5000, 12, 0, 0, 0, 1000);
	CHECK(0, 1000, 11, 400, 50, 55, 0);
	CHECK(1000, 2000, 11, 0, 0, 995, 0);
	CHECK(2000, 3000, 11, 5, 0, 995, 0);
	CHECK(3000, 4000, 11, 505, 0, -5, 0);
	CHECK(4000, 5000, 11, 0, 0, 0, 0);
	CHECK(0, 5000, 11, 910, 50, 2040, 0);
	assert_int_equal(e->diag.nmsgs, 0);
	experiment_close(e);
}

/* Without an end all threads went on as they were, also those without a record in the range. */
static void test_killed(void **state)
{
	struct experiment *e = open_killed(
		*state, "<snapshot at=\"1000\" took=\"10\" threads=\"10+4,ss1004 11,rr1000\"/>\n"
			"<snapshot at=\"2000\" took=\"10\" threads=\"11,ws400r600\"/>\n"
			"<snapshot at=\"3000\" took=\"10\" threads=\"\"/>\n");

	CHECK(0, 1000, 10, 0, 1004, 0, 0);
	CHECK(1000, 2000, 10, 0, 996, 0, 0);
	CHECK(2000, 5000, 10, 0, 3000, 0, 0);
	CHECK(3000, 5000, 10, 0, 2000, 0, 0);
	CHECK(2000, 3000, 11, 0, 0, 1000, 0);
	CHECK(0, 5000, 11, 1600, 400, 3000, 0);
	experiment_close(e);
}

/* The ends of a range move to the nearest usage sample. */
static void test_nearest(void **state)
{
	struct experiment *e = open_with(*state, "n.1.er", recorded);
	struct exp_range r;

	assert_true(exp_range_read(e, 600, 2400, &r));
	assert_int_equal(r.from_ns, 1000);
	assert_int_equal(r.to_ns, 2000);
	assert_int_equal(r.took_ns, 100);
	exp_range_free(&r);
	assert_false(exp_range_read(e, 1900, 2100, &r));
	exp_range_free(&r);
	experiment_close(e);
}

static void test_damaged(void **state)
{
	static const char *const wrong[] = { "10",
					     "10,",
					     "10,q",
					     "10,s5",
					     "10,sx5",
					     "-1,ss5",
					     "10+,ss5",
					     "1/,ss5",
					     "10,ss99999999999999999999",
					     "10,ss5;",
					     "99999999999,ss5" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		__cleanup(freep) char *name = xasprintf("d%zu.1.er", i);
		__cleanup(freep) char *text =
			xasprintf("<snapshot at=\"1000\" threads=\"%s\"/>\n", wrong[i]);
		struct experiment *e = open_with(*state, name, text);
		struct exp_range r;

		assert_true(exp_range_read(e, 0, 1000, &r));
		assert_int_equal(r.threads.len, 0);
		assert_int_equal(e->diag.nmsgs, 1);
		exp_range_free(&r);
		experiment_close(e);
	}
}

static void give_snap(struct fixture *f, uint64_t at, uint64_t run, uint64_t sleep)
{
	struct er_snap s = { .start_time = 1990,
			     .tgid = PID,
			     .tid = TID,
			     .begin_ns = 2000,
			     .time_ns = at,
			     .run_ns = run,
			     .state = ER_OFF_SLEEP };

	s.off_ns[ER_OFF_SLEEP] = sleep;
	snapshots_take(drain_snapshots(f->drain), 0, &s, sizeof(s));
	snapshots_write(drain_snapshots(f->drain), at, 1);
}

/* What was written of a thread adds up to its total, also if a time was too large once. */
static void test_drain(void **state)
{
	struct er_total t = { .h = { .kind = ER_KIND_TOTAL, .time_ns = 10002000 },
			      .task = { .start_time = 1990, .tgid = PID, .tid = TID, .comm = "a" },
			      .begin_ns = 2000,
			      .end_ns = 10002000,
			      .run_ns = 1000,
			      .flags = ER_TOTAL_ENDED };
	struct fixture f;
	struct experiment *e;

	t.off_ns[ER_OFF_SLEEP] = 9999000;
	begin(&f, FOLLOW_ALL, NULL);
	assert_true(snapshots_is_first(drain_snapshots(f.drain)));
	give_snap(&f, 1002000, 1500, 998500);
	assert_false(snapshots_is_first(drain_snapshots(f.drain)));
	give_snap(&f, 2002000, 1500, 1998500);
	drain_take(f.drain, 1, &t, sizeof(t));
	e = finish(&f);
	CHECK(0, 1002000 - 1000, TID, 1500, 998500, 0, 0);
	CHECK(0, e->end_ns, TID, 1000, 9999000, 0, 0);
	experiment_close(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEMPDIR_CASE(test_seconds),
		TEMPDIR_CASE(test_killed),
		TEMPDIR_CASE(test_nearest),
		TEMPDIR_CASE(test_damaged),
		cmocka_unit_test(test_drain),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
