/* SPDX-License-Identifier: GPL-2.0-or-later */
/* threads.xml: what was written is read back. Impossible values are reported and skipped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/experiment/exp_threads.h"
#include "analysis/experiment/experiment.h"
#include "tests/fixtures/exp_builder.h"
#include "tests/fixtures/tempdir.h"

static struct experiment *open_with(const char *dir, const char *threads)
{
	__cleanup(freep) char *path = xasprintf("%s/t.1.er", dir);

	if (access(path, F_OK))
		exp_builder_close(exp_builder_new(dir, "t.1.er"));
	if (threads)
		tempdir_write(dir, "t.1.er/threads.xml", threads, strlen(threads));
	return experiment_open(path, NULL);
}

static bool said(const struct experiment *e, const char *text)
{
	for (size_t i = 0; i < e->diag.nmsgs; i++) {
		if (strstr(e->diag.msgs[i].text, text))
			return true;
	}
	return false;
}

/* As recorders write it. Experiments of earlier recorders have threads.xml, as the other tests here. */
static void test_compressed(void **state)
{
	__cleanup(freep) char *path = xasprintf("%s/z.1.er", (const char *)*state);
	struct exp_builder *b = exp_builder_new(*state, "z.1.er");
	struct experiment *e;

	expwriter_text(exp_builder_writer(b), "threads.xml.gz", "<thread pid=\"12\" tid=\"13\"/>\n"
								"<thread pid=\"12\" tid=\"14\"/>\n");
	exp_builder_close(b);
	e = experiment_open(path, NULL);
	assert_int_equal(e->threads.len, 2);
	assert_int_equal(e->threads.data[1].tid, 14);
	experiment_close(e);
}

static void test_all_of_it(void **state)
{
	struct experiment *e = open_with(*state,
		"<thread pid=\"12\" tid=\"13\" comm=\"a &lt;b&gt;\" begin=\"5\" end=\"105\" run=\"10\""
		" user=\"6\" system=\"4\" tfault=\"1\" dfault=\"2\" kfault=\"3\" lock=\"4\" sleep=\"50\""
		" nsleep=\"41\" wait=\"25\" nwait=\"42\" stolen=\"6\" stop=\"5\""
		" waits=\"7\" preempted=\"8\" moves=\"2\" moved=\"30\" minflt=\"9\" majflt=\"10\" born=\"1\""
		" ended=\"1\" split=\"1\" cgroup=\"/a\" experiment=\"_a_PID_12.1.er\"/>\n"
		"<thread pid=\"0\" tid=\"2\"/>\n");
	const struct exp_thread *th;

	assert_int_equal(e->threads.len, 2);
	th = &e->threads.data[0];
	assert_int_equal(th->pid, 12);
	assert_int_equal(th->tid, 13);
	assert_string_equal(th->comm, "a <b>");
	assert_string_equal(th->cgroup, "/a");
	assert_string_equal(th->experiment, "_a_PID_12.1.er");
	assert_int_equal(th->end_ns - th->begin_ns, 100);
	assert_int_equal(thread_sum(th), 100);
	assert_int_equal(th->user_ns + th->system_ns, th->run_ns);
	assert_int_equal(th->off_ns[MS_USER_LOCK], 4);
	assert_int_equal(th->off_ns[MS_WAIT_CPU], 25);
	assert_int_equal(th->off_ns[MS_STOPPED], 5);
	assert_int_equal(th->off_n[MS_SLEEP], 41);
	assert_int_equal(th->off_n[MS_WAIT_CPU], 42);
	assert_int_equal(th->off_n[MS_USER_LOCK], 0);
	assert_int_equal(th->stolen_ns, 6);
	assert_int_equal(th->nwaits, 7);
	assert_int_equal(th->npreempted, 8);
	assert_int_equal(th->nmoved, 2);
	assert_int_equal(th->moved_ns, 30);
	assert_int_equal(th->minflt, 9);
	assert_int_equal(th->majflt, 10);
	assert_true(th->born && th->ended && th->split);
	th = &e->threads.data[1];
	assert_string_equal(th->comm, "");
	assert_string_equal(th->experiment, "");
	assert_false(th->born || th->ended || th->split);
	assert_int_equal(e->diag.nmsgs, 0);
	experiment_close(e);
}

static void test_none(void **state)
{
	struct experiment *e = open_with(*state, NULL);

	assert_int_equal(e->threads.len, 0);
	assert_int_equal(e->diag.nmsgs, 0);
	experiment_close(e);
}

/* Threads without an id are left out, impossible times become 0, and sums do not overflow. */
static void test_nonsense(void **state)
{
	struct experiment *e = open_with(*state,
		"<thread tid=\"1\"/>\n"
		"<thread pid=\"1\" tid=\"99999999999\"/>\n"
		"<thread pid=\"1\" tid=\"1\" run=\"-7\" sleep=\"x\"/>\n"
		"<thread pid=\"1\" tid=\"2\" begin=\"10\" end=\"5\"/>\n"
		"<thread pid=\"1\" tid=\"3\" run=\"99999999999999999999999\" "
		"sleep=\"9223372036854775807\"/>\n"
		"<other pid=\"1\" tid=\"4\"/>\n");

	assert_int_equal(e->threads.len, 3);
	assert_int_equal(e->threads.data[0].run_ns, 0);
	assert_int_equal(e->threads.data[0].off_ns[MS_SLEEP], 0);
	assert_int_equal(e->threads.data[1].end_ns, 10);
	assert_int_equal(thread_sum(&e->threads.data[2]), INT64_MAX);
	assert_true(said(e, "threads.xml: 4 threads with an impossible number"));
	experiment_close(e);
}

