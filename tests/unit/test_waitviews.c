/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports on states and waits of experiments with known answers. */
#include "analysis/metrics/filter.h"
#include "analysis/metrics/waitpath.h"
#include "analysis/views/table.h"
#include "tests/unit/waitviews_fixture.h"

static size_t column_of(const struct table *t, const char *first, const char *second)
{
	for (size_t i = 0; i < t->columns.len; i++) {
		const struct column *c = &t->columns.data[i];

		if (c->title[0] && !strcmp(c->title[0], first) &&
		    (!second || (c->title[1] && !strcmp(c->title[1], second))))
			return i;
	}
	fail_msg("no column '%s'", first);
	return 0;
}

/* --- locks --- */

/* Many locks that are taken at one place are one row; so is a lock that is taken at two places. */
static void test_locks(void **state)
{
	struct table t = { 0 };
	struct opened o;

	fixture_new(&o);
	lock_wait(&o, "main>a>lock", 0x1000, 0);
	lock_wait(&o, "main>a>lock", 0x2000, 0);
	lock_wait(&o, "main>b>lock", 0x2000, WFLAG_WAKER_IRQ);
	lock_wait(&o, "main>c>lock", 0x3000, 0);
	/* Two locks share places. Time between samples there does not merge the locks. */
	put_wait(&o, 2, "main>a>lock", MS_USER_LOCK, 1, (struct wait_info){ .flags = WFLAG_REST });
	put_wait(&o, 2, "main>c>lock", MS_USER_LOCK, 1, (struct wait_info){ .flags = WFLAG_REST });
	put_wait(&o, 2, "main>d", MS_USER_LOCK, 2, (struct wait_info){ .flags = WFLAG_REST });
	put_wait(&o, 2, "main>e", MS_USER_LOCK, 3, (struct wait_info){ .flags = WFLAG_REST });
	fixture_open(&o);
	assert_int_equal(view_locks(&o.view, false, &t, &o.diag), 0);
	assert_int_equal(row_of(&t, "test, PID 4711: 2 locks taken at the same places")->cells[0].i,
			 13 * MS);
	assert_int_equal(row_of(&t, "test, PID 4711: lock at 0x3000")->cells[0].i, 5 * MS);
	assert_int_equal(row_of(&t, "test waited: lock < a < main")->cells[0].i, 9 * MS);
	assert_int_equal(row_of(&t, "test had it")->cells[0].i, 12 * MS);
	assert_int_equal(row_of(&t, "test: locks that are not known")->cells[0].i, 5 * MS);
	assert_int_equal(row_of(&t, "test let go: unlock < main")->cells[0].i, 8 * MS);
	assert_int_equal(row_of(&t, "gave up after a timeout")->cells[0].i, 4 * MS);
	table_free(&t);
	assert_int_equal(view_locks(&o.view, true, &t, &o.diag), 0);
	assert_int_equal(row_of(&t, "test, PID 4711: lock at 0x1000")->cells[0].i, 5 * MS);
	assert_int_equal(row_of(&t, "test, PID 4711: lock at 0x2000")->cells[0].i, 8 * MS);
	table_free(&t);
	fixture_free(&o);
}

static void count_lock(struct opened *o, const char *caller, enum er_lock kind, uint64_t address, uint64_t n)
{
	const int64_t values[] = { 2, 2, 0, exp_builder_now(o->builder), exp_builder_stack(o->builder, caller), kind,
				   address, n };

	expwriter_packet(exp_builder_writer(o->builder), ER_PKT_LOCKS, values, NULL);
}

