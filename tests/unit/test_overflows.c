/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Overflows of counters become packets, which are read back with the reader. */
#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/exp_stacks.h"
#include "tests/unit/drain_fixture.h"

static void give(struct fixture *f, struct er_counter c, uint32_t tid, uint64_t stack, uint64_t weight,
		 uint32_t flags)
{
	c.at.h.seq = f->seq++;
	c.at.h.time_ns = 4000;
	c.at.task = (struct er_task){ .start_time = 1990, .tid = tid, .comm = "prog",
				      .tgid = flags & ER_CLOCK_KTHREAD ? tid : PID };
	c.at.stack = stack;
	c.at.weight = weight;
	c.at.cpu = 1;
	c.at.flags = flags;
	drain_take(f->drain, 1, &c, sizeof(c));
}

static void give_overflow(struct fixture *f, uint32_t counter, uint32_t tid, uint64_t stack,
			  uint64_t weight, uint32_t flags)
{
	give(f, (struct er_counter){ .at.h.kind = ER_KIND_COUNTER, .counter = counter }, tid, stack, weight, flags);
}

static void give_fault(struct fixture *f, uint32_t counter, uint64_t stack, uint64_t address)
{
	give(f, (struct er_counter){ .at.h.kind = ER_KIND_DATA, .counter = counter, .address = address,
				     .pc = 0x401010 }, TID, stack, 1, ER_CLOCK_USER);
}

static const struct exp_stream *counters_of(const struct experiment *e)
{
	vec_for_each(s, &e->streams) {
		if (s->kind == ER_PKT_HWC)
			return s;
	}
	return NULL;
}

struct sums {
	size_t n;
	int64_t weight[COUNTER_MODES * ER_MAX_COUNTERS], lwp, thread, cpu, seq;
	uint64_t leaf;
	size_t npcs;
};

/* Sums for each tag, and the last packet in full. */
static struct sums read_overflows(struct experiment *e)
{
	const struct exp_stream *s = counters_of(e);
	struct sums ret = { 0 };
	struct packet_iter it;
	struct packet p;

	assert_non_null(s);
	packet_iter_init(&it, e, s);
	while (packet_next(&it, &p)) {
		int64_t i = experiment_stack(e, packet_int(&p, stream_field(s, "FRINFO")));

		ret.n++;
		ret.weight[packet_int(&p, stream_field(s, "HWCTAG"))] +=
			packet_int(&p, stream_field(s, "HWCINT"));
		ret.lwp = packet_int(&p, stream_field(s, "LWPID"));
		ret.thread = packet_int(&p, stream_field(s, "THRID"));
		ret.cpu = packet_int(&p, stream_field(s, "CPUID"));
		ret.seq = packet_int(&p, stream_field(s, "SEQ"));
		assert_true(i >= 0);
		ret.npcs = e->stacks.data[i].npcs;
		ret.leaf = experiment_pc(e, &e->stacks.data[i], 0);
	}
	return ret;
}

static void test_modes_are_metrics(void **state)
{
	struct fixture f;
	struct experiment *e, *sub;
	struct sums n;

	fixture_counters = "cycles,20000,page-faults,1";
	begin(&f, FOLLOW_ALL, NULL);
	give_stack(&f, 77, 2, 2, 0);
	give_stack(&f, 78, 0, 2, ER_STACK_USER_EXACT);
	give_overflow(&f, 0, TID, 77, 20000, 0);
	give_overflow(&f, 0, TID, 78, 20000, ER_CLOCK_USER);
	give_overflow(&f, 0, TID, 78, 20000, ER_CLOCK_USER);
	give_overflow(&f, 1, TID, 78, 1, ER_CLOCK_USER);
	drain_process(f.drain, false);
	assert_int_equal(drain_written(f.drain, ER_KIND_COUNTER), 4);
	assert_int_equal(drain_ring(f.drain, 1)->recorded[ER_KIND_COUNTER], 4);
	e = finish(&f);
	assert_int_equal(read_overflows(e).n, 0);
	sub = open_sub(e, "_prog_PID_5000000.1.er");
	n = read_overflows(sub);
	assert_int_equal(n.weight[counter_tag(0, COUNTER_USER)], 40000);
	assert_int_equal(n.weight[counter_tag(0, COUNTER_KERNEL)], 20000);
	assert_int_equal(n.weight[counter_tag(1, COUNTER_USER)], 1);
	assert_int_equal(n.lwp, TID);
	assert_int_equal(n.thread, TID);
	assert_int_equal(n.cpu, 1);
	assert_int_equal(n.seq, 3);
	assert_true(n.leaf == 0x401010); /* the leaf is exact */
	experiment_close(sub);
	experiment_close(e);
}

/* Both kinds of packets are numbered and counted together. */
static void test_addresses_of_data(void **state)
{
	struct fixture f;
	struct experiment *e, *sub;

	fixture_counters = "cycles,20000,+page-faults,1";
	begin(&f, FOLLOW_ALL, NULL);
	give_stack(&f, 78, 0, 2, ER_STACK_USER_EXACT);
	give_overflow(&f, 0, TID, 78, 20000, ER_CLOCK_USER);
	give_fault(&f, 1, 78, 0x7f0000001234);
	drain_process(f.drain, false);
	assert_int_equal(drain_written(f.drain, ER_KIND_COUNTER), 2);
	assert_int_equal(drain_ring(f.drain, 1)->recorded[ER_KIND_COUNTER], 2);
	e = finish(&f);
	sub = open_sub(e, "_prog_PID_5000000.1.er");
	assert_int_equal(read_overflows(sub).n, 1);
	assert_int_equal(sub->streams.len, 3); /* and the clock */
	vec_for_each(s, &sub->streams) {
		struct packet_iter it;
		struct packet p;

		if (s->kind != ER_PKT_MHWC)
			continue;
		packet_iter_init(&it, sub, s);
		assert_true(packet_next(&it, &p));
		assert_int_equal(packet_int(&p, stream_field(s, "HWCTAG")), counter_tag(1, COUNTER_USER));
		assert_int_equal(packet_int(&p, stream_field(s, "HWCINT")), 1);
		assert_int_equal(packet_int(&p, stream_field(s, "VADDR")), 0x7f0000001234);
		assert_int_equal(packet_int(&p, stream_field(s, "VIRTPC")), 0x401010);
		assert_int_equal(packet_int(&p, stream_field(s, "SEQ")), 1);
		assert_false(packet_next(&it, &p));
	}
	experiment_close(sub);
	experiment_close(e);
}

