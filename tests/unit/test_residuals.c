/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU time that no sample represents: when, where and in which mode it was used. */
#include "tests/unit/waits_fixture.h"

static const struct er_residual a_residual = {
	.at = { .h = { .kind = ER_KIND_RESIDUAL, .time_ns = 9000000 },
		.task = { .start_time = 1990, .tgid = PID, .tid = TID, .comm = "new" },
		.weight = 5000, .cpu = 1 },
	.ran_ns = 4000000, .ran_cpu = 2,
};

static struct seen_list *written(struct fixture *f)
{
	struct experiment *e = finish(f);
	struct seen_list *l = read_all_packets(e);

	experiment_close(e);
	return l;
}

/* A thread with samples: where and in which mode it ran last. */
static void test_with_a_sample(void **state)
{
	struct er_residual r = a_residual;
	struct seen_list *l;
	struct fixture f;

	begin(&f, FOLLOW_ALL, NULL);
	r.at.flags = ER_CLOCK_KTHREAD;
	r.at.task.tgid = TID;
	drain_take(f.drain, 1, &r, sizeof(r));
	l = written(&f);
	assert_int_equal(l->n, 1);
	assert_int_equal(l->s[0].time, r.ran_ns);
	assert_int_equal(l->s[0].cpu, 2);
	assert_int_equal(l->s[0].state, MS_KERNEL_CPU);
}

static struct seen_list *unsampled(const struct er_residual *r)
{
	struct fixture f;

	begin(&f, FOLLOW_ALL, NULL);
	drain_take(f.drain, 1, r, sizeof(*r));
	return written(&f);
}

/* Residuals are numbered together with samples, as in BPF. One that ran on another CPU has no packet of its number. */
static void test_numbers(void **state)
{
	struct er_residual r = a_residual;
	struct er_clock sample = r.at;
	struct fixture f;

	begin(&f, FOLLOW_ALL, NULL);
	sample.h.kind = ER_KIND_CLOCK;
	drain_take(f.drain, 1, &sample, sizeof(sample));
	r.at.h.seq = 1;
	r.at.flags = ER_CLOCK_UNSAMPLED;
	drain_take(f.drain, 1, &r, sizeof(r));
	r.at.h.seq = 2;
	r.ran_cpu = r.at.cpu;
	drain_take(f.drain, 1, &r, sizeof(r));
	drain_process(f.drain, true);
	assert_int_equal(drain_ring(f.drain, 1)->recorded[ER_KIND_CLOCK], 3);
	assert_int_equal(drain_ring(f.drain, 1)->recorded[ER_KIND_RESIDUAL], 0);
	assert_int_equal(drain_ring(f.drain, 1)->folded, 1);
	assert_int_equal(drain_ring(f.drain, 2)->recorded[ER_KIND_CLOCK], 0);
	experiment_close(finish(&f));
}

/* A thread without one: in both modes. */
static void test_without_a_sample(void **state)
{
	struct er_residual r = a_residual;
	struct seen_list *l;

	r.at.flags = ER_CLOCK_UNSAMPLED | ER_CLOCK_SPLIT;
	r.system_ns = 3000;
	l = unsampled(&r);
	assert_int_equal(l->n, 2);
	assert_int_equal(l->ticks[MS_USER], 2);
	assert_int_equal(l->ticks[MS_KERNEL_CPU], 3);
	assert_int_equal(l->s[0].time, r.ran_ns);
	assert_int_equal(l->s[1].cpu, 2);
	r.system_ns = 7000; /* more than all */
	l = unsampled(&r);
	assert_int_equal(l->n, 1);
	assert_int_equal(l->ticks[MS_KERNEL_CPU], 5);
	r.at.flags = ER_CLOCK_UNSAMPLED | ER_CLOCK_KTHREAD;
	l = unsampled(&r);
	assert_int_equal(l->n, 1);
	assert_int_equal(l->ticks[MS_KERNEL_CPU], 5);
}

/* The moment is within the segment, and not after the record. */
static void test_moments(void **state)
{
	struct er_residual r = a_residual;

	r.at.flags = ER_CLOCK_UNSAMPLED | ER_CLOCK_SPLIT;
	r.ran_ns = 3; /* the recording begins at 1000 */
	assert_int_equal(unsampled(&r)->s[0].time, 1000);
	r.ran_ns = r.at.h.time_ns + 1;
	assert_int_equal(unsampled(&r)->s[0].time, r.at.h.time_ns);
}

/* The kernel tells of one thread of four. The others get its shares, within one thread's time. */
static void test_guessed_modes(void **state)
{
	struct seen_list *l;
	struct fixture f;

	fixture_each_thread = true;
	begin(&f, FOLLOW_ALL, NULL);
	fixture_each_thread = false;
	for (uint32_t i = 0; i < 400; i++) {
		struct er_residual r = a_residual;

		r.at.h.seq = i;
		r.at.task.tid = TID + i;
		r.at.flags = ER_CLOCK_UNSAMPLED | (i % 4 ? 0 : ER_CLOCK_SPLIT);
		r.system_ns = i % 20 ? 5000 : 0;
		drain_take(f.drain, 1, &r, sizeof(r));
	}
	l = written(&f);
	assert_int_equal(l->ticks[MS_USER] + l->ticks[MS_KERNEL_CPU], 400 * 5);
	assert_in_range(l->ticks[MS_USER], 395, 405);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_with_a_sample),
		cmocka_unit_test(test_without_a_sample),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_moments),
		cmocka_unit_test(test_guessed_modes),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
