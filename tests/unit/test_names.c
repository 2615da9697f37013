/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of processes and threads. */
#include <inttypes.h>

#include "analysis/model/names.h"
#include "tests/unit/session_fixture.h"

static const struct experiment *founder(const struct opened *o)
{
	return o->session->experiments.data[0];
}

typedef void (*put_fn)(const struct names *n, const struct experiment *e, int64_t pid,
		       unsigned serial, int64_t tid, struct buf *b);

static void assert_put_serial(struct opened *o, put_fn put, int64_t pid, unsigned serial,
			      int64_t tid, const char *want)
{
	struct buf b = { 0 };

	put(session_names(o->session), founder(o), pid, serial, tid, &b);
	assert_string_equal(b.data, want);
	buf_free(&b);
}

static void assert_put(struct opened *o, put_fn put, int64_t pid, int64_t tid, const char *want)
{
	assert_put_serial(o, put, pid, 0, tid, want);
}

static void assert_kind(struct opened *o, int64_t pid, int64_t tid, int64_t time_ns,
			const char *want)
{
	struct thread_kind k = names_kind(session_names(o->session), founder(o), pid, tid, time_ns);
	struct buf b = { 0 };

	names_put_kind(&k, &b);
	assert_string_equal(b.data, want);
	buf_free(&b);
}

/* An answer for thread 12, which has its name from 10 until 200. */
static void assert_memo(struct opened *o)
{
	const struct experiment *e = founder(o);
	struct kind_memo m = { 0 };

	assert_false(kind_memo_holds(&m, e, 12, 12, 100));
	kind_memo_ask(&m, session_names(o->session), e, 12, 12, 100);
	assert_string_equal(m.kind.comm, "make");
	assert_true(kind_memo_holds(&m, e, 12, 12, 100));
	assert_true(kind_memo_holds(&m, e, 12, 12, 199));
	assert_false(kind_memo_holds(&m, e, 12, 12, 99));
	assert_false(kind_memo_holds(&m, e, 12, 12, 200));
	assert_false(kind_memo_holds(&m, e, 12, 13, 100));
	assert_false(kind_memo_holds(&m, e, 14, 12, 100));
	assert_false(kind_memo_holds(&m, NULL, 12, 12, 100));
}

/* The times at which a thread or its process may get another name. */
static void assert_changes(struct opened *o, int64_t pid, int64_t tid, const char *want)
{
	const struct names *n = session_names(o->session);
	int64_t at = INT64_MIN;
	struct buf b = { 0 };

	buf_puts(&b, "");
	while ((at = names_next_change(n, founder(o), pid, tid, at)) < INT64_MAX)
		buf_printf(&b, "%" PRId64 " ", at);
	assert_string_equal(b.data ? b.data : "", want);
	buf_free(&b);
}

/* A process that started another program has two experiments; its name is the last one's. */
static void test_exec(void **state)
{
	struct exp_builder *first, *last;
	struct opened o;

	fixture_new_kernel(&o);
	last = exp_builder_sub(o.builder, "_a_PID_12.1.er", "/bin/load x", 12);
	first = exp_builder_sub(o.builder, "_z_PID_12.1.er", "/bin/sh -c load", 12);
	exp_builder_profile(first, 12, "main", MS_USER, 1);
	exp_builder_profile(last, 12, "main", MS_USER, 5);
	exp_builder_close(first);
	exp_builder_close(last);
	fixture_open(&o);
	assert_string_equal(names_process(session_names(o.session), founder(&o), 12), "load");
	assert_put(&o, names_put_process, 12, 0, "load, PID 12");
	fixture_free(&o);
}