static void test_names_and_labels(void **state)
{
	static const char *const names[] = { "cycles", "K_cycles", "context-switches" };
	struct fixture f;
	struct experiment *e;
	const struct exp_stream *s;

	fixture_counters = "cycles,20000,context-switches,7";
	begin(&f, FOLLOW_ALL, NULL);
	e = finish(&f);
	s = counters_of(e);
	assert_non_null(s);
	assert_int_equal(s->counters.len, 3);
	for (int i = 0; i < 3; i++)
		assert_string_equal(s->counters.data[i].name, names[i]);
	assert_string_equal(s->counters.data[1].metric, "Kernel CPU Cycles");
	assert_int_equal(s->counters.data[1].timecvt, 1);
	assert_int_equal(s->counters.data[1].tag, counter_tag(0, COUNTER_KERNEL));
	assert_int_equal(s->counters.data[2].tag, counter_tag(1, COUNTER_KERNEL));
	assert_int_equal(s->counters.data[2].timecvt, 0);
	assert_int_equal(s->counters.data[2].interval, 7);
	experiment_close(e);
}

/* As with clock samples, the user part is one frame and LWPID is the process. */
static void test_not_followed(void **state)
{
	struct fixture f;
	struct experiment *e;
	struct sums n;

	fixture_counters = "cycles,20000";
	begin(&f, FOLLOW_OFF, NULL);
	give_stack(&f, 77, 2, 2, 0);
	give_overflow(&f, 0, TID, 0, 20000, ER_CLOCK_USER);
	give_overflow(&f, 0, TID, 77, 20000, 0);
	e = finish(&f);
	n = read_overflows(e);
	assert_int_equal(n.n, 2);
	assert_int_equal(n.weight[counter_tag(0, COUNTER_USER)], 20000);
	assert_int_equal(n.lwp, PID);
	assert_int_equal(n.npcs, 2); /* the kernel's */
	experiment_close(e);
}

static void test_kernel_threads_and_idle(void **state)
{
	struct fixture f;
	struct experiment *e;
	struct sums n;

	fixture_counters = "cycles,20000";
	begin(&f, FOLLOW_ALL, NULL);
	give_stack(&f, 77, 2, 0, 0);
	give_overflow(&f, 0, KTHREAD, 77, 20000, ER_CLOCK_KTHREAD);
	give_overflow(&f, 0, 0, 0, 20000, ER_CLOCK_IDLE);
	e = finish(&f);
	n = read_overflows(e);
	assert_int_equal(n.n, 2);
	assert_int_equal(n.lwp, 0);
	assert_int_equal(n.npcs, 1); /* <IDLE> */
	experiment_close(e);
}

static void test_stack_that_does_not_come(void **state)
{
	struct fixture f;
	struct experiment *e, *sub;

	fixture_counters = "cycles,20000";
	begin(&f, FOLLOW_ALL, NULL);
	give_overflow(&f, 0, TID, 99, 20000, 0);
	drain_process(f.drain, false);
	assert_int_equal(drain_written(f.drain, ER_KIND_COUNTER), 0); /* it may come late */
	drain_process(f.drain, false);
	assert_int_equal(drain_written(f.drain, ER_KIND_COUNTER), 1);
	assert_int_equal(f.drops.n[DROP_STACK], 1);
	e = finish(&f);
	sub = open_sub(e, "_prog_PID_5000000.1.er");
	assert_int_equal(read_overflows(sub).n, 1);
	experiment_close(sub);
	experiment_close(e);
}

static void test_garbage_is_counted(void **state)
{
	struct er_counter c = { .at.h.kind = ER_KIND_COUNTER, .counter = ER_MAX_COUNTERS };
	struct fixture f;

	fixture_counters = "cycles,20000";
	begin(&f, FOLLOW_ALL, NULL);
	drain_take(f.drain, 0, &c, sizeof(c));
	c.counter = 0;
	drain_take(f.drain, 0, &c, sizeof(c) - 1);
	assert_int_equal(f.drops.n[DROP_RECORD], 2);
	experiment_close(finish(&f));
}

/* Neither the log nor the directory mentions counters. */
static void test_no_counters(void **state)
{
	struct fixture f;
	struct experiment *e;

	fixture_counters = NULL;
	begin(&f, FOLLOW_ALL, NULL);
	e = finish(&f);
	assert_null(counters_of(e));
	experiment_close(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modes_are_metrics),
		cmocka_unit_test(test_addresses_of_data),
		cmocka_unit_test(test_names_and_labels),
		cmocka_unit_test(test_not_followed),
		cmocka_unit_test(test_kernel_threads_and_idle),
		cmocka_unit_test(test_stack_that_does_not_come),
		cmocka_unit_test(test_garbage_is_counted),
		cmocka_unit_test(test_no_counters),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
