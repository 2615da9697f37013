/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clock packets in fewer bytes: each value comes back, whatever the kind that had room for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/experiment.h"
#include "analysis/experiment/mstate.h"
#include "tests/fixtures/exp_builder.h"
#include "tests/fixtures/tempdir.h"

static const struct wait_info sleeps = { .reason = REASON_PIPE, .syscall = 0, .flags = WFLAG_TRACED,
					 .length_ns = 3000 };

/* A change of `sleeps`, the ids of the packet, and the bytes that it takes. */
static const struct {
	bool wait;
	enum er_mstate state;
	int32_t lwp, thread;
	struct wait_info info;
	uint32_t size;
	uint64_t goroutine;
} cases[] = {
	{ false, MS_USER, 7, 7, { 0 }, 32, 0 },
	{ false, MS_SYSTEM, 7, 7, { 0 }, 36, 0 },
	{ false, MS_USER, 7, 8, { 0 }, 36, 0 },
	{ false, MS_KERNEL_CPU, 0, 8, { 0 }, 40, 0 },
	{ true, MS_SLEEP, 7, 7, { 0 }, 56, 0 },
	{ true, MS_SLEEP, 7, 8, { 0 }, 60, 0 },
	{ true, MS_SLEEP, 7, 7, { .waker = 9, .waker_pid = 9, .waker_stack = 5 }, 64, 0 },
	{ true, MS_SLEEP, 7, 7, { .waker = 9, .waker_pid = 10, .waker_stack = 5 }, 72, 0 },
	{ true, MS_SLEEP, 7, 8, { .waker_stack = 5 }, 72, 0 },
	{ true, MS_WAIT_CPU, 7, 7, { .holder = 9, .holder_pid = 9 }, 60, 0 },
	{ true, MS_WAIT_CPU, 7, 7, { .holder = 9, .holder_pid = 0 }, 68, 0 },
	{ true, MS_WAIT_CPU, 7, 7, { .holder = 9, .holder_pid = 9, .waker_stack = 6 }, 68, 0 },
	{ true, MS_WAIT_CPU, 7, 8, { .holder = 9, .holder_pid = 10, .waker = 11, .waker_pid = 11 }, 80, 0 },
	{ true, MS_USER_LOCK, 7, 7, { .object = 0x5000 }, 88, 0 },
	{ true, MS_SLEEP, 7, 7, { .length_ns = 1ULL << 40, .flags = WFLAG_CONTINUED, .syscall = -1 }, 56, 0 },
	{ false, MS_USER, 7, 8, { 0 }, 44, 17 },
	{ false, MS_USER, 7, 7, { 0 }, 44, 1ULL << 63 | 1 },
	{ false, MS_SYSTEM, 7, 8, { 0 }, 48, 1ULL << 32 },
	{ true, MS_SLEEP, 7, 7, { 0 }, 96, 18 },
	{ true, MS_USER_LOCK, 7, 8, { .holder = 9, .holder_pid = 10, .waker = 11, .waker_pid = 12, .waker_stack = 6,
				      .object = 0x5000 }, 96, 1ULL << 40 | 19 },
};

enum { NCASES = sizeof(cases) / sizeof(cases[0]) };

static struct wait_info info_of(size_t i)
{
	struct wait_info w = cases[i].info;

	w.reason = sleeps.reason;
	w.flags = w.flags ? w.flags : sleeps.flags;
	w.length_ns = w.length_ns ? w.length_ns : sleeps.length_ns;
	return w;
}

static void write_cases(const char *dir)
{
	struct exp_builder *b = exp_builder_new(dir, "t.1.er");
	uint32_t stack = exp_builder_stack(b, "main>work");

	for (size_t i = 0; i < NCASES; i++) {
		struct wait_info w = info_of(i);
		struct clock_packet p = {
			.lwp = cases[i].lwp, .thread = cases[i].thread, .cpu = i, .stack = stack,
			.time_ns = exp_builder_now(b) + i, .state = cases[i].state, .nticks = 100 + i,
			.seq = 1000 + i, .wait = cases[i].wait ? &w : NULL, .goroutine = cases[i].goroutine };

		expwriter_clock(exp_builder_writer(b), &p);
	}
	exp_builder_close(b);
}

