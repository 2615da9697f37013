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
} cases[] = {
	{ false, MS_USER, 7, 7, { 0 }, 32 },
	{ false, MS_SYSTEM, 7, 7, { 0 }, 36 },
	{ false, MS_USER, 7, 8, { 0 }, 36 },
	{ false, MS_KERNEL_CPU, 0, 8, { 0 }, 40 },
	{ true, MS_SLEEP, 7, 7, { 0 }, 56 },
	{ true, MS_SLEEP, 7, 8, { 0 }, 60 },
	{ true, MS_SLEEP, 7, 7, { .waker = 9, .waker_pid = 9, .waker_stack = 5 }, 64 },
	{ true, MS_SLEEP, 7, 7, { .waker = 9, .waker_pid = 10, .waker_stack = 5 }, 72 },
	{ true, MS_SLEEP, 7, 8, { .waker_stack = 5 }, 72 },
	{ true, MS_WAIT_CPU, 7, 7, { .holder = 9, .holder_pid = 9 }, 60 },
	{ true, MS_WAIT_CPU, 7, 7, { .holder = 9, .holder_pid = 0 }, 68 },
	{ true, MS_WAIT_CPU, 7, 7, { .holder = 9, .holder_pid = 9, .waker_stack = 6 }, 68 },
	{ true, MS_WAIT_CPU, 7, 8, { .holder = 9, .holder_pid = 10, .waker = 11, .waker_pid = 11 }, 80 },
	{ true, MS_USER_LOCK, 7, 7, { .object = 0x5000 }, 88 },
	{ true, MS_SLEEP, 7, 7, { .length_ns = 1ULL << 40, .flags = WFLAG_CONTINUED, .syscall = -1 }, 56 },
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
			.seq = 1000 + i, .wait = cases[i].wait ? &w : NULL };

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
		check_wait(s, &p, i);
	}
	assert_int_equal(i, NCASES);
	experiment_close(e);
	tempdir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_value_comes_back) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