static void test_threads(void **state)
{
	struct opened o;

	fixture_new_kernel(&o);
	expwriter_text(exp_builder_writer(o.builder), "threads.xml",
		       "<thread pid=\"12\" tid=\"12\" comm=\"server-of-thing\"/>\n"
		       "<thread pid=\"12\" tid=\"13\" comm=\"worker\"/>\n"
		       "<thread pid=\"0\" tid=\"5\" comm=\"kworker/0:1\"/>");
	fixture_open(&o);
	assert_put(&o, names_put_thread, 12, 12, "server-of-thing, PID 12, TID 12");
	assert_put(&o, names_put_thread, 12, 13, "server-of-thing, PID 12, TID 13 (worker)");
	assert_kind(&o, 12, 12, 0, "server-of-thing");
	assert_kind(&o, 12, 13, 0, "server-of-thing (worker)");
	assert_kind(&o, 12, 14, 0, "server-of-thing");
	assert_kind(&o, 99, 99, 0, "TID 99");
	assert_put(&o, names_put_thread, 0, 5, "kworker/0:1, kernel thread 5");
	/* The kernel reports a kernel thread that woke another with its tid as the pid. */
	assert_put(&o, names_put_thread, 5, 5, "kworker/0:1, kernel thread 5");
	assert_put(&o, names_put_process, 0, 5, "kworker/0:1, kernel thread 5");
	fixture_free(&o);
}

/* A packet has the name of its time, a row the last one; tids may be reused. */
static void test_renamed(void **state)
{
	const struct names *n;
	struct opened o;

	fixture_new_kernel(&o);
	expwriter_text(exp_builder_writer(o.builder), "threads.xml",
		       "<thread pid=\"12\" tid=\"12\" comm=\"cc1\" begin=\"5\" end=\"400\"/>\n"
		       "<thread pid=\"20\" tid=\"20\" comm=\"alone\" begin=\"600\" end=\"700\"/>");
	expwriter_text(exp_builder_writer(o.builder), "names.xml",
		       "<name pid=\"12\" tid=\"12\" at=\"200\" comm=\"cc1\"/>\n"
		       "<name pid=\"12\" tid=\"12\" at=\"10\" comm=\"make\"/>\n"
		       "<name pid=\"12\" tid=\"13\" at=\"20\" comm=\"old\"/>\n"
		       "<name pid=\"14\" tid=\"13\" at=\"500\" comm=\"new\"/>\n"
		       "<name pid=\"1\" tid=\"-1\" at=\"5\" comm=\"bad\"/>\n");
	fixture_open(&o);
	n = session_names(o.session);
	assert_string_equal(names_thread_at(n, founder(&o), 12, 10), "make");
	assert_string_equal(names_thread_at(n, founder(&o), 12, 199), "make");
	assert_string_equal(names_thread_at(n, founder(&o), 12, 200), "cc1");
	assert_string_equal(names_thread_at(n, founder(&o), 12, INT64_MAX), "cc1");
	assert_string_equal(names_thread_at(n, founder(&o), 20, INT64_MIN), "alone");
	assert_null(names_thread_at(n, founder(&o), 99, 0));
	assert_string_equal(names_thread(n, founder(&o), 12), "cc1");
	assert_string_equal(names_process_at(n, founder(&o), 12, 100), "make");
	assert_put(&o, names_put_thread, 12, 12, "cc1, PID 12, TID 12");
	assert_put(&o, names_put_thread, 12, 13, "cc1, PID 12, TID 13 (old)");
	assert_put(&o, names_put_thread, 14, 13, "new, PID 14, TID 13");
	assert_memo(&o);
	assert_kind(&o, 12, 12, 100, "make");
	assert_kind(&o, 12, 13, 300, "cc1 (old)");
	assert_changes(&o, 12, 13, "5 10 20 200 400 500 ");
	assert_changes(&o, 20, 20, "600 700 ");
	assert_changes(&o, 99, 99, "");
	assert_int_equal(founder(&o)->names.len, 4);
	assert_int_equal(founder(&o)->diag.nmsgs, 1);
	fixture_free(&o);
}

