/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that are renamed. Each packet has the name of its thread at that time. */
#include "analysis/experiment/exp_packets.h"
#include "analysis/model/names.h"
#include "analysis/model/session.h"
#include "tests/unit/drain_fixture.h"
#include "user/record/processes.h"
#include "user/record/thread_names.h"

enum { MAX_GIVEN = 40000 };

/* The given names, by the weight of the packet in microseconds. */
static char given[MAX_GIVEN][16];
static unsigned ngiven;

static void give(struct fixture *f, uint32_t tid, uint64_t time_ns, const char *comm)
{
	struct er_clock c = { .h = { .kind = ER_KIND_CLOCK, .time_ns = time_ns },
			      .task = { .start_time = 1990, .tgid = PID, .tid = tid },
			      .flags = ER_CLOCK_UNSAMPLED };

	snprintf(given[++ngiven], sizeof(given[0]), "%s", comm);
	snprintf(c.task.comm, sizeof(c.task.comm), "%s", comm);
	c.weight = ngiven * 1000ULL;
	drain_take(f->drain, 0, &c, sizeof(c));
}

static void give_renaming(struct fixture *f, uint32_t tid, uint64_t time_ns, unsigned run)
{
	char comm[16];

	snprintf(comm, sizeof(comm), "name%u", run);
	give(f, tid, time_ns, comm);
}

/* The number of packets with another name than the given one. All packets must be present. */
static unsigned count_wrong(const struct experiment *e, const struct names *n)
{
	const struct exp_stream *s = &e->streams.data[0];
	unsigned wrong = 0, seen = 0;
	struct packet_iter it;
	struct packet p;

	packet_iter_init(&it, e, s);
	while (packet_next(&it, &p)) {
		int64_t i = packet_int(&p, stream_field(s, "NTICK"));
		int64_t time = packet_int(&p, stream_field(s, "TSTAMP")) - e->start_ns;
		const char *name = names_thread_at(n, e, packet_int(&p, stream_field(s, "THRID")),
						   time);

		assert_in_range(i, 1, ngiven);
		wrong += !name || strcmp(name, given[i]);
		seen++;
	}
	assert_int_equal(seen, ngiven);
	return wrong;
}

static void assert_named(struct fixture *f, size_t at_most_lines)
{
	struct diag d = { 0 };
	struct session *s = session_new(&d);
	char path[64];
	size_t nlines;

	experiment_close(finish(f));
	snprintf(path, sizeof(path), "%s/t.er", dir);
	assert_int_equal(session_add(s, path), 0);
	assert_int_equal(count_wrong(s->experiments.data[0], session_names(s)), 0);
	nlines = s->experiments.data[0]->names.len;
	assert_in_range(nlines, 1, at_most_lines);
	session_free(s);
	diag_free(&d);
	ngiven = 0;
}

/*
 * The fork of a shell executes a program: one line for each name, however many packets there are.
 */
static void test_exec(void **state)
{
	struct fixture f;

	begin(&f, FOLLOW_OFF, NULL);
	for (unsigned i = 0; i < 50; i++)
		give(&f, TID, 4000 + i, "sh");
	drain_process(f.drain, false);
	for (unsigned i = 0; i < 50; i++)
		give(&f, TID, 5000 + i, "cc1");
	assert_named(&f, 2);
}

/*
 * The rings of two CPUs are emptied one after the other, so events on the second CPU come late. The
 * thread moves between the CPUs and is renamed back and forth.
 */
static void test_two_cpus(void **state)
{
	enum { BATCHES = 300, PER_BATCH = 40 };
	struct fixture f;

	srand(1);
	begin(&f, FOLLOW_OFF, NULL);
	for (unsigned batch = 0; batch < BATCHES; batch++) {
		unsigned change = rand() % 13, back = 13 + rand() % 13, other = 26 + rand() % 14;
		bool on_second[PER_BATCH];

		for (unsigned i = 0; i < PER_BATCH; i++)
			on_second[i] = rand() % 2;
		for (unsigned cpu = 0; cpu < 2; cpu++) {
			for (unsigned i = 0; i < PER_BATCH; i++) {
				unsigned at = batch * PER_BATCH + i;

				if (on_second[i] == cpu)
					give_renaming(&f, TID, 4000 + at,
						      i >= other ? 2 : i >= change && i < back);
			}
		}
		drain_process(f.drain, false);
	}
	assert_named(&f, BATCHES * PER_BATCH);
}

