/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reasons of waits and of wakeups that depend on both the record's flags and the stack. */
#include "tests/unit/drain_fixture.h"
#include "user/record/reason.h"
#include "user/record/stacks.h"

enum { FRAMES_MAX = 8, STACK = 77 };
static const uint64_t TEXT = 0xffffffff81000000;

struct kernel {
	struct fixture f;
	struct stacks *stacks;
	struct reasons *reasons;
};

/* A kernel with these functions, and a stack of them. Names are leaf first, separated by blanks. */
static void kernel_with(struct kernel *k, const char *text)
{
	struct {
		struct er_stack s;
		uint64_t pcs[FRAMES_MAX];
	} r = { .s = { .id = STACK } };
	char copy[512], *rest = copy, *word;
	FILE *file = fopen(kallsyms, "w");

	assert_non_null(file);
	fprintf(file, "%lx T _text\n", TEXT);
	snprintf(copy, sizeof(copy), "%s", text);
	while ((word = strsep(&rest, " ")) && *word) {
		uint64_t start = TEXT + 0x1000 * (r.s.nkernel + 1);

		fprintf(file, "%lx T %s\n", start, word);
		r.pcs[r.s.nkernel++] = start + 16;
	}
	fprintf(file, "%lx T after\n", TEXT + 0x1000 * (r.s.nkernel + 1));
	fclose(file);
	begin(&k->f, FOLLOW_OFF, NULL);
	k->stacks = stacks_new(k->f.recording);
	k->reasons = reasons_new(k->f.recording, k->stacks);
	stacks_keep(k->stacks, &r.s);
}

static void kernel_gone(struct kernel *k)
{
	reasons_free(k->reasons);
	stacks_free(k->stacks);
	experiment_close(finish(&k->f));
	diag_free(&k->f.diag);
}

static void test_blocked(void **state)
{
	static const struct {
		const char *stack;
		enum er_off_state state;
		uint32_t flags;
		enum er_reason reason;
	} cases[] = {
		{ "io_schedule filemap_fault exc_page_fault", ER_OFF_DFAULT, 0, REASON_FAULT },
		{ "rwsem_down_read_slowpath down_read exc_page_fault", ER_OFF_DFAULT, 0,
		  REASON_KERNEL_LOCK },
		{ "reclaim_throttle shrink_node exc_page_fault", ER_OFF_TFAULT, 0, REASON_RECLAIM },
		{ "anon_pipe_read vfs_read asm_exc_page_fault", ER_OFF_KFAULT, 0, REASON_FAULT },
		{ "do_signal_stop get_signal", ER_OFF_STOP, 0, REASON_STOPPED },
		{ "ptrace_stop.part.0 ptrace_notify", ER_OFF_STOP, 0, REASON_TRACED },
		{ "some_driver_wait kthread", ER_OFF_SLEEP, ER_WAIT_KTHREAD, REASON_NO_WORK },
		{ "some_driver_wait kthread", ER_OFF_SLEEP, 0, REASON_OTHER },
		{ "some_driver_wait kthread", ER_OFF_SLEEP, ER_WAIT_KTHREAD | ER_WAIT_KILLABLE,
		  REASON_OTHER },
		{ "some_driver_wait kthread", ER_OFF_SLEEP, ER_WAIT_KTHREAD | ER_WAIT_IO,
		  REASON_DISK },
		{ "anon_pipe_read vfs_read", ER_OFF_SLEEP, ER_WAIT_IO, REASON_PIPE },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct er_wait w = { .state = cases[i].state, .flags = cases[i].flags,
				     .stack = STACK, .syscall = -1 };
		struct kernel k;

		kernel_with(&k, cases[i].stack);
		if (reason_blocked(k.reasons, &w) != cases[i].reason)
			fail_msg("%zu: %s: %s, not %s", i, cases[i].stack,
				 reason_descs[reason_blocked(k.reasons, &w)].name,
				 reason_descs[cases[i].reason].name);
		kernel_gone(&k);
	}
}

/* The remainder of a thread's total gets the reason of its last wait's stack. */
static void test_rest(void **state)
{
	struct kernel k;

	kernel_with(&k, "some_driver_wait kthread");
	assert_int_equal(reason_rest(k.reasons, ER_OFF_SLEEP, STACK, true), REASON_NO_WORK);
	assert_int_equal(reason_rest(k.reasons, ER_OFF_SLEEP, STACK, false), REASON_OTHER);
	kernel_gone(&k);
}

static void test_waking(void **state)
{
	static const struct {
		const char *stack;
		enum waking waking;
	} cases[] = {
		{ "try_to_wake_up hrtimer_wakeup asm_sysvec_apic_timer_interrupt", WAKING_TIMER },
		/*
		 * A packet that the thread itself sent is delivered at the end of its system call.
		 */
		{ "sock_def_readable process_backlog __local_bh_enable_ip tcp_sendmsg",
		  WAKING_THREAD },
		/* It was chance that the softirq ran at that moment. */
		{ "sock_def_readable __local_bh_enable_ip tcp_sendmsg", WAKING_INTERRUPT },
		/*
		 * An interrupt stops a thread that delivers data. The thread did not cause the
		 * wakeup.
		 */
		{ "sock_def_readable __irq_exit_rcu process_backlog __local_bh_enable_ip",
		  WAKING_INTERRUPT },
		{ "sock_def_readable __irq_exit_rcu hrtimer_wakeup", WAKING_INTERRUPT },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kernel k;

		kernel_with(&k, cases[i].stack);
		if (reason_waking(k.reasons, STACK) != cases[i].waking)
			fail_msg("%zu: %s: %d", i, cases[i].stack,
				 (int)reason_waking(k.reasons, STACK));
		kernel_gone(&k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocked),
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_waking),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