/* PID 12 is that of three processes, one after the other; the second has two threads. */
static void test_pid_that_comes_again(void **state)
{
	static const struct {
		int64_t time_ns;
		unsigned serial;
	} times[] = { { INT64_MIN, 1 }, { 10, 1 }, { 199, 1 }, { 200, 2 }, { 499, 2 }, { 500, 3 },
		      { INT64_MAX, 3 } };
	const struct names *n;
	struct opened o;

	fixture_new_kernel(&o);
	expwriter_text(exp_builder_writer(o.builder), "names.xml",
		       "<name pid=\"12\" tid=\"12\" at=\"10\" start=\"7\" comm=\"sh\"/>\n"
		       "<name pid=\"12\" tid=\"12\" at=\"20\" start=\"7\" comm=\"cc1\"/>\n"
		       "<name pid=\"12\" tid=\"13\" at=\"300\" start=\"8\" comm=\"worker\"/>\n"
		       "<name pid=\"12\" tid=\"12\" at=\"200\" start=\"8\" comm=\"app\"/>\n"
		       "<name pid=\"12\" tid=\"12\" at=\"500\" start=\"9\" comm=\"app\"/>\n"
		       "<name pid=\"14\" tid=\"14\" at=\"500\" start=\"5\" comm=\"once\"/>\n"
		       "<name pid=\"14\" tid=\"14\" at=\"600\" start=\"5\" comm=\"twice\"/>\n");
	fixture_open(&o);
	n = session_names(o.session);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		assert_int_equal(names_serial_at(n, founder(&o), 12, times[i].time_ns),
				 times[i].serial);
	assert_int_equal(names_serial_at(n, founder(&o), 14, 550), 0);
	assert_int_equal(names_serial_at(n, founder(&o), 99, 550), 0);
	assert_put_serial(&o, names_put_process, 12, 1, 0, "cc1, PID 12, serial 1");
	assert_put_serial(&o, names_put_process, 12, 3, 0, "app, PID 12, serial 3");
	assert_put_serial(&o, names_put_thread, 12, 2, 13, "app, PID 12, serial 2, TID 13 (worker)");
	fixture_free(&o);
}

/* Each program of a followed process has an experiment, which ends at the next exec. */
static void test_program_at(void **state)
{
	struct exp_builder *first, *last;
	const struct names *n;
	struct opened o;

	fixture_new_kernel(&o);
	first = exp_builder_sub(o.builder, "_a_PID_12.1.er", "/bin/sh -c load", 12);
	last = exp_builder_sub(o.builder, "_b_PID_12.1.er", "/bin/load x", 12);
	exp_builder_at(first, 100);
	exp_builder_at(last, 200);
	exp_builder_close(first);
	exp_builder_close(last);
	fixture_open(&o);
	n = session_names(o.session);
	assert_string_equal(names_process_at(n, founder(&o), 12, INT64_MIN), "sh");
	assert_string_equal(names_process_at(n, founder(&o), 12, 100), "sh");
	assert_string_equal(names_process_at(n, founder(&o), 12, 101), "load");
	assert_string_equal(names_process_at(n, founder(&o), 12, INT64_MAX), "load");
	/* A name of an experiment is still valid at its end. */
	assert_changes(&o, 12, 12, "101 201 ");
	fixture_free(&o);
}

/* A tid that comes again may be that of a thread in another cgroup. */
static void test_cgroup_of_a_tid_that_comes_again(void **state)
{
	const struct names *n;
	struct opened o;

	fixture_new_kernel(&o);
	expwriter_text(exp_builder_writer(o.builder), "threads.xml",
		       "<thread pid=\"12\" tid=\"13\" comm=\"a\" begin=\"100\" end=\"200\" cgroup=\"/one\"/>\n"
		       "<thread pid=\"12\" tid=\"12\" comm=\"a\" end=\"400\" cgroup=\"/one\"/>\n"
		       "<thread pid=\"20\" tid=\"13\" comm=\"b\" begin=\"300\" end=\"400\" cgroup=\"/two\"/>\n"
		       "<thread pid=\"20\" tid=\"21\" comm=\"b\" begin=\"300\" end=\"400\"/>\n");
	fixture_open(&o);
	n = session_names(o.session);
	assert_string_equal(names_cgroup_at(n, founder(&o), 13, 0), "/one");
	assert_string_equal(names_cgroup_at(n, founder(&o), 13, 299), "/one");
	assert_string_equal(names_cgroup_at(n, founder(&o), 13, 300), "/two");
	assert_string_equal(names_cgroup_at(n, founder(&o), 13, INT64_MAX), "/two");
	assert_string_equal(names_cgroup_at(n, founder(&o), 12, 5), "/one");
	assert_null(names_cgroup_at(n, founder(&o), 21, 300));
	assert_int_equal(n->cgroups_at.all.len, 2);
	fixture_free(&o);
}

