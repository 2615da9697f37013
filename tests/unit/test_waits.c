/* SPDX-License-Identifier: GPL-2.0-or-later */
/* WAIT records become clock packets and stacks. */
#include "analysis/experiment/exp_map.h"
#include "tests/unit/waits_fixture.h"

/* A finished recording and the experiment of its program. */
struct reading {
	struct experiment *e, *sub;
};

/* The program's packets. They are valid until the next call. */
static struct seen_list *finish_reading(struct fixture *f, struct reading *r)
{
	r->e = finish(f);
	r->sub = open_sub(r->e, "_prog_PID_5000000.1.er");
	return read_all_packets(r->sub);
}

static void close_reading(struct reading *r)
{
	experiment_close(r->sub);
	experiment_close(r->e);
}

static void test_a_wait_is_two_packets(void **state)
{
	struct fixture f;
	struct reading r;
	struct er_wait w = a_wait;
	struct seen_list *l;

	begin(&f, FOLLOW_ALL, NULL);
	give_stack(&f, 77, 2, 2, 0);
	w.runq_weight = 1000000;
	give_wait(&f, w);
	assert_int_equal(drain_written(f.drain, ER_KIND_WAIT), 0);
	l = finish_reading(&f, &r);
	assert_int_equal(l->n, 2);
	assert_int_equal(l->s[0].size, 72);
	assert_int_equal(l->s[0].state, MS_SLEEP);
	assert_int_equal(l->s[0].ticks, 9000);
	assert_int_equal(l->s[0].length, 3000000);
	assert_int_equal(l->s[0].time, 9500000);
	assert_int_equal(l->s[0].syscall, SYS_read + 1);
	assert_int_equal(l->s[0].waker, 4322);
	assert_int_equal(l->s[0].waker_pid, 4321);
	assert_int_equal(l->s[0].holder, 0);
	assert_int_equal(l->s[0].holder_pid, 0);
	assert_int_equal(l->s[0].npcs, 4);
	assert_int_equal(l->s[0].thread, TID);
	assert_int_equal(l->s[0].lwp, TID);
	assert_int_equal(l->s[1].state, MS_WAIT_CPU);
	assert_int_equal(l->s[1].ticks, 1000);
	assert_int_equal(l->s[1].length, 500000);
	assert_int_equal(l->s[1].time, 10000000);
	assert_int_equal(l->s[1].reason, REASON_WOKEN);
	assert_int_equal(l->s[1].holder, 12);
	assert_int_equal(l->s[1].holder_pid, 11);
	assert_int_equal(l->s[1].uid, l->s[0].uid);
	close_reading(&r);
}