/* More threads than can be kept: forgotten names are written again. */
static void test_many_threads(void **state)
{
	enum { THREADS = 36000 };
	struct fixture f;

	begin(&f, FOLLOW_OFF, NULL);
	for (unsigned i = 0; i < THREADS; i++)
		give_renaming(&f, TID + i, 4000 + i, i);
	for (unsigned i = 0; i < 100; i++)
		give_renaming(&f, TID + i, 90000 + i, i);
	assert_named(&f, THREADS + 100);
}

/* Another process reuses the number of a thread that ended. It has a line of its own. */
static void test_number_comes_again(void **state)
{
	struct er_clock c = { .h = { .kind = ER_KIND_CLOCK, .time_ns = 5000 }, .weight = 1000,
			      .task = { .start_time = 4500, .tgid = PID + 7, .tid = TID, .comm = "sh" },
			      .flags = ER_CLOCK_UNSAMPLED };
	struct experiment *e;
	struct fixture f;

	begin(&f, FOLLOW_OFF, NULL);
	give(&f, TID, 4000, "sh");
	drain_take(f.drain, 0, &c, sizeof(c));
	e = finish(&f);
	assert_int_equal(e->names.len, 2);
	assert_int_equal(e->names.data[0].pid, PID);
	assert_int_equal(e->names.data[1].pid, PID + 7);
	experiment_close(e);
	ngiven = 0;
}

/*
 * The PID is another process's of the same name, so only the start tells them apart. A record of
 * the first one comes late.
 */
static void test_same_name_comes_again(void **state)
{
	static const struct {
		uint64_t start, time;
	} given_at[] = { { 1990, 4000 }, { 4500000, 5000 }, { 1990, 4001 }, { 4500000, 5001 } };
	struct experiment *e;
	struct fixture f;

	begin(&f, FOLLOW_OFF, NULL);
	for (size_t i = 0; i < sizeof(given_at) / sizeof(given_at[0]); i++) {
		struct er_clock c = { .h = { .kind = ER_KIND_CLOCK, .time_ns = given_at[i].time },
				      .weight = 1000, .flags = ER_CLOCK_UNSAMPLED,
				      .task = { .start_time = given_at[i].start, .tgid = PID,
						.tid = TID, .comm = "sh" } };

		drain_take(f.drain, 0, &c, sizeof(c));
	}
	e = finish(&f);
	assert_int_equal(e->names.len, 2);
	assert_int_equal(e->names.data[0].start, 1);
	assert_int_equal(e->names.data[1].start, 5);
	experiment_close(e);
}

/* Numbers with fewer digits take less room: whole milliseconds, where nothing came before. */
static void test_lines_are_short(void **state)
{
	struct experiment *e;
	struct fixture f;

	assert_int_equal(process_start(0), 0);
	assert_int_equal(process_start(1), 1);
	assert_int_equal(process_start(1000000), 1);
	assert_int_equal(process_start(1000001), 2);
	begin(&f, FOLLOW_OFF, NULL);
	give(&f, TID, 7654321, "sh");
	give(&f, TID, 7655321, "cc1");
	give(&f, TID + 1, 500, "early");
	e = finish(&f);
	assert_int_equal(e->names.len, 3);
	assert_int_equal(e->names.data[0].at_ns, 7000000);
	assert_int_equal(e->names.data[1].at_ns, 7654321);
	assert_int_equal(e->names.data[2].at_ns, 0);
	experiment_close(e);
	ngiven = 0;
}

