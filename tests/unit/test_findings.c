/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of findings. Each case is an experiment with exactly one trouble. */
#include "analysis/experiment/span.h"
#include "analysis/metrics/filter.h"
#include "tests/unit/findings_fixture.h"

static const struct trouble {
	const char *rule;
	const char *stack;
	enum er_mstate state;
	enum er_reason reason;
	unsigned holder;
	bool exact;
	const char *text, *command, *filter;
} troubles[] = {
	{ "cpu", "main>f", MS_WAIT_CPU, REASON_PREEMPTED, 3, true,
	  "20 ms of 20 ms that `test` waited were for a CPU; `test` had it 100 % of that time.",
	  "-pid 4711 -runqueue", "PID IN (4711) && STATE == WAIT_CPU" },
	{ "quota", "main>f", MS_WAIT_CPU, REASON_THROTTLED, 0, true,
	  "20 ms of 20 ms that `test` waited were for the CPU quota.", "-pid 4711 -runqueue",
	  "PID IN (4711) && REASON == THROTTLED" },
	{ "stolen", "main>f", MS_WAIT_CPU, REASON_STOLEN, 0, true,
	  "The hypervisor or interrupts took 20 ms of 120 ms that threads had a CPU.", "-runqueue",
	  "REASON IN (STOLEN, STOLEN_IRQ)" },
	{ "lock", "main>f>pthread_mutex_lock", MS_USER_LOCK, REASON_USER_LOCK, 3, true,
	  "20 ms of 20 ms that `test` waited were for a lock taken in pthread_mutex_lock; `test` had "
	  "it 100 % of that time.", "-pid 4711 -locks", "PID IN (4711) && STATE == USER_LOCK" },
	{ "lock", "main>f>LWLockAcquire>sem_wait", MS_USER_LOCK, REASON_USER_LOCK, 0, true,
	  "20 ms of 20 ms that `test` waited were for one lock or several, taken in sem_wait.", "-pid 4711 -locks",
	  "PID IN (4711) && STATE == USER_LOCK" },
	{ "kernel_lock", "main>f>k:down_write", MS_SLEEP, REASON_KERNEL_LOCK, 0, true,
	  "were for a lock in the kernel, mostly in down_write < f < main.", "-pid 4711 -waits",
	  "PID IN (4711) && REASON == KERNEL_LOCK" },
	{ "file_lock", "main>f", MS_SLEEP, REASON_FILE_LOCK, 0, true,
	  "were for a file lock, mostly in f < main.", "-pid 4711 -waits",
	  "PID IN (4711) && REASON == FILE_LOCK" },
	{ "disk", "main>f", MS_SLEEP, REASON_DISK, 0, true, "were for the disk, mostly in f < main.",
	  "-pid 4711 -waits", "PID IN (4711) && REASON IN (DISK, WRITEBACK)" },
	{ "disk", "main>f", MS_SLEEP, REASON_WRITEBACK, 0, true, "were for the disk", "-pid 4711 -waits",
	  "PID IN (4711) && REASON IN (DISK, WRITEBACK)" },
	{ "faults", "main>f", MS_DFAULT, REASON_DISK, 0, true,
	  "were for pages to be read in (page faults), mostly in f < main.", "-pid 4711 -waits",
	  "PID IN (4711) && STATE IN (TFAULT, DFAULT, KFAULT)" },
	{ "memory", "main>f", MS_DFAULT, REASON_RECLAIM, 0, true,
	  "were for memory to be freed, mostly in f < main.", "-pid 4711 -waits",
	  "PID IN (4711) && REASON == RECLAIM" },
};

static void make_trouble(struct made *m, const struct trouble *t, unsigned ms)
{
	begin(m);
	put_wait(&m->o, 2, t->stack, t->state, ms,
		 (struct wait_info){ .reason = t->reason, .length_ns = ms * MS, .holder = t->holder,
				     .holder_pid = t->holder ? BUILDER_PID : 0 });
	fixture_open(&m->o);
	make(m);
}

/*
 * Each trouble is the only finding, with the right figure, command and filter. The filter is valid.
 */