static void test_states_and_flags(void **state)
{
	static const struct {
		uint16_t state;
		uint32_t flags;
		int64_t mstate, reason, wflags;
	} cases[] = {
		{ ER_OFF_TFAULT, ER_WAIT_IO, MS_TFAULT, REASON_FAULT, WFLAG_IO },
		{ ER_OFF_DFAULT, 0, MS_DFAULT, REASON_FAULT, 0 },
		{ ER_OFF_KFAULT, 0, MS_KFAULT, REASON_FAULT, 0 },
		{ ER_OFF_LOCK, ER_WAIT_TRACED, MS_USER_LOCK, REASON_USER_LOCK, WFLAG_TRACED },
		{ ER_OFF_STOP, 0, MS_STOPPED, REASON_STOPPED, 0 },
		{ ER_OFF_SLEEP, ER_WAIT_FROZEN, MS_SLEEP, REASON_FROZEN, 0 },
		{ ER_OFF_SLEEP, ER_WAIT_THROTTLED, MS_SLEEP, REASON_THROTTLED, 0 },
		{ ER_OFF_SLEEP, ER_WAIT_IO | ER_WAIT_WAKER_IRQ, MS_SLEEP, REASON_DISK,
		  WFLAG_IO | WFLAG_WAKER_IRQ },
		{ ER_OFF_SLEEP, ER_WAIT_OPEN_START, MS_SLEEP, REASON_OTHER, WFLAG_OPEN_START },
		{ ER_OFF_SLEEP, ER_WAIT_STACK_EARLY, MS_SLEEP, REASON_OTHER, WFLAG_STACK_EARLY },
		{ 99, 0, MS_SLEEP, REASON_OTHER, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct er_wait w = a_wait;
		struct fixture f;
		struct reading r;
		struct seen_list *l;

		begin(&f, FOLLOW_ALL, NULL);
		give_stack(&f, 77, 1, 0, 0);
		w.state = cases[i].state;
		w.flags = cases[i].flags;
		give_wait(&f, w);
		l = finish_reading(&f, &r);
		assert_int_equal(l->n, 1);
		assert_int_equal(l->s[0].state, cases[i].mstate);
		assert_int_equal(l->s[0].reason, cases[i].reason);
		assert_int_equal(l->s[0].flags, cases[i].wflags);
		close_reading(&r);
	}
}

/*
 * A part whose weight is its length was recorded because of its length; the other part was sampled. A weight of
 * 100 minutes takes three packets, of which only the first counts a wait.
 */
static void test_a_long_part(void **state)
{
	struct fixture f;
	struct reading r;
	struct er_wait w = a_wait;
	struct seen_list *l;

	begin(&f, FOLLOW_ALL, NULL);
	give_stack(&f, 77, 1, 0, 0);
	w.blocked_weight = w.blocked_ns;
	w.runq_weight = w.runq_ns + 1;
	give_wait(&f, w);
	w.blocked_weight = 0;
	w.runq_weight = w.runq_ns;
	give_wait(&f, w);
	w.runq_ns = w.runq_weight = 6000 * UINT64_C(1000000000);
	give_wait(&f, w);
	l = finish_reading(&f, &r);
	assert_int_equal(l->n, 6);
	assert_int_equal(l->s[0].flags, WFLAG_TRACED);
	assert_int_equal(l->s[1].flags, 0);
	for (int i = 2; i < 6; i++)
		assert_int_equal(l->s[i].flags, i < 4 ? WFLAG_TRACED : WFLAG_TRACED | WFLAG_CONTINUED | WFLAG_MORE);
	close_reading(&r);
}

/* An open end belongs to the part of the wait that it is in. */
static void test_open_ends_of_two_parts(void **state)
{
	struct fixture f;
	struct reading r;
	struct er_wait w = a_wait;
	struct seen_list *l;

	begin(&f, FOLLOW_ALL, NULL);
	give_stack(&f, 77, 1, 0, 0);
	w.runq_weight = 1000000;
	w.flags = ER_WAIT_OPEN_START; /* it began in the middle of the blocked part */
	give_wait(&f, w);
	w.flags = ER_WAIT_OPEN_END; /* and ended in the middle of the other part */
	give_wait(&f, w);
	w.flags = ER_WAIT_OPEN_START | ER_WAIT_OPEN_END;
	w.blocked_ns = w.blocked_weight = 0;
	give_wait(&f, w);
	l = finish_reading(&f, &r);
	assert_int_equal(l->n, 5);
	assert_int_equal(l->s[0].flags, WFLAG_OPEN_START);
	assert_int_equal(l->s[1].flags, 0);
	assert_int_equal(l->s[2].flags, 0);
	assert_int_equal(l->s[3].flags, WFLAG_OPEN_END);
	assert_int_equal(l->s[4].flags, WFLAG_OPEN_START | WFLAG_OPEN_END);
	close_reading(&r);
}

/* A record without weight also gets a packet, so that its number is in the experiment. */
static void test_no_weight_and_a_holder(void **state)
{
	struct fixture f;
	struct reading r;
	struct er_wait w = a_wait;
	struct seen_list *l;

	begin(&f, FOLLOW_ALL, NULL);
	give_stack(&f, 77, 1, 0, 0);
	w.blocked_weight = 0;
	w.state = ER_OFF_LOCK;
	w.holder_tid = TID + 1;
	give_wait(&f, w);
	l = finish_reading(&f, &r);
	assert_int_equal(l->n, 1);
	assert_int_equal(l->s[0].ticks, 0);
	assert_int_equal(l->s[0].holder, TID + 1);
	assert_int_equal(l->s[0].holder_pid, PID);
	close_reading(&r);
}

static void test_reason_by_stack(void **state)
{
	struct fixture f;
	struct reading r;

	begin(&f, FOLLOW_ALL, NULL);
	give_stack(&f, 77, 8, 0, 0); /* 0xffffffff81001010 + 0x100 a frame: work */
	drain_take(f.drain, 0, &(struct { struct er_stack s; uint64_t pcs[3]; }){
		.s = { .h.kind = ER_KIND_STACK, .id = 78, .nkernel = 3 },
		.pcs = { 0xffffffff81001010, 0xffffffff81002010, 0xffffffff81003010 } },
		sizeof(struct er_stack) + 24);
	struct er_wait w = a_wait;

	w.stack = 78;
	give_wait(&f, w);
	assert_int_equal(finish_reading(&f, &r)->s[0].reason, REASON_PIPE);
	close_reading(&r);
}

/* Both parts of a wait, and samples, have the thread's goroutine. Other packets are as short as before. */
static void test_goroutine(void **state)
{
	const struct er_clock sample = { .h = { .kind = ER_KIND_CLOCK, .time_ns = 4000 }, .stack = 77, .weight = 5000,
					 .task = a_wait.task, .flags = ER_CLOCK_USER, .cpu = 1,
					 .goroutine = 1ULL << 40 | 17 };
	struct er_wait w = a_wait;
	struct seen_list *l;
	struct fixture f;
	struct experiment *e, *others;

	begin(&f, FOLLOW_OFF, NULL);
	give_stack(&f, 77, 1, 2, 0);
	give_wait(&f, w);
	w.goroutine = sample.goroutine;
	w.runq_weight = 1000000;
	give_wait(&f, w);
	drain_take(f.drain, 1, &sample, sizeof(sample));
	e = finish(&f);
	l = read_all_packets(e);
	assert_int_equal(l->n, 1);
	assert_int_equal(l->s[0].goroutine, sample.goroutine);
	assert_int_equal(l->s[0].ticks, 5);
	assert_int_equal(l->s[0].reason | l->s[0].waker | l->s[0].length, 0);
	others = open_sub(e, "_others_PID_0.1.er");
	l = read_all_packets(others);
	assert_int_equal(l->n, 3);
	assert_int_equal(l->s[0].goroutine, 0);
	assert_true(l->s[0].size < l->s[1].size);
	for (int i = 1; i < 3; i++) {
		assert_int_equal(l->s[i].goroutine, sample.goroutine);
		assert_int_equal(l->s[i].syscall, SYS_read + 1);
	}
	assert_int_equal(l->s[1].waker, 4322);
	experiment_close(others);
	experiment_close(e);
}

/* A process that is not followed, and a kernel thread: one experiment has their kernel stacks. */
static void test_others(void **state)
{
	struct fixture f;
	struct experiment *e, *others;
	struct er_wait w = a_wait;
	struct seen_list *l;

	begin(&f, FOLLOW_OFF, NULL);
	give_stack(&f, 77, 1, 2, 0);
	give_wait(&f, w);
	w.task.tgid = w.task.tid = KTHREAD;
	w.flags = ER_WAIT_KTHREAD;
	give_wait(&f, w);
	e = finish(&f);
	others = open_sub(e, "_others_PID_0.1.er");
	assert_int_equal(others->streams.data[0].numstates, STATES_ALL);
	l = read_all_packets(others);
	assert_int_equal(l->n, 2);
	assert_int_equal(l->s[0].lwp, PID);
	assert_int_equal(l->s[0].thread, TID);
	assert_int_equal(l->s[0].npcs, 2);
	assert_string_equal(others->maps.data[1].name, "<prog_PID_5000000>");
	assert_true(others->maps.data[1].vaddr == l->s[0].pcs[1]);
	assert_int_equal(l->s[1].lwp, 0);
	assert_int_equal(l->s[1].thread, KTHREAD);
	assert_int_equal(l->s[1].npcs, 1);
	assert_int_equal(read_all_packets(e)->n, 0);
	experiment_close(others);
	experiment_close(e);
}

/* The experiments that a process makes that waits from the recording's beginning to its end. */
static size_t made_by_waiting(enum follow_mode follow, bool targets)
{
	struct fixture f;
	struct er_wait w = a_wait;
	size_t n;

	begin_targets(&f, follow, NULL, targets);
	give_stack(&f, 77, 1, 2, 0);
	w.flags = ER_WAIT_OPEN_START | ER_WAIT_OPEN_END;
	give_wait(&f, w);
	drain_process(f.drain, true);
	n = recording_nsubs(f.recording);
	experiment_close(finish(&f));
	return n;
}

static void test_only_waited(void **state)
{
	assert_int_equal(made_by_waiting(FOLLOW_ALL, false), 0);
	assert_int_equal(made_by_waiting(FOLLOW_ALL, true), 1);
	assert_int_equal(made_by_waiting(FOLLOW_SHARED, false), 1);
}

static void test_targets_sleep_and_stall(void **state)
{
	struct fixture f;
	struct reading r;
	struct er_wait w = a_wait;
	struct seen_list *l;
	uint64_t sleeping = 0, stalled = 0;

	begin_targets(&f, FOLLOW_ALL, NULL, true);
	give_stack(&f, 77, 2, 2, 0);
	w.runq_weight = 1000;
	give_wait(&f, w);
	w.stack = 0;
	give_wait(&f, w);
	finish_reading(&f, &r);
	vec_for_each(m, &r.sub->maps) {
		if (!strcmp(m->name, "<SLEEPING>"))
			sleeping = m->vaddr;
		if (!strcmp(m->name, "<STALLED>"))
			stalled = m->vaddr;
	}
	l = read_all_packets(r.sub);
	assert_int_equal(l->n, 4);
	assert_int_equal(l->s[0].npcs, 5);
	assert_true(l->s[0].pcs[0] == sleeping && sleeping);
	assert_true(l->s[0].pcs[1] == 0xffffffff81001010);
	assert_true(l->s[0].pcs[4] == 0x40110f);
	assert_int_equal(l->s[1].npcs, 5);
	assert_true(l->s[1].pcs[0] == stalled && stalled);
	assert_int_equal(l->s[2].npcs, 1);
	assert_true(l->s[2].pcs[0] == sleeping);
	assert_int_equal(l->s[3].npcs, 1);
	assert_true(l->s[3].pcs[0] == stalled);
	close_reading(&r);
}

enum { WAKER = 5000003 };

/* A wait that was ended by another process, whose first record this is. `flags` are the wait's. */
static void give_woken(struct fixture *f, uint16_t nuser, uint32_t flags)
{
	struct er_wait w = a_wait;

	procmap_apply(f->procmap, &(struct proc_event){ .kind = PROC_FORK, .time_ns = 2000,
							.pid = WAKER, .tid = WAKER, .ppid = 1 });
	procmap_apply(f->procmap, &(struct proc_event){ .kind = PROC_EXEC, .time_ns = 2100,
							.pid = WAKER, .tid = WAKER, .name = "waker" });
	give_stack(f, 77, 2, 2, 0);
	give_stack(f, 99, 1, nuser, 0);
	w.waker_tgid = w.waker_tid = WAKER;
	w.waker_start = 1991;
	w.waker_stack = 99;
	w.flags |= flags;
	give_wait(f, w);
}

/* The waker is another followed process: its stack is in that process's experiment. */
static void test_waker_stack_is_in_its_experiment(void **state)
{
	struct fixture f;
	struct experiment *other;
	struct reading r;
	struct seen_list *l;

	begin(&f, FOLLOW_ALL, NULL);
	give_woken(&f, 1, 0);
	l = finish_reading(&f, &r);
	other = open_sub(r.e, "_waker_PID_5000003.1.er");
	assert_int_equal(l->s[0].waker_pid, WAKER);
	assert_int_equal(experiment_stack(r.sub, l->s[0].waker_stack), -1);
	assert_true(experiment_stack(other, l->s[0].waker_stack) >= 0);
	experiment_close(other);
	close_reading(&r);
}

static uint32_t frames_of(const struct experiment *e, uint64_t uid)
{
	int64_t i = experiment_stack(e, uid);

	assert_true(i >= 0);
	return e->stacks.data[i].npcs;
}

/* The interrupted program ended nothing, so the stack has only kernel frames, also in its experiment. */
static void test_interrupt_shows_no_program(void **state)
{
	struct er_wait w = a_wait;
	struct fixture f;
	struct experiment *other;
	struct reading r;
	struct seen_list *l;

	begin(&f, FOLLOW_ALL, NULL);
	give_woken(&f, 1, 0);
	give_stack(&f, 98, 1, 2, 0);
	w.h.time_ns += 1000000;
	w.waker_tgid = w.waker_tid = WAKER;
	w.waker_start = 1991;
	w.waker_stack = 98;
	w.flags |= ER_WAIT_WAKER_IRQ;
	give_wait(&f, w);
	l = finish_reading(&f, &r);
	other = open_sub(r.e, "_waker_PID_5000003.1.er");
	assert_int_equal(l->n, 2);
	assert_int_equal(frames_of(other, l->s[0].waker_stack), 2);
	assert_int_equal(frames_of(other, l->s[1].waker_stack), 1);
	experiment_close(other);
	close_reading(&r);
}

/* A stack of three or more kernel frames: a function that wakes, the entry of an interrupt, and others. */
static void give_interrupt(struct fixture *f, uint64_t id, uint16_t ninterrupted)
{
	struct {
		struct er_stack s;
		uint64_t pcs[8];
	} r = { .s = { .h = { .kind = ER_KIND_STACK, .time_ns = 3000 }, .id = id, .tgid = PID,
		       .start_time = 1990, .nkernel = 2 + ninterrupted },
		.pcs = { 0xffffffff81001010, 0xffffffff81004020 } };

	for (int i = 0; i < ninterrupted; i++)
		r.pcs[2 + i] = 0xffffffff81002010 + 0x10 * id + 0x100 * i;
	drain_take(f->drain, 0, &r, sizeof(r.s) + 8 * (2 + ninterrupted));
}

/* Two interrupts of different code have one stack. If the thread is the waker, it has all frames. */
static void test_interrupt_ends_at_its_entry(void **state)
{
	static const uint32_t flags[] = { ER_WAIT_WAKER_IRQ, ER_WAIT_WAKER_IRQ, 0, ER_WAIT_WAKER_IRQ };
	static const uint16_t ninterrupted[] = { 1, 3, 3, 0 };
	static const uint32_t frames[] = { 2, 2, 5, 2 };
	struct fixture f;
	struct reading r;
	struct seen_list *l;

	begin(&f, FOLLOW_ALL, NULL);
	give_stack(&f, 77, 2, 2, 0);
	for (unsigned i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		struct er_wait w = a_wait;

		give_interrupt(&f, 90 + i, ninterrupted[i]);
		w.h.time_ns += i * 1000;
		w.waker_stack = 90 + i;
		w.flags |= flags[i];
		give_wait(&f, w);
	}
	l = finish_reading(&f, &r);
	assert_int_equal(l->n, 4);
	for (unsigned i = 0; i < l->n; i++)
		assert_int_equal(frames_of(r.e, l->s[i].waker_stack), frames[i]);
	assert_int_equal(l->s[0].waker_stack, l->s[1].waker_stack);
	assert_int_equal(l->s[0].waker_stack, l->s[3].waker_stack);
	assert_int_not_equal(l->s[0].waker_stack, l->s[2].waker_stack);
	close_reading(&r);
}

/*
 * The waker gets no experiment if its stack has only kernel frames, or if an interrupt stopped it:
 * the stack would show nothing of its program. The stack is then in the founder.
 */
static void test_waker_without_an_experiment(void **state)
{
	for (int by_interrupt = 0; by_interrupt < 2; by_interrupt++) {
		struct fixture f;
		struct reading r;
		struct seen_list *l;

		begin(&f, FOLLOW_ALL, NULL);
		give_woken(&f, by_interrupt, by_interrupt ? ER_WAIT_WAKER_IRQ : 0);
		drain_process(f.drain, true);
		assert_int_equal(recording_nsubs(f.recording), 1);
		l = finish_reading(&f, &r);
		assert_int_equal(l->s[0].waker_pid, WAKER);
		assert_true(experiment_stack(r.e, l->s[0].waker_stack) >= 0);
		close_reading(&r);
	}
}

static void test_wait_for_a_late_stack(void **state)
{
	struct fixture f;
	struct reading r;
	struct seen_list *l;

	begin(&f, FOLLOW_ALL, NULL);
	give_wait(&f, a_wait);
	drain_process(f.drain, false);
	give_stack(&f, 77, 2, 0, 0);
	drain_process(f.drain, false);
	struct er_wait w = a_wait;

	w.stack = 78; /* never comes */
	give_wait(&f, w);
	drain_process(f.drain, false);
	drain_process(f.drain, false);
	assert_int_equal(f.drops.n[DROP_STACK], 1);
	assert_int_equal(drain_written(f.drain, ER_KIND_WAIT), 2);
	assert_int_equal(drain_ring(f.drain, 1)->recorded[ER_KIND_WAIT], 2);
	l = finish_reading(&f, &r);
	assert_int_equal(l->s[0].npcs, 2);
	assert_int_equal(l->s[1].npcs, 1);
	close_reading(&r);
}

static void test_long_waits_are_several_packets(void **state)
{
	struct fixture f;
	struct reading r;
	struct er_wait w = a_wait;
	struct seen_list *l;

	begin(&f, FOLLOW_ALL, NULL);
	give_stack(&f, 77, 1, 0, 0);
	w.blocked_weight = 3ULL * 3600 * 1000000000; /* three hours */
	give_wait(&f, w);
	l = finish_reading(&f, &r);
	assert_true(l->n > 1);
	assert_true(l->ticks[MS_SLEEP] == 3LL * 3600 * 1000000);
	close_reading(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_wait_is_two_packets),
		cmocka_unit_test(test_states_and_flags),
		cmocka_unit_test(test_a_long_part),
		cmocka_unit_test(test_open_ends_of_two_parts),
		cmocka_unit_test(test_no_weight_and_a_holder),
		cmocka_unit_test(test_reason_by_stack),
		cmocka_unit_test(test_goroutine),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_only_waited),
		cmocka_unit_test(test_targets_sleep_and_stall),
		cmocka_unit_test(test_waker_stack_is_in_its_experiment),
		cmocka_unit_test(test_interrupt_shows_no_program),
		cmocka_unit_test(test_interrupt_ends_at_its_entry),
		cmocka_unit_test(test_waker_without_an_experiment),
		cmocka_unit_test(test_wait_for_a_late_stack),
		cmocka_unit_test(test_long_waits_are_several_packets),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