/* A sample with a stack, for which its process gets an experiment and a line. */
static void give_sample(struct fixture *f, uint32_t tid, uint64_t time_ns, const char *comm)
{
	struct er_clock c = { .h = { .kind = ER_KIND_CLOCK, .time_ns = time_ns }, .stack = 77,
			      .task = { .start_time = 1990, .tgid = PID, .tid = tid },
			      .weight = 1000 };

	snprintf(c.task.comm, sizeof(c.task.comm), "%s", comm);
	drain_take(f->drain, 0, &c, sizeof(c));
}

/*
 * The line of a process names its main thread, until the thread is renamed. Another thread and the
 * new name have lines of names.xml.
 */
static void test_process_names_its_thread(void **state)
{
	static const int64_t at[] = { 0, 4000, 1100, 5000 };
	static const char *const names[] = { "prog", "renamed", "prog", "next" };
	struct experiment *e;
	struct fixture f;

	begin(&f, FOLLOW_ALL, NULL);
	give_stack(&f, 77, 1, 1, 0);
	give_sample(&f, PID, 4000, "prog");
	give_sample(&f, PID, 4001, "prog");
	give_sample(&f, TID, 4002, "prog");
	give_sample(&f, PID, 5000, "renamed");
	tell(&f, PROC_EXEC, 6000, "next");
	give_sample(&f, PID, 7000, "next");
	tell(&f, PROC_EXIT, 8000, NULL); /* so that nobody waits for its command line */
	e = finish(&f);
	assert_int_equal(e->processes.len, 2);
	assert_int_equal(e->names.len, 4);
	for (unsigned i = 0; i < 4; i++) {
		assert_string_equal(e->names.data[i].comm, names[i]);
		assert_int_equal(e->names.data[i].at_ns, at[i]);
		assert_int_equal(e->names.data[i].start, 1);
		assert_int_equal(e->names.data[i].tid, i ? PID : TID);
	}
	experiment_close(e);
	ngiven = 0;
}

/* A process's line must not rename packets that are written. */
static void test_process_does_not_rename(void **state)
{
	const struct er_task task = { .start_time = 1990, .tgid = PID, .tid = PID };
	struct thread_names *n;
	struct fixture f;

	begin(&f, FOLLOW_OFF, NULL);
	n = thread_names_new(f.recording);
	thread_names_note(n, &task, "sh", false, 4000);
	assert_false(thread_names_process(n, PID, 1990, "sh", 2000));
	assert_false(thread_names_process(n, PID, 1990, "cc1", 2000));
	assert_false(thread_names_process(n, PID, 1990, "cc1", 4000));
	assert_true(thread_names_process(n, PID, 1990, "cc1", 4001));
	assert_false(thread_names_process(n, PID, 1990, "cc1", 4002));
	assert_true(thread_names_process(n, PID + 9, 1990, "sh", 2000));
	thread_names_free(n);
	experiment_close(finish(&f));
}

/* Idle CPUs share a thread number, and each has a name of its own. They have one line. */
static void test_idle_is_one(void **state)
{
	struct experiment *e;
	struct fixture f;

	begin(&f, FOLLOW_OFF, NULL);
	for (unsigned i = 0; i < 10; i++) {
		struct er_clock c = { .h = { .kind = ER_KIND_CLOCK, .time_ns = 4000 + i },
				      .flags = ER_CLOCK_IDLE };

		snprintf(c.task.comm, sizeof(c.task.comm), "swapper/%u", i % 2);
		drain_take(f.drain, i % 2, &c, sizeof(c));
	}
	e = finish(&f);
	assert_int_equal(e->names.len, 1);
	assert_string_equal(e->names.data[0].comm, "swapper");
	experiment_close(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_two_cpus),
		cmocka_unit_test(test_many_threads),
		cmocka_unit_test(test_number_comes_again),
		cmocka_unit_test(test_same_name_comes_again),
		cmocka_unit_test(test_lines_are_short),
		cmocka_unit_test(test_process_names_its_thread),
		cmocka_unit_test(test_process_does_not_rename),
		cmocka_unit_test(test_idle_is_one),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
