/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which packets of the whole system a recording of a program has, too. */
#include "analysis/metrics/hit.h"
#include "analysis/metrics/pass.h"
#include "analysis/metrics/twice.h"
#include "tests/unit/session_fixture.h"

enum { MS = 1000000, PID = 12, OTHER = 13 };

static const struct exp_counter_desc faults = { 0, "page-faults", "page-faults", "Page Faults", 1, false, false };
static const struct exp_counter_desc both[] = {
	{ 0, "context-switches", "context-switches", "Context Switches", 1, false, false },
	{ 1, "page-faults", "page-faults", "Page Faults", 1, false, false },
};

/* A recording of program PID, which began after 10 ms and paused from 30 ms to 40 ms. */
static struct exp_builder *program_new(struct opened *o, enum er_stateset states)
{
	struct exp_builder *b = exp_builder_new_states(o->dir, "p.1.er", states);
	struct expwriter *w = exp_builder_writer(b);

	expwriter_replace(w, "recorder.xml", "<recorder version=\"1\" scope=\"program\"/>\n");
	expwriter_text(w, "processes.xml",
		       "<process pid=\"12\" begin=\"15000000\" command=\"./work again\"/>\n"
		       "<process pid=\"12\" begin=\"10000000\" command=\"./work\"/>");
	expwriter_event(w, "pause", BUILDER_START_NS + 30 * MS, NULL);
	expwriter_event(w, "resume", BUILDER_START_NS + 40 * MS, NULL);
	exp_builder_at(b, 100 * MS);
	exp_builder_profile(b, 1, "main>work", MS_USER, 1);
	return b;
}

/* A recording of the whole system: PID's process in its sub-experiment, and processes.xml. */
static struct exp_builder *system_new(struct opened *o, int pid)
{
	struct exp_builder *sub;

	fixture_new_kernel(o);
	expwriter_text(exp_builder_writer(o->builder), "processes.xml",
		       "<process pid=\"12\" begin=\"0\" command=\"./work\"/>");
	sub = exp_builder_sub_states(o->builder, "_work_PID_12.1.er", "./work", pid, STATES_ALL);
	exp_builder_at(sub, 0);
	return sub;
}

static void open_both(struct opened *o, struct exp_builder *sub, struct exp_builder *program)
{
	char *path = xasprintf("%s/p.1.er", o->dir);

	exp_builder_close(sub);
	exp_builder_close(program);
	exp_builder_close(o->builder);
	o->session = session_new(&o->diag);
	assert_int_equal(session_add(o->session, path), 0);
	path[strlen(path) - strlen("p.1.er")] = 't';
	assert_int_equal(session_add(o->session, path), 0);
	free(path);
	metric_set_init(&o->metrics, o->session);
	view_state_init(&o->view, o->session, &o->metrics);
}

struct seen {
	size_t n, ntwice;
	uint64_t twice_ms; /* bit i: a packet at i ms is there twice */
};

static void look(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct seen *s = ctx;

	s->n++;
	if (twice_has(h)) {
		s->ntwice++;
		s->twice_ms |= 1ULL << (hit_time(h) / MS % 64);
	}
}

static struct seen run(struct opened *o)
{
	struct seen seen = { 0 };

	pass_run(o->session, &o->metrics, NULL, look, NULL, &seen);
	return seen;
}

static void at(struct exp_builder *b, uint64_t ms)
{
	exp_builder_at(b, ms * MS);
	exp_builder_profile(b, PID, "main>work", MS_USER, 1);
}

static void test_only_while_recorded(void **state)
{
	const struct experiment *system = NULL, *program = NULL;
	struct exp_builder *sub;
	struct opened o;
	struct seen seen;

	sub = system_new(&o, PID);
	at(sub, 5);  /* before the program's recording began */
	at(sub, 20);
	at(sub, 35); /* it paused */
	at(sub, 50);
	open_both(&o, sub, program_new(&o, STATES_ALL));
	seen = run(&o);
	assert_int_equal(seen.n, 5);
	assert_int_equal(seen.ntwice, 2);
	assert_true(seen.twice_ms & (3ULL << 20));
	assert_true(seen.twice_ms & (3ULL << 50));
	assert_true(twice_find(o.session, &system, &program));
	assert_true(system->system_wide);
	assert_false(program->system_wide);
	fixture_free(&o);
}

static void test_another_process(void **state)
{
	struct exp_builder *sub;
	struct opened o;

	sub = system_new(&o, OTHER);
	at(sub, 20);
	open_both(&o, sub, program_new(&o, STATES_ALL));
	assert_int_equal(run(&o).ntwice, 0);
	fixture_free(&o);
}

/* A program without states off the CPU does not have the system's waits. */
static void test_waits(void **state)
{
	const struct wait_info wait = { .reason = REASON_PIPE, .length_ns = MS };

	for (int waits = 0; waits < 2; waits++) {
		struct exp_builder *sub;
		struct opened o;

		sub = system_new(&o, PID);
		at(sub, 20);
		exp_builder_wait(sub, PID, "main>read", MS_SLEEP, 1, &wait);
		open_both(&o, sub, program_new(&o, waits ? STATES_ALL : STATES_USER));
		assert_int_equal(run(&o).ntwice, 1 + waits);
		fixture_free(&o);
	}
}

static void overflow(struct exp_builder *b, int tag, uint32_t seq)
{
	const int64_t values[] = { PID, PID, 0, exp_builder_now(b), exp_builder_stack(b, "main>work"),
				   tag, 1, seq };

	expwriter_packet(exp_builder_writer(b), ER_PKT_HWC, values, NULL);
	exp_builder_sleep(b, MS);
}

/* What the program's recording did not count is only in the system's. */
static void test_counters(void **state)
{
	for (int counted = 0; counted < 2; counted++) {
		struct exp_builder *sub, *program;
		struct opened o;

		sub = system_new(&o, PID);
		expwriter_counter_profile(exp_builder_writer(sub), ER_PKT_HWC, both, 2);
		exp_builder_at(sub, 20 * MS);
		overflow(sub, 0, 0);
		overflow(sub, 1, 1);
		program = program_new(&o, STATES_ALL);
		if (counted)
			expwriter_counter_profile(exp_builder_writer(program), ER_PKT_HWC, &faults, 1);
		open_both(&o, sub, program);
		assert_int_equal(run(&o).ntwice, counted);
		fixture_free(&o);
	}
}

/*
 * The program's kernel time is kernel time in either recording: in the system's before the program's began,
 * and in the program's, which counts from then on.
 */
static void test_kernel_time(void **state)
{
	struct exp_builder *sub, *program;
	struct opened o;

	sub = system_new(&o, PID);
	exp_builder_at(sub, 5 * MS);
	exp_builder_profile(sub, PID, "main>k:read", MS_SYSTEM, 1);
	exp_builder_at(sub, 20 * MS);
	exp_builder_profile(sub, PID, "main>k:read", MS_SYSTEM, 2);
	program = program_new(&o, STATES_ALL);
	exp_builder_profile(program, 1, "main>k:read", MS_SYSTEM, 4);
	exp_builder_profile(program, 1, "main>k:fault", MS_TRAP, 8);
	open_both(&o, sub, program);
	assert_int_equal(total(&o, "kcpu"), 1 + 2 + 4 + 8);
	assert_int_equal(total(&o, "user") + total(&o, "kcpu"), total(&o, "cpu"));
	fixture_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_while_recorded),
		cmocka_unit_test(test_another_process),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_kernel_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
