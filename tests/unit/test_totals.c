/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TOTAL records become lines of threads.xml.gz and packets for remainders. */
#include <zlib.h>

#include "analysis/experiment/exp_map.h"
#include "tests/unit/waits_fixture.h"

static struct er_total total_of(void)
{
	struct er_total t = {
		.h = { .kind = ER_KIND_TOTAL, .time_ns = 8000000 },
		.task = { .start_time = 1990, .tgid = PID, .tid = TID, .comm = "a \"b\"" },
		.begin_ns = 2000, .end_ns = 8002000, .run_ns = 1000000, .user_ns = 900000,
		.cpu = 1, .flags = ER_TOTAL_BORN, .nwaits = 5,
	};

	t.off_ns[ER_OFF_SLEEP] = 6000999;
	t.off_ns[ER_OFF_CPU] = 999001;
	return t;
}

/* Waits and the remainder add up to the total, to the microsecond, whatever their lengths. */
static void test_rest_makes_sums_exact(void **state)
{
	struct fixture f;
	struct experiment *e, *sub;
	struct er_total t = total_of();
	struct seen_list *l;

	begin(&f, FOLLOW_ALL, NULL);
	give_stack(&f, 77, 1, 0, 0);
	for (int i = 0; i < 7; i++) {
		struct er_wait w = a_wait;

		w.blocked_weight = 500333;
		give_wait(&f, w);
	}
	t.rest_ns[ER_OFF_SLEEP] = 6000999 - 7 * 500333;
	t.rest_stack[ER_OFF_SLEEP] = 77;
	t.rest_ns[ER_OFF_CPU] = 999001;
	drain_take(f.drain, 1, &t, sizeof(t));
	e = finish(&f);
	sub = open_sub(e, "_prog_PID_5000000.1.er");
	l = read_all_packets(sub);
	assert_int_equal(l->n, 9);
	assert_int_equal(l->ticks[MS_SLEEP], 6000);
	assert_int_equal(l->ticks[MS_WAIT_CPU], 999);
	assert_int_equal(l->s[7].flags, WFLAG_REST);
	assert_int_equal(l->s[7].uid, l->s[0].uid);
	assert_int_equal(l->s[7].time, 8002000);
	assert_int_equal(l->s[8].npcs, 1);
	assert_string_equal(sub->maps.data[sub->maps.len - 1].name, "<Unsampled-Wait-CPU>");
	experiment_close(sub);
	experiment_close(e);
}

/* Stolen time is a packet of its own, separate from the remainder of waiting for a CPU. */
static void test_stolen(void **state)
{
	struct fixture f;
	struct experiment *e, *sub;
	struct er_total t = total_of();
	struct seen_list *l;

	begin_targets(&f, FOLLOW_ALL, NULL, true);
	t.rest_ns[ER_OFF_CPU] = 999001;
	t.stolen_ns = 300001;
	drain_take(f.drain, 1, &t, sizeof(t));
	t.flags |= ER_TOTAL_IRQ_APART;
	t.rest_ns[ER_OFF_CPU] = t.stolen_ns;
	drain_take(f.drain, 1, &t, sizeof(t));
	e = finish(&f);
	sub = open_sub(e, "_prog_PID_5000000.1.er");
	l = read_all_packets(sub);
	assert_int_equal(l->n, 3);
	assert_int_equal(l->ticks[MS_WAIT_CPU], 999 + 300);
	assert_int_equal(l->s[0].reason, REASON_NONE);
	assert_int_equal(l->s[0].ticks, 699);
	assert_int_equal(l->s[1].reason, REASON_STOLEN);
	assert_int_equal(l->s[2].reason, REASON_STOLEN_IRQ);
	experiment_close(sub);
	experiment_close(e);
}

/* As with a wait, the stack of a remainder may come after the total that refers to it. */
static void test_rest_waits_for_its_stack(void **state)
{
	struct fixture f;
	struct experiment *e, *sub;
	struct er_total t = total_of();
	struct seen_list *l;

	begin_targets(&f, FOLLOW_ALL, NULL, true);
	t.rest_ns[ER_OFF_SLEEP] = 6000999;
	t.rest_stack[ER_OFF_SLEEP] = 77;
	drain_take(f.drain, 1, &t, sizeof(t));
	drain_process(f.drain, false);
	give_stack(&f, 77, 2, 3, 0);
	e = finish(&f);
	sub = open_sub(e, "_prog_PID_5000000.1.er");
	l = read_all_packets(sub);
	assert_int_equal(l->n, 1);
	assert_int_equal(l->s[0].npcs, 6); /* with <SLEEPING> */
	experiment_close(sub);
	experiment_close(e);
}