static void test_each(void **state)
{
	for (size_t i = 0; i < sizeof(troubles) / sizeof(troubles[0]); i++) {
		const struct trouble *t = &troubles[i];
		const struct finding *g;
		struct filter *filter;
		struct made m;

		make_trouble(&m, t, 20);
		assert_int_equal(m.found.len, 2);
		g = &m.found.data[0];
		assert_string_equal(g->rule, t->rule);
		if (!strstr(g->text, t->text))
			fail_msg("'%s' has no '%s'", g->text, t->text);
		assert_int_equal(g->figure_ns, 20 * MS);
		assert_int_equal(g->exact, t->exact);
		assert_string_equal(g->command, t->command);
		assert_string_equal(g->filter, t->filter);
		filter = filter_parse(m.o.session, NULL, g->filter, &m.o.diag);
		assert_non_null(filter);
		filter_free(filter);
		assert_string_equal(m.found.data[1].rule, "computing");
		unmake(&m);
	}
}

/* With er_kernel -T most threads have no names. They had the CPU all the same. */
static void test_unrecorded_had_the_cpu(void **state)
{
	struct wait_info info = { .reason = REASON_PREEMPTED, .length_ns = 15 * MS, .holder = 99, .holder_pid = 98 };
	const struct finding *g;
	struct made m;

	begin(&m);
	put_wait(&m.o, 2, "main>f", MS_WAIT_CPU, 15, info);
	info.holder = 1;
	info.holder_pid = BUILDER_PID;
	put_wait(&m.o, 2, "main>f", MS_WAIT_CPU, 5, info);
	expwriter_text(exp_builder_writer(m.o.builder), "threads.xml",
		       "<thread pid=\"4711\" tid=\"1\" comm=\"test\" end=\"8000000\"/>"
		       "<thread pid=\"4711\" tid=\"2\" comm=\"test\" end=\"8000000\" wait=\"20000000\"/>");
	fixture_open(&m.o);
	make(&m);
	g = finding_of(&m, "cpu");
	assert_non_null(g);
	if (!strstr(g->text, "were for a CPU; threads that were not recorded had it 75 % of that time."))
		fail_msg("'%s'", g->text);
	unmake(&m);
}

/*
 * Two locks at two places, each with a holder of its own: no sentence gives the time of both to one of them. If one
 * thread has both, it is named, and the place of both is, too.
 */
static void test_two_locks(void **state)
{
	for (int same = 0; same < 2; same++) {
		struct wait_info info = { .reason = REASON_USER_LOCK, .length_ns = 12 * MS, .object = 0x1000,
					  .holder = 1, .holder_pid = BUILDER_PID };
		const struct finding *g;
		struct made m;

		begin(&m);
		put_wait(&m.o, 2, "main>f>pthread_mutex_lock", MS_USER_LOCK, 12, info);
		info.object = 0x2000;
		info.length_ns = 8 * MS;
		info.holder = same ? 1 : 99;
		info.holder_pid = same ? BUILDER_PID : 98;
		put_wait(&m.o, 3, same ? "main>f>pthread_mutex_lock" : "main>g>__lll_lock_wait", MS_USER_LOCK, 8, info);
		fixture_open(&m.o);
		make(&m);
		g = finding_of(&m, "lock");
		assert_non_null(g);
		if (!strstr(g->text, same ? "for several locks taken in pthread_mutex_lock; `test` had them 100 %" :
				     "for several locks: 60 % taken in pthread_mutex_lock, 40 % taken in __lll_lock_wait."))
			fail_msg("'%s'", g->text);
		unmake(&m);
	}
}

/* A thread that waits for a monitor of Java waits for a lock, though it waits by a condition variable. */
static void test_java_lock(void **state)
{
	static const char stack[] = "main>void App.f>ObjectMonitor::enter>k:futex_wait";
	struct wait_info info = { .reason = REASON_USER_LOCK, .length_ns = 12 * MS, .object = 0x1000 };
	struct made m;

	begin(&m);
	put_wait(&m.o, 2, stack, MS_USER_LOCK, 12, info);
	info.object = 0x2000; /* each thread waits by an address of its own */
	put_wait(&m.o, 3, stack, MS_USER_LOCK, 12, info);
	fixture_open(&m.o);
	make(&m);
	assert_non_null(finding_of(&m, "lock"));
	if (!strstr(finding_of(&m, "lock")->text, "were for one lock or several, taken in void App.f."))
		fail_msg("'%s'", finding_of(&m, "lock")->text);
	unmake(&m);
}