/* How often a lock was taken is in the row of its waits, or in a row of its own. */
static void test_counted_locks(void **state)
{
	struct table t = { 0 };
	struct opened o;

	fixture_new(&o);
	expwriter_profile(exp_builder_writer(o.builder), ER_PKT_LOCKS, NULL);
	lock_wait(&o, "main>a>lock", 0x1000, 0);
	lock_wait(&o, "main>b>lock", 0x200c, 0); /* inside the rwlock at 0x2000 */
	count_lock(&o, "a", ER_LOCK_MUTEX, 0x1000, 40);
	count_lock(&o, "c", ER_LOCK_MUTEX, 0x1000, 2);
	count_lock(&o, "b", ER_LOCK_READ, 0x2000, 7);
	count_lock(&o, "d", ER_LOCK_MUTEX, 0x3000, 5);
	count_lock(&o, "d", ER_LOCK_MUTEX, 0x3028, 6);
	count_lock(&o, "e", ER_LOCK_BARRIER, 0x4000, 1);
	count_lock(&o, "d", ER_LOCK_SEMAPHORE, 0x5000, 8);
	count_lock(&o, "e", ER_LOCK_SEMAPHORE, 0x5000, 9);
	count_lock(&o, "e", 77, 0x6000, 3); /* a kind that is not known */
	fixture_open(&o);
	assert_int_equal(view_tally(&o.view)->total[metric_id(&o, "lockcnt")], 81);
	assert_int_equal(view_locks(&o.view, false, &t, &o.diag), 0);
	assert_string_equal(text_of(&t, 1), "test, PID 4711: lock at 0x1000, taken in lock, 42 times");
	row_of(&t, "test, PID 4711: lock at 0x200c, taken in lock, 7 times");
	assert_int_equal(row_of(&t, "test: 2 locks, taken in d, 11 times")->cells[0].i, 0);
	row_of(&t, "test, PID 4711: semaphore at 0x5000, taken in several functions, 17 times");
	row_of(&t, "test: 2 locks, taken in e, 4 times");
	assert_true(noted(&t, "counts of `-s all'"));
	table_free(&t);
	assert_int_equal(view_locks(&o.view, true, &t, &o.diag), 0);
	row_of(&t, "test, PID 4711: mutex at 0x3000, taken in d, 5 times");
	row_of(&t, "test, PID 4711: barrier at 0x4000, waited for in e, 1 time");
	row_of(&t, "test, PID 4711: lock at 0x6000, taken in e, 3 times");
	table_free(&t);
	fixture_free(&o);
}

/* Counts are shown where no thread waited at all. */
static void test_counts_without_waits(void **state)
{
	struct table t = { 0 };
	struct opened o;

	fixture_new(&o);
	expwriter_profile(exp_builder_writer(o.builder), ER_PKT_LOCKS, NULL);
	count_lock(&o, "a", ER_LOCK_MUTEX, 0x1000, 4000000);
	fixture_open(&o);
	assert_int_equal(view_locks(&o.view, false, &t, &o.diag), 0);
	row_of(&t, "test, PID 4711: mutex at 0x1000, taken in a, 4000000 times");
	table_free(&t);
	fixture_free(&o);
}

/* A lock word that looks like a tid but is not that of a known thread. */
static void test_holder_unknown(void **state)
{
	struct table t = { 0 };
	struct opened o;

	fixture_new(&o);
	lock_wait(&o, "main>a>lock", 0x1000, 0);
	expwriter_text(exp_builder_writer(o.builder), "threads.xml",
		       "<thread pid=\"4711\" tid=\"2\" comm=\"test\" end=\"4000000\" lock=\"4000000\"/>");
	fixture_open(&o);
	assert_int_equal(view_locks(&o.view, false, &t, &o.diag), 0);
	assert_int_equal(t.rows.len, 4);
	for (size_t i = 0; i < t.rows.len; i++)
		assert_null(strstr(text_of(&t, i), "had it"));
	table_free(&t);
	fixture_free(&o);
}

/* --- waits for a CPU --- */

