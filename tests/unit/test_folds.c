/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Short-lived threads are folded: their sums are exact, and each thread stays in the list. */
#include "analysis/model/folded.h"
#include "tests/unit/drain_fixture.h"
#include "user/record/folds.h"

enum { MS = 1000000 };

/* Of thread number i, with a value in each field that differs from all others. */
static struct er_total total_of(unsigned i)
{
	uint64_t begin = 5000 + i * 10ULL * MS;
	struct er_total t = {
		.h = { .kind = ER_KIND_TOTAL }, .cpu = 1,
		.task = { .start_time = 1990 + i, .tgid = PID + i, .tid = PID + i, .comm = "cc1" },
		.flags = ER_TOTAL_BORN | ER_TOTAL_ENDED, .begin_ns = begin,
		.run_ns = 1000 + i, .user_ns = 700 + i, .system_ns = 300 + i, .stolen_ns = 5 + i,
		.nwaits = 7 + i, .npreempted = 9 + i, .minflt = 11 + i, .majflt = 13 + i,
		.ncalls = 15 + i, .rchar = 17 + i, .wchar = 19 + i, .read_bytes = 21 + i,
		.write_bytes = 23 + i, .nmoved = i % 2, .moved_ns = i % 2 ? 25 + i : 0,
	};

	t.end_ns = begin + t.run_ns;
	for (int s = 0; s < ER_OFF_STATES; s++) {
		t.off_ns[s] = 10000 * (s + 1) + i;
		t.off_n[s] = 100 * (s + 1) + i;
		t.end_ns += t.off_ns[s];
	}
	t.h.time_ns = t.end_ns;
	return t;
}

static void give(struct fixture *f, struct er_total t)
{
	drain_take(f->drain, 1, &t, sizeof(t));
}

/* The sum of all threads, folded or not; begin_ns has their lengths. */
static struct exp_thread sum_of(const struct experiment *e)
{
	struct exp_thread sum = { 0 };

#define ADD(m, t) sum.m += (t).m
	vec_for_each(th, &e->threads) {
		sum.begin_ns += th->end_ns - th->begin_ns;
		ADD(run_ns, *th), ADD(user_ns, *th), ADD(system_ns, *th), ADD(stolen_ns, *th);
		ADD(nwaits, *th), ADD(npreempted, *th), ADD(minflt, *th), ADD(majflt, *th);
		ADD(nmoved, *th), ADD(moved_ns, *th);
		for (int i = 0; i < MS_COUNT; i++)
			ADD(off_ns[i], *th), ADD(off_n[i], *th);
	}
	vec_for_each(f, &e->folds) {
		ADD(run_ns, f->sum), ADD(user_ns, f->sum), ADD(system_ns, f->sum);
		ADD(stolen_ns, f->sum), ADD(nwaits, f->sum), ADD(npreempted, f->sum);
		ADD(minflt, f->sum), ADD(majflt, f->sum), ADD(nmoved, f->sum), ADD(moved_ns, f->sum);
		for (int i = 0; i < MS_COUNT; i++)
			ADD(off_ns[i], f->sum), ADD(off_n[i], f->sum);
	}
#undef ADD
	return sum;
}

static struct experiment *record(unsigned n, bool each_thread)
{
	struct fixture f;

	fixture_each_thread = each_thread;
	begin(&f, FOLLOW_ALL, NULL);
	fixture_each_thread = false;
	for (unsigned i = 0; i < n; i++) {
		give(&f, total_of(i));
		if (i % 500 == 0)
			drain_process(f.drain, false);
	}
	return finish(&f);
}