static char *slurp_threads(void)
{
	static char text[4096];
	char path[64];
	gzFile f;
	int n;

	snprintf(path, sizeof(path), "%s/t.er/threads.xml.gz", dir);
	f = gzopen(path, "r");
	assert_non_null(f);
	n = gzread(f, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = 0;
	gzclose(f);
	return text;
}

static void test_threads_xml(void **state)
{
	struct fixture f;
	struct er_total t = total_of();

	begin(&f, FOLLOW_ALL, NULL);
	drain_take(f.drain, 1, &t, sizeof(t));
	t.flags = ER_TOTAL_KTHREAD | ER_TOTAL_ENDED | ER_TOTAL_SPLIT;
	t.off_n[ER_OFF_SLEEP] = 8, t.off_n[ER_OFF_CPU] = 9, t.stolen_ns = 77;
	t.nmoved = 2, t.moved_ns = 30, t.npreempted = 4, t.minflt = 3, t.majflt = 2;
	drain_take(f.drain, 1, &t, sizeof(t));
	drain_process(f.drain, true);
	assert_int_equal(recording_nsubs(f.recording), 0); /* a total makes no experiment */
	experiment_close(finish(&f));
	assert_string_equal(slurp_threads(),
		"<thread pid=\"5000000\" tid=\"5000001\" comm=\"a &quot;b&quot;\" begin=\"1000\" "
		"end=\"8001000\" run=\"1000000\" user=\"900000\" sleep=\"6000999\" wait=\"999001\" "
		"waits=\"5\" born=\"1\"/>\n"
		"<thread pid=\"0\" tid=\"5000001\" comm=\"a &quot;b&quot;\" begin=\"1000\" "
		"end=\"8001000\" run=\"1000000\" user=\"900000\" sleep=\"6000999\" nsleep=\"8\" "
		"wait=\"999001\" nwait=\"9\" stolen=\"77\" waits=\"5\" "
		"preempted=\"4\" moves=\"2\" moved=\"30\" minflt=\"3\" majflt=\"2\" ended=\"1\" split=\"1\"/>\n");
}

/*
 * A sample, a wait and the remainder of a total are dropped and counted. The total itself is kept.
 */
static void test_limit_keeps_totals(void **state)
{
	const struct er_clock sample = { .h = { .kind = ER_KIND_CLOCK, .time_ns = 4000 },
					 .task = { .start_time = 1990, .tgid = PID, .tid = TID },
					 .weight = 1000000, .flags = ER_CLOCK_USER };
	struct fixture f;
	struct experiment *e;
	struct er_total t = total_of();

	begin(&f, FOLLOW_ALL, NULL);
	recording_finish(f.recording, 9000000);
	recording_close(f.recording);
	remove_experiment();
	f.plan.limit_bytes = 1;
	const struct exp_header h = { .collector = "t", .hostname = "h", .arch = "x86_64", .os = "L",
				      .pagesize = 4096, .cwd = "/", .command = "c", .wordsize = 64,
				      .start_ns = 1000 };

	assert_int_equal(recording_open(f.dirfd, "t.er", &h, &f.plan, &f.drops, &f.diag, &f.recording), 0);
	drain_free(f.drain);
	f.drain = drain_new(&(struct drain_parts){ .recording = f.recording, .binaries = f.binaries,
						   .follow = &f.follow, .drops = &f.drops,
						   .ncpus = NCPUS });
	drain_set_procmap(f.drain, f.procmap);
	recording_flush(f.recording);
	t.rest_ns[ER_OFF_SLEEP] = 5;
	drain_take(f.drain, 1, &t, sizeof(t));
	give_wait(&f, a_wait);
	drain_take(f.drain, 1, &sample, sizeof(sample));
	drain_process(f.drain, true);
	assert_int_equal(f.drops.n[DROP_LIMIT], 3);
	assert_int_equal(drain_written(f.drain, ER_KIND_CLOCK), 0);
	e = finish(&f);
	assert_non_null(strstr(slurp_threads(), "sleep=\"6000999\""));
	experiment_close(e);
}

/* The total of a process without a packet, which ended with this status. */
static struct er_total ended(int32_t pid, uint32_t status)
{
	struct er_total t = total_of();

	t.task.tgid = t.task.tid = pid;
	t.flags |= ER_TOTAL_ENDED;
	t.exit_status = status;
	return t;
}

static struct experiment *record_end(struct er_total t, bool each_thread, const char *regexp)
{
	struct fixture f;

	fixture_each_thread = each_thread;
	begin(&f, regexp ? FOLLOW_MATCHING : FOLLOW_SHARED, regexp);
	fixture_each_thread = false;
	drain_take(f.drain, 1, &t, sizeof(t));
	drain_process(f.drain, false);
	assert_int_equal(recording_nsubs(f.recording), 0);
	return finish(&f);
}

static void check_end(struct er_total t, bool each_thread, const char *regexp, size_t nprocesses, size_t nexits)
{
	struct experiment *e = record_end(t, each_thread, regexp);

	assert_int_equal(e->processes.len, nprocesses);
	assert_int_equal(e->exits.len, nexits);
	if (nprocesses) {
		assert_int_equal(e->processes.data[0].pid, PID);
		assert_int_equal(e->processes.data[0].ppid, 1);
		assert_int_equal(e->processes.data[0].begin_ns, 1100);
		assert_string_equal(e->processes.data[0].command, "prog");
	}
	if (nexits)
		assert_int_equal(e->exits.data[0].status, t.exit_status);
	experiment_close(e);
}

/* A process that no sample met is listed if it failed, and in any case with --each-thread. */
static void test_ends_without_a_packet(void **state)
{
	struct er_total lives = ended(PID, 0), kthread = ended(PID, 256);

	check_end(ended(PID, 256), false, NULL, 1, 1);
	check_end(ended(PID, 9), false, NULL, 1, 1);
	check_end(ended(PID, 0), false, NULL, 0, 0);
	check_end(ended(PID, 0), true, NULL, 1, 1);
	check_end(ended(PID, 256), false, "prog", 1, 1);
	check_end(ended(PID, 256), true, "other", 0, 0);
	lives.flags = ER_TOTAL_BORN;
	check_end(lives, true, NULL, 1, 0);
	lives.flags = 0;
	check_end(lives, true, NULL, 0, 0);
	kthread.flags |= ER_TOTAL_KTHREAD;
	check_end(kthread, true, NULL, 0, 0);
}

/* A sample can be written after the total, and its process is listed by then. */
static void test_end_before_a_packet(void **state)
{
	struct fixture f;
	struct er_total t = ended(PID, 256);
	struct er_wait w = a_wait;
	struct experiment *e;

	begin(&f, FOLLOW_SHARED, NULL);
	drain_take(f.drain, 1, &t, sizeof(t));
	drain_process(f.drain, false);
	give_stack(&f, 77, 1, 0, 0);
	w.blocked_weight = 500000;
	give_wait(&f, w);
	e = finish(&f);
	assert_int_equal(e->exits.len, 1);
	vec_for_each(p, &e->processes)
		assert_int_equal(p->begin_ns, 1100);
	experiment_close(e);
}

enum { FAILED_MAX = 10000 };

static void test_many_fail(void **state)
{
	struct fixture f;
	struct experiment *e;

	begin(&f, FOLLOW_SHARED, NULL);
	for (int i = 0; i < FAILED_MAX + 3; i++) {
		struct er_total t = ended(PID + i, 256);

		if (i)
			procmap_apply(f.procmap, &(struct proc_event){ .kind = PROC_FORK, .time_ns = 2000,
				.pid = PID + i, .tid = PID + i, .ppid = 1 });
		drain_take(f.drain, 1, &t, sizeof(t));
	}
	drain_process(f.drain, false);
	assert_int_equal(f.drops.n[DROP_FAILED], 3);
	e = finish(&f);
	assert_int_equal(e->processes.len, FAILED_MAX);
	assert_int_equal(e->exits.len, FAILED_MAX);
	experiment_close(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rest_makes_sums_exact),
		cmocka_unit_test(test_rest_waits_for_its_stack),
		cmocka_unit_test(test_stolen),
		cmocka_unit_test(test_threads_xml),
		cmocka_unit_test(test_limit_keeps_totals),
		cmocka_unit_test(test_ends_without_a_packet),
		cmocka_unit_test(test_end_before_a_packet),
		cmocka_unit_test(test_many_fail),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
