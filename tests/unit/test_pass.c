/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a hit that describe time off a CPU and the waking thread. */
#include "analysis/metrics/hit.h"
#include "analysis/metrics/pass.h"
#include "tests/unit/session_fixture.h"

enum { MS = 1000000, SYS_FUTEX = 202 };

struct seen {
	size_t n, nwaits;
	struct {
		int64_t pid, thread, state, weight, reason, syscall, length, holder, holder_pid, waker,
			waker_pid;
		uint64_t object;
		uint32_t flags;
		const char *waker_leaf;
	} hits[8];
};

static const char *leaf_name(const struct session *s, uint32_t stack)
{
	const struct stack *st = &s->stacks.data[stack];

	return frame_func(s, s->stack_frames.data[st->first])->name;
}

static void look(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct seen *s = ctx;
	size_t i = s->n++;

	assert_true(i < 8);
	s->nwaits += hit_is_wait(h);
	s->hits[i].pid = hit_pid(h);
	s->hits[i].thread = hit_thread(h);
	s->hits[i].state = hit_state(h);
	s->hits[i].weight = hit_weight(h);
	s->hits[i].reason = hit_reason(h);
	s->hits[i].syscall = hit_syscall(h);
	s->hits[i].length = hit_wait_length(h);
	s->hits[i].holder = hit_holder(h);
	s->hits[i].holder_pid = hit_holder_pid(h);
	s->hits[i].waker = hit_waker(h);
	s->hits[i].waker_pid = hit_waker_pid(h);
	s->hits[i].object = hit_wait_object(h);
	s->hits[i].flags = hit_wait_flags(h);
	s->hits[i].waker_leaf = leaf_name(h->session, hit_waker_stack(h));
}

static void run(struct opened *o, struct seen *seen)
{
	*seen = (struct seen){ 0 };
	pass_run(o->session, &o->metrics, NULL, look, NULL, seen);
}

static void test_wait(void **state)
{
	struct exp_builder *waiter, *waker;
	struct wait_info wait = { .reason = REASON_USER_LOCK, .syscall = SYS_FUTEX,
				  .flags = WFLAG_TRACED, .length_ns = 7 * MS, .object = 0xffffffff12345678,
				  .holder = 21, .holder_pid = 20, .waker = 22, .waker_pid = 20 };
	struct seen seen;
	struct opened o;

	fixture_new(&o);
	waiter = exp_builder_sub(o.builder, "_a_PID_12.1.er", "/bin/a", 12);
	waker = exp_builder_sub(o.builder, "_b_PID_20.1.er", "/bin/b", 20);
	exp_builder_profile(waker, 22, "main>other", MS_USER, 1);
	wait.waker_stack = exp_builder_stack(waker, "main>unlock");
	exp_builder_wait(waiter, 13, "main>lock", MS_USER_LOCK, 10, &wait);
	exp_builder_close(waiter);
	exp_builder_close(waker);
	fixture_open(&o);
	run(&o, &seen);
	assert_int_equal(seen.n, 2);
	assert_int_equal(seen.nwaits, 1);
	assert_int_equal(seen.hits[0].pid, 12);
	assert_int_equal(seen.hits[0].thread, 13);
	assert_int_equal(seen.hits[0].state, MS_USER_LOCK);
	assert_int_equal(seen.hits[0].weight, 10 * MS);
	assert_int_equal(seen.hits[0].length, 7 * MS);
	assert_int_equal(seen.hits[0].reason, REASON_USER_LOCK);
	assert_int_equal(seen.hits[0].syscall, SYS_FUTEX);
	assert_int_equal(seen.hits[0].flags, WFLAG_TRACED);
	assert_true(seen.hits[0].object == 0xffffffff12345678);
	assert_int_equal(seen.hits[0].holder, 21);
	assert_int_equal(seen.hits[0].holder_pid, 20);
	assert_int_equal(seen.hits[0].waker, 22);
	assert_int_equal(seen.hits[0].waker_pid, 20);
	assert_string_equal(seen.hits[0].waker_leaf, "unlock");
	fixture_free(&o);
}

/* A packet of time on a CPU ends before these fields: they are unknown. */
static void test_none(void **state)
{
	struct seen seen;
	struct opened o;

	fixture_new(&o);
	exp_builder_profile(o.builder, 1, "main", MS_USER, 1);
	exp_builder_wait(o.builder, 1, "main", MS_SLEEP, 2, NULL);
	fixture_open(&o);
	run(&o, &seen);
	assert_int_equal(seen.n, 2);
	assert_int_equal(seen.nwaits, 1);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(seen.hits[i].reason, REASON_NONE);
		assert_int_equal(seen.hits[i].syscall, -1);
		assert_int_equal(seen.hits[i].length, 0);
		assert_int_equal(seen.hits[i].waker, 0);
		assert_string_equal(seen.hits[i].waker_leaf, "<Unknown>");
	}
	fixture_free(&o);
}

/*
 * In the part for processes that are not followed, packets name their process, and a
 * stack of such a process is found there.
 */
static void test_others(void **state)
{
	struct exp_builder *others;
	struct wait_info wait = { .reason = REASON_PIPE, .syscall = 0, .length_ns = MS, .waker = 31,
				  .waker_pid = 30 };
	struct seen seen;
	struct opened o;

	fixture_new_kernel(&o);
	others = exp_builder_sub_states(o.builder, "_others_PID_0.1.er", "others", 0, STATES_ALL);
	wait.waker_stack = exp_builder_stack(others, "k:pipe_write");
	exp_builder_wait_of(others, 40, 41, "k:pipe_read", MS_SLEEP, 1, &wait);
	exp_builder_wait_of(others, 0, 5, "k:worker", MS_SLEEP, 1, &wait);
	exp_builder_close(others);
	fixture_open(&o);
	run(&o, &seen);
	assert_int_equal(seen.n, 2);
	assert_int_equal(seen.hits[0].pid, 40);
	assert_int_equal(seen.hits[0].thread, 41);
	assert_int_equal(seen.hits[0].syscall, 0);
	assert_string_equal(seen.hits[0].waker_leaf, "vmlinux`pipe_write");
	assert_int_equal(seen.hits[1].pid, 0);
	fixture_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wait),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