/* Only chosen threads are recorded: another one that had the CPU has no name, but it had the CPU. */
static void test_cpu_of_unrecorded(void **state)
{
	struct wait_info info = { .reason = REASON_PREEMPTED, .length_ns = 5 * MS, .holder = 99,
				  .holder_pid = 98 };
	struct table t = { 0 };
	struct opened o;

	fixture_new(&o);
	exp_builder_wait(o.builder, 2, "main>k:a", MS_WAIT_CPU, 5, &info);
	info.holder = info.holder_pid = 0;
	exp_builder_wait(o.builder, 2, "main>k:a", MS_WAIT_CPU, 3, &info);
	expwriter_text(exp_builder_writer(o.builder), "threads.xml",
		       "<thread pid=\"4711\" tid=\"2\" comm=\"test\" end=\"8000000\" wait=\"8000000\"/>");
	fixture_open(&o);
	assert_int_equal(view_runqueue(&o.view, &t, &o.diag), 0);
	assert_int_equal(row_of(&t, "<not recorded>")->cells[0].i, 5 * MS);
	assert_int_equal(row_of(&t, "<none: it was idle>")->cells[0].i, 3 * MS);
	table_free(&t);
	assert_int_equal(view_longest(&o.view, &t, &o.diag), 0);
	assert_non_null(strstr(text_of(&t, 0), "PID 98, TID 99 had the CPU"));
	assert_non_null(strstr(text_of(&t, 1), "the CPU was idle"));
	table_free(&t);
	fixture_free(&o);
}

/* --- system calls --- */

/* Waits by system call and state, next to the recorder's counts. */
static void test_system_calls(void **state)
{
	struct wait_info info = { .reason = REASON_PIPE, .length_ns = 5 * MS };
	struct table t = { 0 };
	struct opened o;

	fixture_new(&o);
	info.syscall = 0; /* read */
	exp_builder_wait(o.builder, 1, "main>k:a", MS_SLEEP, 5, &info);
	exp_builder_wait(o.builder, 1, "main>k:a", MS_WAIT_CPU, 2, &info);
	info.syscall = 202; /* futex */
	exp_builder_wait(o.builder, 2, "main>k:b", MS_USER_LOCK, 9, &info);
	expwriter_text(exp_builder_writer(o.builder), "recorder.xml",
		       "<syscall number=\"0\" calls=\"70\" errors=\"3\"/>\n"
		       "<syscall number=\"39\" calls=\"4\" errors=\"0\"/>\n");
	fixture_open(&o);
	assert_int_equal(view_syscalls(&o.view, &t, &o.diag), 0);
	assert_int_equal(t.rows.len, 4);
	assert_string_equal(text_of(&t, 1), "futex");
	assert_int_equal(row_of(&t, "futex")->cells[column_of(&t, "User", "Lock")].i, 9 * MS);
	assert_int_equal(row_of(&t, "read")->cells[0].i, 70);
	assert_int_equal(row_of(&t, "read")->cells[1].i, 3);
	assert_int_equal(row_of(&t, "read")->cells[column_of(&t, "Waited", NULL)].i, 7 * MS);
	assert_int_equal(row_of(&t, "read")->cells[column_of(&t, "Wait", "CPU")].i, 2 * MS);
	assert_int_equal(row_of(&t, "getpid")->cells[0].i, 4);
	assert_int_equal(row_of(&t, "<Total>")->cells[0].i, 74);
	table_free(&t);
	fixture_free(&o);
}

/* --- microstates --- */

static void open_states(struct opened *o, const char *threads)
{
	fixture_new(o);
	exp_builder_profile(o->builder, 1, "main", MS_USER, 60);
	exp_builder_profile(o->builder, 1, "main", MS_SLEEP, 40);
	exp_builder_profile(o->builder, 2, "main", MS_SYSTEM, 10);
	exp_builder_profile(o->builder, 2, "main", MS_USER_LOCK, 90);
	if (threads)
		expwriter_text(exp_builder_writer(o->builder), "threads.xml", threads);
	fixture_open(o);
}

static void test_states(void **state)
{
	struct table t = { 0 };
	const struct row *r;
	struct opened o;
	size_t user;

	open_states(&o, "<thread pid=\"4711\" tid=\"1\" end=\"100000000\" run=\"60000000\"/>"
			"<thread pid=\"4711\" tid=\"2\" end=\"100000000\" run=\"10000000\"/>");
	assert_int_equal(view_microstates(&o.view, false, NULL, &t, &o.diag), 0);
	user = column_of(&t, "User", "CPU");
	r = row_of(&t, "test, PID 4711, TID 1");
	assert_int_equal(r->cells[0].i, 100 * MS);
	assert_int_equal(r->cells[user].i, 60 * MS);
	assert_true(r->cells[user + 1].d == 60);
	assert_int_equal(r->cells[column_of(&t, "Sleep", "")].i, 40 * MS);
	assert_int_equal(strlen(r->cells[column_of(&t, "States", NULL)].s), TABLE_BAR);
	assert_int_equal(strspn(r->cells[column_of(&t, "States", NULL)].s, "U"), 60);
	assert_int_equal(row_of(&t, "<Total>")->cells[user].i, 60 * MS);
	assert_true(noted(&t, "Checked: the states of each row add up"));
	table_free(&t);
	view_microstates(&o.view, true, NULL, &t, &o.diag);
	assert_int_equal(t.rows.len, 2);
	assert_int_equal(row_of(&t, "test, PID 4711")->cells[0].i, 200 * MS);
	table_free(&t);
	fixture_free(&o);
}