/* processes.xml has the programs of all processes, also of those that share an experiment. */
static void test_programs_from_a_table(void **state)
{
	const struct names *n;
	struct exp_builder *sub;
	struct opened o;

	fixture_new_kernel(&o);
	sub = exp_builder_sub(o.builder, "_a_PID_12.1.er", "/bin/other", 12);
	exp_builder_close(sub);
	expwriter_text(exp_builder_writer(o.builder), "processes.xml",
		       "<process pid=\"12\" begin=\"200\" comm=\"a\" command=\"/bin/load x\"/>\n"
		       "<process pid=\"12\" comm=\"a\" command=\"/bin/sh -c load\"/>\n"
		       "<process pid=\"13\" begin=\"5\" comm=\"only\"/>\n"
		       "<process pid=\"-1\" begin=\"5\" comm=\"bad\"/>\n"
		       "<process pid=\"14\" begin=\"-5\" comm=\"bad\"/>\n");
	fixture_open(&o);
	n = session_names(o.session);
	assert_string_equal(names_process_at(n, founder(&o), 12, INT64_MIN), "sh");
	assert_string_equal(names_process_at(n, founder(&o), 12, 199), "sh");
	assert_string_equal(names_process_at(n, founder(&o), 12, 200), "load");
	assert_string_equal(names_process(n, founder(&o), 12), "load");
	assert_string_equal(names_process(n, founder(&o), 13), "only");
	assert_null(names_process(n, founder(&o), 14));
	assert_int_equal(founder(&o)->processes.len, 3);
	assert_int_equal(founder(&o)->diag.nmsgs, 1);
	fixture_free(&o);
}

/* A log may have any number: times that overflow are clamped. */
static void test_times_that_cannot_be(void **state)
{
	__cleanup(freep) char *edit = NULL;
	const char *why = NULL;
	struct exp_builder *sub;
	struct opened o;

	fixture_new_kernel(&o);
	sub = exp_builder_sub(o.builder, "_p_PID_12.1.er", "/bin/server", 12);
	exp_builder_profile(sub, 12, "main", MS_USER, 1000);
	exp_builder_close(sub);
	exp_builder_close(o.builder);
	edit = xasprintf("cd %s/t.1.er && sed -i 's/kind=\"run\" tstamp=\"[0-9.]*\" time=\"[0-9]*\"/"
			 "kind=\"run\" tstamp=\"9223372036.000000000\" time=\"9223372036854775807\"/' "
			 "log.xml _p_PID_12.1.er/log.xml && grep -q 'time=\"9223372036854775807' log.xml",
			 o.dir);
	assert_int_equal(system(edit), 0);
	fixture_open_built(&o);
	assert_string_equal(names_process(session_names(o.session), founder(&o), 12), "server");
	close(session_open_recorded(o.session, "/etc/passwd", &why));
	assert_null(why);
	fixture_free(&o);
}

/* Servers rename their processes: "postgres: walwriter". */
static void test_command(void **state)
{
	struct exp_builder *sub;
	struct opened o;

	fixture_new_kernel(&o);
	sub = exp_builder_sub(o.builder, "_p_PID_12.1.er", "postgres: walwriter", 12);
	exp_builder_close(sub);
	fixture_open(&o);
	assert_string_equal(names_process(session_names(o.session), founder(&o), 12), "postgres");
	fixture_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_renamed),
		cmocka_unit_test(test_pid_that_comes_again),
		cmocka_unit_test(test_cgroup_of_a_tid_that_comes_again),
		cmocka_unit_test(test_program_at),
		cmocka_unit_test(test_programs_from_a_table),
		cmocka_unit_test(test_times_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