/* No number differs between a folded recording and one with a line for each thread. */
static void test_sums_are_exact(void **state)
{
	enum { N = 2000 };
	struct experiment *folded = record(N, false);
	struct exp_thread a = sum_of(folded), b;
	const struct exp_fold *fold = folded->folds.data;

	assert_int_equal(folded->diag.nmsgs, 0);
	assert_int_equal(folded->threads.len, N);
	assert_int_equal(folded->folds.len, 1);
	assert_int_equal(fold->nthreads, N - FOLDS_KEEP);
	assert_int_equal(fold->lived_ns, thread_sum(&fold->sum));
	assert_int_equal(fold->nmovers, (N - FOLDS_KEEP) / 2);
	assert_string_equal(fold->sum.comm, "cc1");
	assert_int_equal(fold->sum.begin_ns, total_of(FOLDS_KEEP).begin_ns - 1000);
	assert_int_equal(fold->sum.end_ns, total_of(N - 1).end_ns - 1000);
	experiment_close(folded);
	struct experiment *each = record(N, true);

	b = sum_of(each);
	assert_int_equal(each->threads.len, N);
	assert_int_equal(each->folds.len, 0);
	assert_memory_equal(&a, &b, sizeof(a));
	experiment_close(each);
}

/* The first threads have lines of their own; of the others each is in the list. */
static void test_threads_are_listed(void **state)
{
	struct experiment *e = record(FOLDS_KEEP + 3, false);
	unsigned nfolded = 0;

	vec_for_each(th, &e->threads) {
		struct er_total t = total_of(th->pid - PID);

		assert_int_equal(th->tid, th->pid);
		assert_int_equal(th->begin_ns, t.begin_ns - 1000);
		assert_int_equal(th->end_ns, t.end_ns - 1000);
		assert_string_equal(th->comm, "cc1");
		assert_true(th->born && th->ended);
		assert_int_equal(th->fold != 0, th->pid - PID >= FOLDS_KEEP);
		nfolded += th->fold != 0;
	}
	assert_int_equal(nfolded, 3);
	experiment_close(e);
}

/* Whether the last of many threads is folded, after `change`. */
static bool folds_last(void (*change)(struct er_total *))
{
	struct experiment *e;
	struct fixture f;
	bool folded;

	begin(&f, FOLLOW_ALL, NULL);
	for (unsigned i = 0; i <= FOLDS_KEEP; i++) {
		struct er_total t = total_of(i);

		if (i == FOLDS_KEEP)
			change(&t);
		give(&f, t);
	}
	e = finish(&f);
	folded = e->folds.len;
	experiment_close(e);
	return folded;
}

static void nothing(struct er_total *t) { }
static void longest(struct er_total *t) { t->end_ns = t->begin_ns + FOLDS_SHORT_NS - 1; }
static void too_long(struct er_total *t) { t->end_ns = t->begin_ns + FOLDS_SHORT_NS; }
static void lives_on(struct er_total *t) { t->flags &= ~ER_TOTAL_ENDED; }
static void was_there(struct er_total *t) { t->flags &= ~ER_TOTAL_BORN; }
static void again(struct er_total *t) { t->flags |= ER_TOTAL_AGAIN; }
static void kernel_thread(struct er_total *t) { t->flags |= ER_TOTAL_KTHREAD; }
static void other_name(struct er_total *t) { strcpy(t->task.comm, "as"); }
static void exact_user(struct er_total *t) { t->flags |= ER_TOTAL_SPLIT; }

static void test_what_is_short_lived(void **state)
{
	assert_true(folds_last(nothing));
	assert_true(folds_last(longest));
	assert_false(folds_last(too_long));
	assert_false(folds_last(lives_on));
	assert_false(folds_last(was_there));
	assert_false(folds_last(again));
	assert_false(folds_last(kernel_thread));
	assert_false(folds_last(other_name));
	assert_false(folds_last(exact_user));
}

/* Threads that the user chose have lines of their own. */
static void test_targets(void **state)
{
	struct fixture f;
	struct experiment *e;

	begin_targets(&f, FOLLOW_ALL, NULL, true);
	for (unsigned i = 0; i < 2 * FOLDS_KEEP; i++)
		give(&f, total_of(i));
	e = finish(&f);
	assert_int_equal(e->threads.len, 2 * FOLDS_KEEP);
	assert_int_equal(e->folds.len, 0);
	experiment_close(e);
}