/* Missing time and excess time are reported, in the row and in the notes. */
static void test_missing(void **state)
{
	struct table t = { 0 };
	struct opened o;
	size_t lacks;

	open_states(&o, "<thread pid=\"4711\" tid=\"1\" end=\"100000000\" run=\"60000000\"/>"
			"<thread pid=\"4711\" tid=\"2\" end=\"120000000\" run=\"10000000\"/>"
			"<thread pid=\"0\" tid=\"9\" comm=\"kworker\" end=\"30000000\"/>");
	view_microstates(&o.view, false, NULL, &t, &o.diag);
	lacks = column_of(&t, "Not", "known");
	assert_int_equal(row_of(&t, "test, PID 4711, TID 1")->cells[lacks].i, 0);
	assert_int_equal(row_of(&t, "test, PID 4711, TID 2")->cells[lacks].i, 20 * MS);
	assert_int_equal(row_of(&t, "kworker, kernel thread 9")->cells[lacks].i, 30 * MS);
	assert_int_equal(row_of(&t, "<Total>")->cells[lacks].i, 50 * MS);
	assert_true(noted(&t, "*** 2 rows lack 0.050 sec. (20.00 %)"));
	table_free(&t);
	fixture_free(&o);

	open_states(&o, "<thread pid=\"4711\" tid=\"1\" end=\"90000000\"/>"
			"<thread pid=\"4711\" tid=\"2\" end=\"100000000\"/>");
	view_microstates(&o.view, false, NULL, &t, &o.diag);
	assert_true(noted(&t, "*** 1 row has 0.010 sec. (5.26 %) more"));
	assert_false(noted(&t, "Checked"));
	table_free(&t);
	fixture_free(&o);
}

/* Packets of a recording that was not closed may be newer than its threads.xml, or older. */
static void test_states_not_closed(void **state)
{
	struct table t = { 0 };
	struct opened o;

	fixture_new(&o);
	exp_builder_profile(o.builder, 1, "main", MS_USER, 60);
	exp_builder_profile(o.builder, 2, "main", MS_USER, 60);
	expwriter_text(exp_builder_writer(o.builder), "threads.xml",
		       "<thread pid=\"4711\" tid=\"1\" end=\"10000000\" run=\"10000000\"/>"
		       "<thread pid=\"4711\" tid=\"2\" end=\"90000000\" run=\"60000000\"/>");
	exp_builder_abandon(o.builder);
	fixture_open_built(&o);
	view_microstates(&o.view, false, NULL, &t, &o.diag);
	assert_true(noted(&t, "Not compared with the time in the recording: the recording was not closed."));
	assert_false(noted(&t, "***"));
	assert_false(noted(&t, "Checked"));
	assert_false(noted(&t, "no threads.xml"));
	assert_int_equal(row_of(&t, "<Total>")->cells[0].i, 120 * MS);
	assert_int_equal(row_of(&t, "<Total>")->cells[column_of(&t, "Not", "known")].i, 0);
	table_free(&t);
	fixture_free(&o);
}

static void assert_checked(struct opened *o, const char *filter, const char *note)
{
	struct table t = { 0 };

	filter_free(o->view.filter);
	o->view.filter = filter_parse(o->session, NULL, filter, &o->diag);
	view_microstates(&o->view, false, NULL, &t, &o->diag);
	assert_true(noted(&t, note));
	table_free(&t);
}