/* Elements of one name and cgroup are added up, and their threads are listed. */
static void test_folds(void **state)
{
	struct experiment *e = open_with(*state,
		"<threads count=\"2\" comm=\"cc1\" cgroup=\"/b\" begin=\"100\" end=\"200\" lived=\"90\" "
		"run=\"60\" sleep=\"30\" nsleep=\"4\" moves=\"3\" moved=\"9\" movers=\"1\" split=\"1\" "
		"members=\"12:0+40 7/13:50+50\"/>\n"
		"<threads count=\"1\" comm=\"cc1\" begin=\"50\" end=\"60\" lived=\"10\" run=\"10\" "
		"members=\"14:0+10\"/>\n"
		"<threads count=\"1\" comm=\"cc1\" cgroup=\"/b\" begin=\"20\" end=\"21\" lived=\"1\" "
		"wait=\"1\" nwait=\"1\" members=\"15:0+1\"/>\n"
		"<threads count=\"1\" comm=\"as\" begin=\"5\" end=\"6\" lived=\"1\" run=\"1\" "
		"members=\"16:0+1\"/>\n");
	const struct exp_fold *f = e->folds.data;

	assert_int_equal(e->diag.nmsgs, 0);
	assert_int_equal(e->folds.len, 3);
	assert_int_equal(f->nthreads, 3);
	assert_int_equal(f->lived_ns, 91);
	assert_int_equal(thread_sum(&f->sum), 91);
	assert_int_equal(f->sum.begin_ns, 20);
	assert_int_equal(f->sum.end_ns, 200);
	assert_int_equal(f->sum.off_n[MS_SLEEP], 4);
	assert_int_equal(f->sum.off_n[MS_WAIT_CPU], 1);
	assert_int_equal(f->sum.nmoved, 3);
	assert_int_equal(f->sum.moved_ns, 9);
	assert_int_equal(f->nmovers, 1);
	assert_false(f->sum.split);
	assert_true(f[0].ambiguous && f[1].ambiguous && !f[2].ambiguous);
	assert_int_equal(e->threads.len, 5);
	assert_int_equal(e->threads.data[1].pid, 7);
	assert_int_equal(e->threads.data[1].tid, 13);
	assert_int_equal(e->threads.data[1].begin_ns, 150);
	assert_int_equal(e->threads.data[1].end_ns, 200);
	assert_int_equal(e->threads.data[1].run_ns, 0);
	assert_string_equal(e->threads.data[1].cgroup, "/b");
	assert_int_equal(e->threads.data[2].pid, 14);
	assert_int_equal(e->threads.data[2].fold, 2);
	assert_int_equal(e->threads.data[3].fold, 1);
	experiment_close(e);
}

/* A wrong element is counted once; threads in front of a wrong one are kept. */
static void test_folds_nonsense(void **state)
{
	static const char *const wrong[] = {
		"count=\"0\" members=\"\"", "count=\"-1\" members=\"\"", "members=\"1:0+1\"",
		"count=\"1\" lived=\"-1\" members=\"1:0+1\"", "count=\"1\" movers=\"2\" members=\"1:0+1\"",
		"count=\"1\"", "count=\"1\" members=\"\"", "count=\"1\" members=\"1\"",
		"count=\"1\" members=\"1:0\"", "count=\"1\" members=\"1:0+\"",
		"count=\"1\" members=\"-1:0+1\"", "count=\"1\" members=\"1:-1+1\"",
		"count=\"1\" members=\"99999999999:0+1\"", "count=\"1\" members=\"1/99999999999:0+1\"",
		"count=\"1\" begin=\"5\" end=\"9\" members=\"1:9223372036854775807+1\"",
		"count=\"1\" members=\"1:9223372036854775807+1\"", "count=\"1\" members=\"1:9223372036854775808+1\"",
		"count=\"2\" members=\"1:0+1\"", "count=\"1\" members=\"1:0+1 2:0+1\"",
		"count=\"1\" members=\"1:0+1 x\"", "count=\"1\" run=\"-1\" members=\"1:0+1\"",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		__cleanup(freep) char *text = xasprintf("<threads comm=\"a\" %s/>\n", wrong[i]);
		struct experiment *e = open_with(*state, text);

		if (!said(e, "threads.xml: 1 thread with an impossible number"))
			fail_msg("%s", wrong[i]);
		vec_for_each(th, &e->threads)
			assert_true(th->end_ns >= th->begin_ns && th->begin_ns >= 0);
		experiment_close(e);
	}
}

/* The recorder was killed while it wrote a line: the lines before it count. */
static void test_cut_off(void **state)
{
	struct experiment *e = open_with(*state, "<thread pid=\"1\" tid=\"1\" run=\"5\"/>\n"
					 "<thread pid=\"1\" tid=\"2\" ru");

	assert_int_equal(e->threads.len, 1);
	assert_true(said(e, "threads.xml: line 2 is damaged"));
	experiment_close(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEMPDIR_CASE(test_all_of_it), TEMPDIR_CASE(test_compressed),
		TEMPDIR_CASE(test_none),
		TEMPDIR_CASE(test_nonsense),
		TEMPDIR_CASE(test_folds),
		TEMPDIR_CASE(test_folds_nonsense),
		TEMPDIR_CASE(test_cut_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