static int64_t value(const struct exp_stream *s, const struct packet *p, const char *name)
{
	struct field_ref f = stream_field(s, name);

	assert_true(f.offset);
	return packet_int(p, f);
}

static void check_wait(const struct exp_stream *s, const struct packet *p, size_t i)
{
	struct wait_info none = { .syscall = -1 }, w = cases[i].wait ? info_of(i) : none;

	assert_int_equal(value(s, p, "REASON"), w.reason);
	assert_int_equal(value(s, p, "SYSCALL"), w.syscall + 1);
	assert_int_equal(value(s, p, "WFLAGS"), w.flags);
	assert_int_equal(value(s, p, "WLEN"), w.length_ns);
	assert_int_equal(value(s, p, "WAKER"), w.waker);
	assert_int_equal(value(s, p, "WAKERPID"), w.waker_pid);
	assert_int_equal(value(s, p, "WAKERSTACK"), w.waker_stack);
	assert_int_equal(value(s, p, "HOLDER"), w.holder);
	assert_int_equal(value(s, p, "HOLDERPID"), w.holder_pid);
	assert_int_equal(value(s, p, "WOBJ"), w.object);
}

static void each_value_comes_back(void **state)
{
	char *dir = tempdir_new();
	__cleanup(freep) char *path = xasprintf("%s/t.1.er", dir);
	struct packet_iter it;
	struct experiment *e;
	struct packet p;
	size_t i = 0;

	write_cases(dir);
	e = experiment_open(path, NULL);
	assert_int_equal(e->diag.nmsgs, 0);
	for (packet_iter_init(&it, e, &e->streams.data[0]); packet_next(&it, &p); i++) {
		const struct exp_stream *s = it.stream;

		assert_true(i < NCASES);
		assert_int_equal(p.size, cases[i].size);
		assert_int_equal(value(s, &p, "LWPID"), cases[i].lwp);
		assert_int_equal(value(s, &p, "THRID"), cases[i].thread);
		assert_int_equal(value(s, &p, "CPUID"), i);
		assert_int_equal(value(s, &p, "MSTATE"), cases[i].state);
		assert_int_equal(value(s, &p, "NTICK"), 100 + i);
		assert_int_equal(value(s, &p, "SEQ"), 1000 + i);
		assert_int_equal(value(s, &p, "GOID"), cases[i].goroutine);
		check_wait(s, &p, i);
	}
	assert_int_equal(i, NCASES);
	experiment_close(e);
	tempdir_remove(dir);
}

/* An experiment without waits has the goroutines of its samples, and no fields of waits. */
static void samples_alone_have_goroutines(void **state)
{
	char *dir = tempdir_new();
	__cleanup(freep) char *path = xasprintf("%s/t.1.er", dir);
	struct exp_builder *b = exp_builder_new_states(dir, "t.1.er", STATES_USER);
	uint32_t stack = exp_builder_stack(b, "main>work");
	struct packet_iter it;
	struct experiment *e;
	struct packet p;

	for (uint64_t i = 0; i < 3; i++)
		expwriter_clock(exp_builder_writer(b), &(struct clock_packet){
			.lwp = 7, .thread = 8, .stack = stack, .time_ns = exp_builder_now(b), .nticks = 1,
			.state = i == 2 ? MS_SYSTEM : MS_USER, .goroutine = i * 20 });
	exp_builder_close(b);
	e = experiment_open(path, NULL);
	assert_int_equal(e->diag.nmsgs, 0);
	packet_iter_init(&it, e, &e->streams.data[0]);
	assert_int_equal(stream_field(it.stream, "REASON").offset, 0);
	for (uint64_t i = 0; i < 3; i++) {
		assert_true(packet_next(&it, &p));
		assert_int_equal(value(it.stream, &p, "GOID"), i * 20);
	}
	assert_false(packet_next(&it, &p));
	experiment_close(e);
	tempdir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_value_comes_back),
		cmocka_unit_test(samples_alone_have_goroutines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