/* Two functions may take one monitor. */
static void test_java_locks(void **state)
{
	struct wait_info info = { .reason = REASON_USER_LOCK, .length_ns = 12 * MS, .object = 0x1000 };
	struct made m;

	begin(&m);
	put_wait(&m.o, 2, "main>void App.f>ObjectMonitor::enter", MS_USER_LOCK, 12, info);
	put_wait(&m.o, 2, "main>void App.g>ObjectMonitor::enter", MS_USER_LOCK, 12, info);
	fixture_open(&m.o);
	make(&m);
	assert_non_null(finding_of(&m, "lock"));
	if (!strstr(finding_of(&m, "lock")->text, "were for one lock or several: 50 % taken in void App."))
		fail_msg("'%s'", finding_of(&m, "lock")->text);
	unmake(&m);
}

/* Below a twentieth of the time that the data cover, no rule speaks; for stolen time below 2 %. */
static void test_side_issues(void **state)
{
	for (size_t i = 0; i < sizeof(troubles) / sizeof(troubles[0]); i++) {
		struct made m;

		make_trouble(&m, &troubles[i], strcmp(troubles[i].rule, "stolen") ? 3 : 1);
		assert_int_equal(m.found.len, 1);
		assert_string_equal(m.found.data[0].rule, "computing");
		unmake(&m);
	}
}

/* A program that mostly computes is not slowed down by what is long only beside short ones. */
static void test_small_share(void **state)
{
	struct made m;

	begin(&m);
	for (int i = 3; i < 9; i++) {
		exp_builder_at(m.o.builder, 0);
		exp_builder_profile(m.o.builder, i, "main>work", MS_USER, 100);
	}
	put_wait(&m.o, 2, "main>f", MS_SLEEP, 20,
		 (struct wait_info){ .reason = REASON_DISK, .length_ns = 20 * MS });
	fixture_open(&m.o);
	make(&m);
	assert_int_equal(m.found.len, 1);
	unmake(&m);
}

/* Threads without a sample ran in no function that is known. */
static void test_unsampled(void **state)
{
	struct made m;

	begin(&m);
	exp_builder_at(m.o.builder, 0);
	exp_builder_profile(m.o.builder, 3, "<Unsampled-CPU>", MS_USER, 300);
	fixture_open(&m.o);
	make(&m);
	if (!strstr(m.found.data[0].text, "held it up: work 18 % (+-") || !strstr(m.found.data[0].text, "rest 8 % (+-") ||
	    !strstr(m.found.data[0].text, "; of 75 % no sample tells the function"))
		fail_msg("'%s'", m.found.data[0].text);
	unmake(&m);
}

/*
 * A large part of the time of a program that hardly ran may be a small part of the time that the
 * data cover.
 */
static void test_short(void **state)
{
	struct made m;

	begin(&m);
	put_wait(&m.o, 2, "main>f", MS_SLEEP, 30,
		 (struct wait_info){ .reason = REASON_DISK, .length_ns = 30 * MS });
	put_wait(&m.o, 2, "main>f", MS_SLEEP, 700,
		 (struct wait_info){ .reason = REASON_TIMER, .length_ns = 700 * MS });
	fixture_open(&m.o);
	make(&m);
	assert_null(finding_of(&m, "disk"));
	unmake(&m);
}

/* Waits for work, and for events that a lock's system call waits for, hold nothing up. */
static void test_healthy(void **state)
{
	static const struct {
		const char *stack;
		enum er_mstate state;
		enum er_reason reason;
	} idle[] = {
		{ "main>f", MS_SLEEP, REASON_POLL },
		{ "main>f", MS_SLEEP, REASON_TIMER },
		{ "main>f", MS_SLEEP, REASON_CHILD },
		{ "main>f", MS_SLEEP, REASON_NO_WORK },
		{ "main>f", MS_STOPPED, REASON_STOPPED },
		{ "main>f>pthread_cond_wait", MS_USER_LOCK, REASON_USER_LOCK },
		{ "main>f>__pthread_clockjoin_ex", MS_USER_LOCK, REASON_USER_LOCK },
		{ "main>f>sem_wait", MS_USER_LOCK, REASON_USER_LOCK },
		{ "main>f>syscall", MS_USER_LOCK, REASON_USER_LOCK },
		{ "main>runtime.futex>runtime.stopm", MS_USER_LOCK, REASON_USER_LOCK },
	};
	const struct finding *g;
	struct made m;

	begin(&m);
	for (size_t i = 0; i < sizeof(idle) / sizeof(idle[0]); i++)
		put_wait(&m.o, 2, idle[i].stack, idle[i].state, 500,
			 (struct wait_info){ .reason = idle[i].reason, .length_ns = 500 * MS });
	fixture_open(&m.o);
	make(&m);
	assert_int_equal(m.found.len, 1);
	g = &m.found.data[0];
	assert_string_equal(g->rule, "computing");
	assert_non_null(strstr(g->text, "100 ms went into computing, and little is known to have held it up: work 70 % (+-"));
	assert_non_null(strstr(g->text, "rest 30 % (+-"));
	assert_true(g->exact);
	assert_null(g->filter);
	unmake(&m);
}