/* A thread of a larger process keeps its process ID. */
static void test_process_of_a_thread(void **state)
{
	struct fixture f;
	struct experiment *e;

	begin(&f, FOLLOW_ALL, NULL);
	for (unsigned i = 0; i <= FOLDS_KEEP; i++) {
		struct er_total t = total_of(i);

		t.task.tgid = PID;
		give(&f, t);
	}
	e = finish(&f);
	assert_int_equal(e->threads.len, FOLDS_KEEP + 1);
	vec_for_each(th, &e->threads)
		assert_int_equal(th->pid, PID);
	assert_int_equal(e->threads.data[FOLDS_KEEP].tid, PID + FOLDS_KEEP);
	assert_true(e->threads.data[FOLDS_KEEP].fold);
	experiment_close(e);
}

/* So many names that the recorder forgets the first: nothing is lost. */
static void test_many_names(void **state)
{
	enum { NAMES = 5000 };
	struct fixture f;
	struct experiment *e;
	int64_t run = 0, want = 0;

	begin(&f, FOLLOW_ALL, NULL);
	for (unsigned i = 0; i < NAMES * 18; i++) {
		struct er_total t = total_of(i);

		snprintf(t.task.comm, sizeof(t.task.comm), "p%u", i / 18);
		give(&f, t);
		want += t.run_ns;
	}
	e = finish(&f);
	run = sum_of(e).run_ns;
	assert_int_equal(e->threads.len, NAMES * 18);
	assert_int_equal(e->folds.len, NAMES);
	assert_int_equal(run, want);
	experiment_close(e);
}

/* Reused TIDs are told apart by time. */
static void test_finds_by_time(void **state)
{
	struct experiment e = { .id = 3, .origin = &e };
	struct folded_threads f = { 0 };

	vec_push(&e.folds, (struct exp_fold){ 0 });
	vec_push(&e.folds, (struct exp_fold){ 0 });
	vec_push(&e.threads, (struct exp_thread){ .pid = 8, .tid = 8, .begin_ns = 900 * MS,
						  .end_ns = 950 * MS, .fold = 2 });
	vec_push(&e.threads, (struct exp_thread){ .pid = 7, .tid = 8, .begin_ns = 100 * MS,
						  .end_ns = 200 * MS, .fold = 1 });
	vec_push(&e.threads, (struct exp_thread){ .pid = 8, .tid = 8, .begin_ns = 300 * MS,
						  .end_ns = 400 * MS });
	folded_add(&f, &e);
	folded_sort(&f);
	assert_ptr_equal(folded_at(&f, &e, 7, 8, 150 * MS), &e.folds.data[0]);
	assert_ptr_equal(folded_at(&f, &e, 7, 8, 100 * MS), &e.folds.data[0]);
	assert_ptr_equal(folded_at(&f, &e, 7, 8, 200 * MS), &e.folds.data[0]);
	assert_ptr_equal(folded_at(&f, &e, 8, 8, 920 * MS), &e.folds.data[1]);
	assert_null(folded_at(&f, &e, 8, 8, 150 * MS));
	assert_null(folded_at(&f, &e, 8, 8, 350 * MS));
	assert_null(folded_at(&f, &e, 7, 8, 90 * MS));
	assert_null(folded_at(&f, &e, 7, 8, 210 * MS));
	assert_null(folded_at(&f, &e, 7, 9, 150 * MS));
	folded_free(&f);
	vec_free(&e.folds);
	vec_free(&e.threads);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums_are_exact),
		cmocka_unit_test(test_threads_are_listed),
		cmocka_unit_test(test_what_is_short_lived),
		cmocka_unit_test(test_targets),
		cmocka_unit_test(test_process_of_a_thread),
		cmocka_unit_test(test_many_names),
		cmocka_unit_test(test_finds_by_time),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
