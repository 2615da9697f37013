/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The unsampled time of folded threads: few packets, and the same time as with a packet for each. */
#include "tests/unit/waits_fixture.h"
#include "user/record/folds.h"

enum { N = 500, US = 1000 };

/* What a recording of N threads has; times in microseconds. */
struct result {
	struct seen_list waits, cpu;
	int64_t nfolded; /* by recorder.xml: records without a packet of their own */
	int64_t sums;    /* the number that the fold says it has */
	int64_t comm_is_known;
};

static struct er_total total_of(unsigned i, pid_t pid)
{
	uint64_t begin = 5000 + i * 1000000ULL;
	struct er_total t = {
		.h = { .kind = ER_KIND_TOTAL, .seq = i }, .cpu = 1,
		.task = { .start_time = pid == PID + (pid_t)i ? 1990 + i : 1990, .tgid = pid, .tid = PID + i, .comm = "cc1" },
		.flags = ER_TOTAL_BORN | ER_TOTAL_ENDED, .begin_ns = begin, .run_ns = 2 * US,
	};

	t.off_ns[ER_OFF_SLEEP] = t.rest_ns[ER_OFF_SLEEP] = (i + 1) * US;
	t.off_ns[ER_OFF_CPU] = t.rest_ns[ER_OFF_CPU] = 7 * US;
	t.stolen_ns = 3 * US;
	t.h.time_ns = t.end_ns = begin + t.run_ns + t.off_ns[ER_OFF_SLEEP] + 7 * US;
	return t;
}

/* The CPUs on which the threads ran in turn; 0: CPU 1. */
static unsigned residual_cpus;

static void give_thread(struct fixture *f, unsigned i, pid_t pid)
{
	struct er_total t = total_of(i, pid);
	struct er_residual residual = {
		.at = { .h = { .kind = ER_KIND_RESIDUAL, .seq = i, .time_ns = t.h.time_ns }, .task = t.task,
			.cpu = 1, .weight = 2 * US, .flags = ER_CLOCK_UNSAMPLED },
		.ran_ns = t.h.time_ns, .ran_cpu = residual_cpus ? i % residual_cpus : 1,
	};

	drain_take(f->drain, 1, &t, sizeof(t));
	drain_take(f->drain, 1, &residual, sizeof(residual));
}

/* Each thread is a process of its own, or all belong to the process `pid`. */
static struct result record(bool each_thread, pid_t pid)
{
	struct experiment *e, *others;
	struct result ret = { 0 };
	struct fixture f;

	fixture_each_thread = each_thread;
	begin(&f, FOLLOW_ALL, NULL);
	fixture_each_thread = false;
	for (unsigned i = 0; i < N; i++)
		give_thread(&f, i, pid ? pid : PID + (pid_t)i);
	drain_process(f.drain, true);
	ret.nfolded = drain_ring(f.drain, 1)->folded;
	e = finish(&f);
	others = open_sub(e, "_others_PID_0.1.er");
	ret.waits = *read_all_packets(others);
	ret.cpu = *read_all_packets(e);
	ret.sums = e->fold_numbers.len == 1 ? e->fold_numbers.data[0].tid : 0;
	vec_for_each(name, &e->names)
		ret.comm_is_known |= name->tid == FOLDS_FIRST && !strcmp(name->comm, "cc1");
	experiment_close(others);
	experiment_close(e);
	return ret;
}

static void test_times_are_equal(void **state)
{
	struct result each = record(true, 0), sums = record(false, 0);

	assert_int_equal(each.waits.n, 3 * N);
	assert_int_equal(each.cpu.n, N);
	assert_int_equal(each.nfolded, 0);
	assert_int_equal(sums.waits.n, 3 * (FOLDS_KEEP + 1));
	assert_int_equal(sums.cpu.n, FOLDS_KEEP + 1);
	assert_int_equal(sums.nfolded + (int64_t)sums.cpu.n, N);
	assert_memory_equal(each.waits.ticks, sums.waits.ticks, sizeof(each.waits.ticks));
	assert_memory_equal(each.cpu.ticks, sums.cpu.ticks, sizeof(each.cpu.ticks));
	assert_int_equal(each.waits.ticks[MS_SLEEP], N * (N + 1) / 2);
	assert_int_equal(each.waits.ticks[MS_WAIT_CPU], 7 * N);
}