/*
 * A sampled wait of 10 ms with a weight of 40 ms has a standard error of sqrt(40 * 30) ms: one is
 * not enough for a finding, twelve are.
 */
static void test_error(void **state)
{
	struct made m;

	for (int n = 1; n <= 12; n += 11) {
		begin(&m);
		for (int i = 0; i < n; i++)
			put_wait(&m.o, 2, "main>f", MS_SLEEP, 40,
				 (struct wait_info){ .reason = REASON_DISK, .length_ns = 10 * MS });
		fixture_open(&m.o);
		make(&m);
		if (n == 1) {
			assert_null(finding_of(&m, "disk"));
		} else {
			assert_non_null(finding_of(&m, "disk"));
			assert_false(finding_of(&m, "disk")->exact);
			assert_int_equal(finding_of(&m, "disk")->error_ns, 120 * MS);
		}
		unmake(&m);
	}
}

/* Times are exact unless the filter removed a part of a thread's packets. */
static void test_cut_by_filter(void **state)
{
	static const char *const filters[] = { "THRID == 2", "TSTAMP < 150ms" };
	struct made m;

	for (int i = 0; i < 2; i++) {
		begin(&m);
		for (int n = 0; n < 40; n++)
			put_wait(&m.o, 2, "main>f", MS_WAIT_CPU, 3,
				 (struct wait_info){ .reason = REASON_WOKEN, .length_ns = 2 * MS });
		fixture_open(&m.o);
		m.o.view.filter = filter_parse(m.o.session, NULL, filters[i], &m.o.diag);
		assert_non_null(m.o.view.filter);
		make(&m);
		assert_non_null(finding_of(&m, "cpu"));
		assert_int_equal(finding_of(&m, "cpu")->exact, !i);
		unmake(&m);
	}
}

