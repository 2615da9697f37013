/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of several rings are delivered in the order of time, and not too early. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include <cmocka.h>

#include "user/space/eventqueue.h"

struct task_record {
	struct perf_event_header h;
	uint32_t pid, ppid, tid, ptid;
	uint64_t event_ns;
	uint64_t time_ns;
};

static struct task_record task(uint32_t type, uint32_t pid, uint64_t time_ns)
{
	return (struct task_record){ .h = { .type = type, .size = sizeof(struct task_record) },
				     .pid = pid, .tid = pid, .time_ns = time_ns };
}

static void add(struct eventqueue *q, uint32_t type, uint32_t pid, uint64_t time_ns)
{
	struct task_record r = task(type, pid, time_ns);

	eventqueue_add(q, (const char *)&r, sizeof(r), NULL, 0);
}

struct seen {
	size_t n;
	struct proc_event events[8];
};

static void see(void *ctx, const struct proc_event *e)
{
	struct seen *s = ctx;

	s->events[s->n++] = *e;
}

/* An exit that was read before the fork of its process must wait for it. */
static void test_later_ones_stay(void **state)
{
	struct eventqueue q = { 0 };
	struct seen seen = { 0 };

	add(&q, PERF_RECORD_EXIT, 5, 12);
	add(&q, PERF_RECORD_FORK, 4, 9);
	eventqueue_deliver(&q, 10, see, &seen);
	assert_int_equal(seen.n, 1);
	assert_int_equal(seen.events[0].pid, 4);
	add(&q, PERF_RECORD_FORK, 5, 11);
	eventqueue_deliver(&q, 12, see, &seen);
	assert_int_equal(seen.n, 3);
	assert_int_equal(seen.events[1].kind, PROC_FORK);
	assert_int_equal(seen.events[1].pid, 5);
	assert_int_equal(seen.events[2].kind, PROC_EXIT);
	eventqueue_deliver(&q, UINT64_MAX, see, &seen);
	assert_int_equal(seen.n, 3);
	eventqueue_free(&q);
}

static void test_equal_times_keep_their_order(void **state)
{
	struct eventqueue q = { 0 };
	struct seen seen = { 0 };

	for (uint32_t pid = 1; pid <= 8; pid++)
		add(&q, PERF_RECORD_FORK, pid, 7);
	eventqueue_deliver(&q, 7, see, &seen);
	assert_int_equal(seen.n, 8);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(seen.events[i].pid, i + 1);
	eventqueue_free(&q);
}

static void test_wrapped_record_is_joined(void **state)
{
	struct task_record r = task(PERF_RECORD_FORK, 0x12345678, 5);
	struct eventqueue q = { 0 };
	struct seen seen = { 0 };

	for (size_t cut = 0; cut <= sizeof(r); cut += 8)
		eventqueue_add(&q, (const char *)&r, cut, (const char *)&r + cut, sizeof(r) - cut);
	eventqueue_deliver(&q, 5, see, &seen);
	assert_int_equal(seen.n, sizeof(r) / 8 + 1);
	for (size_t i = 0; i < seen.n; i++)
		assert_int_equal(seen.events[i].pid, 0x12345678);
	eventqueue_free(&q);
}

static void test_short_and_unknown_ones_are_dropped(void **state)
{
	struct task_record r = task(4711, 1, 5);
	struct eventqueue q = { 0 };
	struct seen seen = { 0 };

	eventqueue_add(&q, "1234", 4, NULL, 0);
	eventqueue_add(&q, (const char *)&r, sizeof(r), NULL, 0);
	eventqueue_deliver(&q, UINT64_MAX, see, &seen);
	assert_int_equal(seen.n, 0);
	assert_int_equal(q.events.len, 0);
	eventqueue_free(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_later_ones_stay),
		cmocka_unit_test(test_equal_times_keep_their_order),
		cmocka_unit_test(test_wrapped_record_is_joined),
		cmocka_unit_test(test_short_and_unknown_ones_are_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