/* Threads on different CPUs have a sum for each, so that each CPU has its time. */
static void test_sums_by_cpu(void **state)
{
	struct result r;

	residual_cpus = 3;
	r = record(false, 0);
	residual_cpus = 0;
	assert_int_equal(r.cpu.n, FOLDS_KEEP + 3);
	for (unsigned i = 0; i < 3; i++) {
		const struct seen *s = &r.cpu.s[FOLDS_KEEP + i];
		unsigned cpu = (FOLDS_KEEP + i) % 3;

		assert_int_equal(s->cpu, cpu);
		assert_int_equal(s->ticks, 2 * ((N - 1 - cpu) / 3 - (FOLDS_KEEP + i) / 3 + 1));
	}
}

/* A sum has the number of its fold, which threads.xml and names.xml have, too. */
static void test_who_has_a_sum(void **state)
{
	struct result r = record(false, 0);
	struct seen *s = &r.waits.s[3 * FOLDS_KEEP];

	for (int i = 0; i < 3; i++) {
		assert_int_equal(s[i].thread, FOLDS_FIRST);
		assert_int_equal(s[i].lwp, FOLDS_FIRST);
		assert_int_equal(s[i].flags, WFLAG_REST);
		assert_int_equal(s[i].time, total_of(N - 1, PID).end_ns);
		assert_int_equal(s[i].length, s[i].ticks * US);
	}
	assert_int_equal(s[2].reason, REASON_STOLEN);
	assert_int_equal(r.cpu.s[FOLDS_KEEP].thread, FOLDS_FIRST);
	assert_int_equal(r.sums, FOLDS_FIRST);
	assert_true(r.comm_is_known);
}

/* Threads of one process leave their time to it. */
static void test_a_process_keeps_its_time(void **state)
{
	struct result r = record(false, PID - 1);

	assert_int_equal(r.waits.n, 3 * (FOLDS_KEEP + 1));
	for (int i = 0; i < 3; i++) {
		assert_int_equal(r.waits.s[3 * FOLDS_KEEP + i].thread, FOLDS_FIRST);
		assert_int_equal(r.waits.s[3 * FOLDS_KEEP + i].lwp, PID - 1);
	}
}

/* Threads of processes that run at the same time have a sum for each process. */
static void test_sums_by_process(void **state)
{
	struct experiment *e, *others;
	struct seen_list *l;
	struct fixture f;

	begin(&f, FOLLOW_ALL, NULL);
	for (unsigned i = 0; i < FOLDS_KEEP + 40; i++) {
		struct er_total t = total_of(i, PID - 1 - i % 2);

		t.task.start_time = 1000 + i % 2;
		drain_take(f.drain, 1, &t, sizeof(t));
	}
	e = finish(&f);
	others = open_sub(e, "_others_PID_0.1.er");
	l = read_all_packets(others);
	assert_int_equal(l->n, 3 * (FOLDS_KEEP + 2));
	assert_int_equal(l->s[3 * FOLDS_KEEP].lwp + l->s[3 * FOLDS_KEEP + 3].lwp, 2 * PID - 3);
	assert_int_equal(l->s[3 * FOLDS_KEEP].ticks + l->s[3 * FOLDS_KEEP + 3].ticks,
			 40 * FOLDS_KEEP + 40 * 41 / 2);
	experiment_close(others);
	experiment_close(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times_are_equal),
		cmocka_unit_test(test_who_has_a_sum), cmocka_unit_test(test_sums_by_cpu),
		cmocka_unit_test(test_a_process_keeps_its_time),
		cmocka_unit_test(test_sums_by_process),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