/* Without threads.xml, or with a filter, rows cannot be checked. */
static void test_unchecked(void **state)
{
	struct table t = { 0 };
	struct opened o;

	open_states(&o, NULL);
	view_microstates(&o.view, false, NULL, &t, &o.diag);
	assert_true(noted(&t, "there is no threads.xml"));
	table_free(&t);
	assert_checked(&o, "THRID == 1", "there is no threads.xml");
	fixture_free(&o);

	open_states(&o, "<thread pid=\"4711\" tid=\"1\" end=\"100000000\" run=\"60000000\"/>"
			"<thread pid=\"4711\" tid=\"2\" end=\"100000000\" run=\"10000000\"/>");
	assert_checked(&o, "THRID == 1", "Checked: the states of each row");
	assert_checked(&o, "THRID == 1 || MSTATE == 1", "Checked 1 of 2 rows: their states add up");
	assert_checked(&o, "THRID == 1 && MSTATE == 0", "the filter cut the row");
	fixture_free(&o);
}

/* --- wakers that are not threads --- */

static void test_interrupts(void **state)
{
	static const struct {
		enum er_mstate mstate;
		enum er_reason reason;
		uint32_t flags;
		const char *row, *chain;
	} cases[] = {
		{ MS_SLEEP, REASON_POLL, 0, "<interrupt> -> test", "ended by an interrupt" },
		{ MS_SLEEP, REASON_POLL, WFLAG_WAKER_TIMER, "<timer> -> test", "its timer expired" },
		{ MS_SLEEP, REASON_NETWORK, 0, "<network> -> test", "ended by an interrupt" },
		{ MS_SLEEP, REASON_NETWORK, WFLAG_WAKER_TIMER, "<timer> -> test", "its timer expired" },
		{ MS_SLEEP, REASON_TIMER, 0, "<timer> -> test", "its timer expired" },
		{ MS_SLEEP, REASON_DISK, 0, "<disk> -> test", "ended by an interrupt" },
		{ MS_USER_LOCK, REASON_USER_LOCK, WFLAG_WAKER_TIMER, "<timeout> -> test",
		  "gave up after a timeout" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wait_info wait = { .reason = cases[i].reason, .syscall = -1, .waker = 3,
					  .waker_pid = BUILDER_PID, .length_ns = 5 * MS,
					  .flags = WFLAG_WAKER_IRQ | cases[i].flags };
		struct table t = { 0 };
		struct opened o;

		fixture_new(&o);
		exp_builder_wait(o.builder, 1, "main>ask", cases[i].mstate, 5, &wait);
		fixture_open(&o);
		assert_int_equal(view_wakers(&o.view, &t, &o.diag), 0);
		assert_int_equal(row_of(&t, cases[i].row)->cells[0].i, 5 * MS);
		table_free(&t);
		assert_int_equal(view_wakechain(&o.view, "1", &t, &o.diag), 0);
		assert_int_equal(row_of(&t, cases[i].chain)->cells[0].i, 5 * MS);
		table_free(&t);
		fixture_free(&o);
	}
}

/* --- wake chains --- */

/*
 * Thread 1 waits from 0 to 100 for thread 2. Thread 2 computes from 0 to 30, waits for the disk
 * from 30 to 80, and has no packets from 80 on.
 */
static void open_chain(struct opened *o)
{
	struct wait_info disk = { .reason = REASON_DISK, .syscall = -1, .length_ns = 50 * MS,
				  .flags = WFLAG_WAKER_IRQ };
	struct wait_info pipe = { .reason = REASON_PIPE, .syscall = -1, .length_ns = 100 * MS,
				  .waker = 2, .waker_pid = BUILDER_PID };

	fixture_new(o);
	exp_builder_profile(o->builder, 2, "main>compute", MS_USER, 30);
	exp_builder_wait(o->builder, 2, "main>load", MS_SLEEP, 50, &disk);
	pipe.waker_stack = exp_builder_stack(o->builder, "main>answer");
	exp_builder_at(o->builder, 0);
	exp_builder_wait(o->builder, 1, "main>ask", MS_SLEEP, 100, &pipe);
	fixture_open(o);
}

static void test_chain(void **state)
{
	static const struct {
		const char *text;
		int depth;
		int64_t ms;
	} want[] = {
		{ "<Total>", 0, 100 },
		{ "pipe: ask < main", 1, 100 },
		{ "ended by test, PID 4711, TID 2: answer < main", 2, 100 },
		{ "meanwhile waiting, disk: load < main", 3, 50 },
		{ "ended by an interrupt", 4, 50 },
		{ "meanwhile on a CPU: compute < main", 3, 30 },
		{ "meanwhile not recorded", 3, 20 },
	};
	struct table t = { 0 };
	struct opened o;

	open_chain(&o);
	assert_int_equal(view_wakechain(&o.view, "1", &t, &o.diag), 0);
	assert_int_equal(t.rows.len, 7);
	for (size_t i = 0; i < 7; i++) {
		assert_string_equal(text_of(&t, i), want[i].text);
		assert_int_equal(t.rows.data[i].depth, want[i].depth);
		assert_int_equal(t.rows.data[i].cells[0].i, want[i].ms * MS);
	}
	table_free(&t);
	assert_int_equal(view_wakechain(&o.view, "4711/2", &t, &o.diag), 0);
	assert_int_equal(row_of(&t, "disk: load < main")->cells[0].i, 50 * MS);
	table_free(&t);
	assert_int_equal(view_wakechain(&o.view, "7", &t, &o.diag), -1);
	table_free(&t);
	fixture_free(&o);
}

/* Two threads wait for each other: the chain is cut with a note, and no time counts twice. */
static void test_circle(void **state)
{
	struct table t = { 0 };
	struct opened o;
	int64_t sum = 0;

	fixture_new(&o);
	for (int thread = 1; thread <= 2; thread++) {
		struct wait_info wait = { .reason = REASON_PIPE, .syscall = -1, .length_ns = 10 * MS,
					  .waker = 3 - thread, .waker_pid = BUILDER_PID };

		exp_builder_at(o.builder, 0);
		exp_builder_wait(o.builder, thread, "main>ask", MS_SLEEP, 10, &wait);
	}
	fixture_open(&o);
	assert_int_equal(view_wakechain(&o.view, "1", &t, &o.diag), 0);
	row_of(&t, "the thread itself again: cut here");
	vec_for_each(r, &t.rows)
		sum += r->depth == 1 ? r->cells[0].i : 0;
	assert_int_equal(sum, 10 * MS);
	table_free(&t);
	fixture_free(&o);
}

/* --- experiments without such data --- */

static void test_foreign(void **state)
{
	struct table t = { 0 };
	struct opened o;

	fixture_new(&o);
	exp_builder_profile(o.builder, 1, "main", MS_USER, 5);
	exp_builder_profile(o.builder, 1, "main>poll", MS_SLEEP, 5);
	fixture_open(&o);
	assert_int_equal(view_waits(&o.view, &t, &o.diag), 0);
	assert_int_equal(row_of(&t, "unknown")->cells[0].i, 5 * MS);
	table_free(&t);
	assert_int_equal(view_wakers(&o.view, &t, &o.diag), 0);
	row_of(&t, "<unknown> -> test");
	table_free(&t);
	assert_int_equal(view_runqueue(&o.view, &t, &o.diag), 0);
	assert_true(noted(&t, "No waits for a CPU"));
	table_free(&t);
	assert_int_equal(view_locks(&o.view, false, &t, &o.diag), 0);
	assert_true(noted(&t, "No waits for user locks"));
	table_free(&t);
	fixture_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locks),	  cmocka_unit_test(test_holder_unknown),
		cmocka_unit_test(test_counted_locks), cmocka_unit_test(test_counts_without_waits),
		cmocka_unit_test(test_cpu_of_unrecorded), cmocka_unit_test(test_system_calls),
		cmocka_unit_test(test_states),	  cmocka_unit_test(test_missing),
		cmocka_unit_test(test_states_not_closed),
		cmocka_unit_test(test_unchecked), cmocka_unit_test(test_interrupts), cmocka_unit_test(test_chain),
		cmocka_unit_test(test_circle),	  cmocka_unit_test(test_foreign),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