/* A recording that was cut, and one that lost samples. A loss of 9 in 1,000 is not reported. */
static void test_losses(void **state)
{
	static const struct {
		const char *recorder, *text;
		bool exact;
	} rows[] = {
		{ "<ring cpu=\"0\" produced=\"2\" recorded=\"2\" lost=\"0\"/>"
		  "<limit bytes=\"1\" reached_ns=\"40000000\"/>",
		  "The recording lacks 60 ms: the size limit was reached in second 0.040: what came "
		  "later is missing; raise -L, or record for a shorter time.", true },
		{ "<unwritten error=\"File too large\"/>",
		  "The recording ends early, after 100 ms: the experiment could not be written to its end "
		  "(File too large): the last part is missing; free some space, or choose another place "
		  "with -d.", true },
		{ "<ring cpu=\"0\" produced=\"4\" recorded=\"2\" lost=\"2\"/>",
		  "50.0 % of the clock samples (2 of 4) were lost, about 100 ms of CPU time: the times of "
		  "functions are too small.", false },
		{ "<ring cpu=\"0\" produced=\"1000\" recorded=\"2\" lost=\"9\"/>", NULL, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = xasprintf("<recorder state=\"closed\" archive=\"0\"/>\n%s\n", rows[i].recorder);
		struct made m;

		begin(&m);
		expwriter_text(exp_builder_writer(m.o.builder), "recorder.xml", text);
		free(text);
		fixture_open(&m.o);
		make(&m);
		assert_string_equal(m.found.data[0].rule, rows[i].text ? "losses" : "computing");
		if (rows[i].text) {
			assert_string_equal(m.found.data[0].text, rows[i].text);
			assert_string_equal(m.found.data[0].command, "-header");
			assert_int_equal(m.found.data[0].exact, rows[i].exact);
		}
		unmake(&m);
	}
}

/* With all troubles at once there are seven sentences, in order of time, with the CPU time last. */
static void test_seven(void **state)
{
	struct made m;

	begin(&m);
	for (unsigned i = 0; i < sizeof(troubles) / sizeof(troubles[0]); i++) {
		/* Each rule once. Every one of them needs a tenth of the time. */
		if (i && !strcmp(troubles[i].rule, troubles[i - 1].rule))
			continue;
		put_wait(&m.o, 2, troubles[i].stack, troubles[i].state, 1000 + i,
			 (struct wait_info){ .reason = troubles[i].reason,
					     .length_ns = (1000 + i) * (uint64_t)MS,
					     .holder = troubles[i].holder, .holder_pid = BUILDER_PID });
	}
	fixture_open(&m.o);
	make(&m);
	assert_int_equal(m.found.len, FINDINGS_MAX);
	assert_string_equal(m.found.data[0].rule, "memory");
	assert_string_equal(m.found.data[FINDINGS_MAX - 1].rule, "computing");
	for (size_t i = 1; i + 1 < m.found.len; i++)
		assert_true(m.found.data[i - 1].figure_ns >= m.found.data[i].figure_ns);
	unmake(&m);
}

/* n calls of run_ms, of which the last takes slow_ms more, waiting for the disk. */
static void make_spans(struct made *m, unsigned n, unsigned run_ms, unsigned slow_ms)
{
	struct span_packet p = { .thread = 2, .name = 1, .flags = SPAN_RETURNED, .run_ns = run_ms * MS };
	struct expwriter *w;

	begin(m);
	w = exp_builder_writer(m->o.builder);
	expwriter_profile(w, ER_PKT_SPAN, NULL);
	for (unsigned i = 1; i <= n; i++) {
		p.state_ns[MS_SLEEP] = i == n ? slow_ms * MS : 0;
		p.dur_ns = p.run_ns + p.state_ns[MS_SLEEP];
		p.end_ns = exp_builder_now(m->o.builder) + p.dur_ns;
		expwriter_span(w, &p);
		if (i == n)
			put_wait(&m->o, 2, "main>f", MS_SLEEP, slow_ms,
				 (struct wait_info){ .reason = REASON_POLL, .length_ns = slow_ms * MS });
		exp_builder_sleep(m->o.builder, 2 * MS);
	}
	expwriter_replace(w, SPANS_XML, "<span number=\"1\" name=\"q\" spec=\"x:q\"/>");
	fixture_open(&m->o);
	make(m);
}

/* Slow calls are found if there are enough calls, and they are slow enough. */
static void test_spans(void **state)
{
	static const struct {
		unsigned n, run_ms, slow_ms;
		bool found;
	} cases[] = { { 100, 1, 20, true }, { 99, 1, 20, false }, { 100, 4, 3, false },
		      { 100, 1, 0, false } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct finding *g;
		struct filter *filter;
		struct made m;

		make_spans(&m, cases[i].n, cases[i].run_ms, cases[i].slow_ms);
		g = finding_of(&m, "spans");
		assert_int_equal(g != NULL, cases[i].found);
		if (g) {
			assert_string_equal(g->text, "Slow calls of `q` (the slowest 1 %) spend 95 % of "
					    "their time in Sleep: poll, others 0 %; they take 21 ms, others "
					    "1 ms.");
			assert_int_equal(g->figure_ns, 21 * MS);
			assert_true(g->exact);
			assert_string_equal(g->command, "-spans");
			filter = filter_parse(m.o.session, NULL, g->filter, &m.o.diag);
			assert_non_null(filter);
			filter_free(filter);
		}
		unmake(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each),	  cmocka_unit_test(test_side_issues),
		cmocka_unit_test(test_small_share), cmocka_unit_test(test_short),
		cmocka_unit_test(test_healthy),	  cmocka_unit_test(test_unrecorded_had_the_cpu),
		cmocka_unit_test(test_error),	  cmocka_unit_test(test_cut_by_filter),
		cmocka_unit_test(test_losses),	  cmocka_unit_test(test_seven),
		cmocka_unit_test(test_spans),	  cmocka_unit_test(test_two_locks),
		cmocka_unit_test(test_java_lock), cmocka_unit_test(test_java_locks),
		cmocka_unit_test(test_unsampled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
