/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel stacks as /proc/PID/stack of Linux 6.1, 6.12 and 6.18 shows them, and their reasons. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "user/record/reason.h"
#include "user/record/reason_rules.h"

static const struct {
	const char *stack; /* leaf first, blank separated */
	enum er_reason reason;
} stacks[] = {
	{ "anon_pipe_read vfs_read ksys_read do_syscall_64", REASON_PIPE },
	{ "pipe_read vfs_read ksys_read do_syscall_64", REASON_PIPE },
	{ "pipe_write vfs_write ksys_write do_syscall_64", REASON_PIPE },
	{ "wait_for_partner fifo_open do_dentry_open vfs_open", REASON_PIPE },
	{ "schedule mutex_lock.isra.0 pipe_write", REASON_KERNEL_LOCK },
	{ "do_wait kernel_wait4 do_syscall_64", REASON_CHILD },
	{ "do_wait_intr_irq eventfd_read vfs_read ksys_read", REASON_EVENT },
	{ "do_wait kernel_waitid __do_sys_waitid", REASON_CHILD },
	{ "schedule_timeout __wait_for_common wait_for_completion_state kernel_clone "
	  "__x64_sys_vfork", REASON_CHILD },
	{ "futex_do_wait __futex_wait futex_wait do_futex __x64_sys_futex", REASON_USER_LOCK },
	{ "futex_wait_queue futex_wait do_futex", REASON_USER_LOCK },
	{ "schedule __rt_mutex_slowlock futex_lock_pi do_futex", REASON_USER_LOCK },
	{ "poll_schedule_timeout.constprop.0 do_select core_sys_select do_pselect.constprop.0",
	  REASON_POLL },
	{ "schedule_hrtimeout_range_clock poll_schedule_timeout.constprop.0 do_poll.constprop.0 "
	  "do_sys_poll", REASON_POLL },
	{ "schedule_hrtimeout_range ep_poll do_epoll_wait __x64_sys_epoll_wait", REASON_POLL },
	{ "do_nanosleep hrtimer_nanosleep common_nsleep __x64_sys_clock_nanosleep", REASON_TIMER },
	{ "msleep acpi_os_sleep process_one_work worker_thread kthread", REASON_TIMER },
	{ "schedule_timeout inet_csk_accept inet_accept do_accept", REASON_NETWORK },
	{ "wait_woken sk_wait_data tcp_recvmsg_locked tcp_recvmsg inet_recvmsg", REASON_NETWORK },
	{ "schedule_timeout unix_stream_data_wait unix_stream_read_generic sock_read_iter",
	  REASON_NETWORK },
	{ "schedule_timeout sock_alloc_send_pskb unix_stream_sendmsg", REASON_NETWORK },
	{ "wait_woken n_tty_read iterate_tty_read tty_read vfs_read", REASON_TTY },
	{ "timerfd_read_iter vfs_read ksys_read", REASON_EVENT },
	{ "timerfd_read vfs_read", REASON_EVENT },
	{ "eventfd_read vfs_read", REASON_EVENT },
	{ "wait_woken inotify_read vfs_read", REASON_EVENT },
	{ "signalfd_dequeue signalfd_read_iter vfs_read", REASON_EVENT },
	{ "flock_lock_inode_wait locks_lock_inode_wait __do_sys_flock", REASON_FILE_LOCK },
	{ "schedule fcntl_setlk do_fcntl", REASON_FILE_LOCK },
	{ "do_msgrcv __x64_sys_msgrcv", REASON_IPC },
	{ "__do_semtimedop do_semtimedop", REASON_IPC },
	{ "wq_sleep.constprop.0 do_mq_timedreceive", REASON_IPC },
	{ "io_cqring_wait __do_sys_io_uring_enter", REASON_IO_URING },
	{ "schedule io_wq_worker ret_from_fork", REASON_NO_WORK },
	{ "io_schedule folio_wait_bit_common filemap_update_page filemap_get_pages filemap_read "
	  "ext4_file_read_iter vfs_read", REASON_DISK },
	{ "io_schedule blk_mq_get_tag __blk_mq_alloc_requests", REASON_DISK },
	{ "blk_io_schedule __iomap_dio_rw iomap_dio_rw ext4_file_read_iter", REASON_DISK },
	{ "submit_bio_wait blkdev_issue_flush", REASON_DISK },
	{ "jbd2_log_wait_commit ext4_sync_file vfs_fsync_range do_fsync", REASON_WRITEBACK },
	{ "io_schedule folio_wait_bit_common folio_wait_writeback __filemap_fdatawait_range "
	  "file_write_and_wait_range ext4_sync_file", REASON_WRITEBACK },
	{ "io_schedule folio_wait_bit_common jbd2_journal_commit_transaction kjournald2 kthread",
	  REASON_WRITEBACK },
	{ "kjournald2 kthread ret_from_fork", REASON_NO_WORK },
	{ "io_schedule_timeout balance_dirty_pages balance_dirty_pages_ratelimited_flags "
	  "generic_perform_write", REASON_WRITEBACK },
	{ "schedule_preempt_disabled __mutex_lock.constprop.0 ext4_sync_file do_fsync",
	  REASON_KERNEL_LOCK },
	{ "rwsem_down_read_slowpath down_read do_user_addr_fault exc_page_fault", REASON_KERNEL_LOCK },
	{ "rwsem_down_write_slowpath down_write_killable vm_mmap_pgoff", REASON_KERNEL_LOCK },
	{ "__down_interruptible down_interruptible driver_ioctl", REASON_KERNEL_LOCK },
	{ "io_schedule folio_wait_bit_common __folio_lock_or_retry filemap_fault __do_fault "
	  "handle_mm_fault exc_page_fault asm_exc_page_fault", REASON_FAULT },
	{ "schedule_timeout reclaim_throttle shrink_node do_try_to_free_pages try_to_free_pages "
	  "__alloc_pages_slowpath handle_mm_fault exc_page_fault", REASON_RECLAIM },
	{ "kswapd_try_to_sleep kswapd kthread", REASON_NO_WORK },
	{ "kswapd kthread ret_from_fork ret_from_fork_asm", REASON_NO_WORK },
	{ "io_schedule shrink_folio_list balance_pgdat kswapd kthread", REASON_RECLAIM },
	{ "throttle_cfs_rq_work task_work_run exit_to_user_mode_loop", REASON_THROTTLED },
	{ "__refrigerator get_signal arch_do_signal_or_restart", REASON_FROZEN },
	{ "do_signal_stop get_signal arch_do_signal_or_restart", REASON_STOPPED },
	{ "ptrace_stop.part.0 ptrace_do_notify ptrace_notify", REASON_TRACED },
	{ "do_sigtimedwait __x64_sys_rt_sigtimedwait", REASON_SIGNAL },
	{ "sigsuspend __x64_sys_rt_sigsuspend", REASON_SIGNAL },
	{ "schedule do_exit do_group_exit", REASON_EXIT },
	{ "worker_thread kthread ret_from_fork", REASON_NO_WORK },
	{ "some_driver_wait process_one_work worker_thread kthread", REASON_OTHER },
	{ "smpboot_thread_fn kthread ret_from_fork ret_from_fork_asm", REASON_NO_WORK },
	{ "rcu_tasks_one_gp rcu_tasks_kthread kthread", REASON_NO_WORK },
	{ "rcu_gp_kthread kthread ret_from_fork", REASON_NO_WORK },
	{ "rescuer_thread kthread", REASON_NO_WORK },
	{ "synchronize_rcu_expedited namespace_unlock", REASON_KERNEL_SYNC },
	{ "schedule_timeout wait_for_completion __flush_work", REASON_KERNEL_SYNC },
	{ "schedule some_ioctl vfs_ioctl", REASON_OTHER },
	{ "pipework my_pipe_read", REASON_OTHER }, /* patterns are whole names */
	{ "", REASON_OTHER },
};

static enum er_reason classify(const char *text)
{
	char copy[512], *rest = copy, *word;
	const char *names[32];
	size_t n = 0;

	snprintf(copy, sizeof(copy), "%s", text);
	while ((word = strsep(&rest, " ")))
		names[n++] = word;
	return reason_of_functions(names, n);
}

static void test_stacks(void **state)
{
	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		enum er_reason got = classify(stacks[i].stack);

		if (got != stacks[i].reason)
			fail_msg("%s: %s, not %s", stacks[i].stack, reason_descs[got].name,
				 reason_descs[stacks[i].reason].name);
	}
}

/* Wakings over the loopback device and by an interrupt, as seen on 6.18 and 6.1. */
static void test_doings(void **state)
{
	static const struct {
		const char *function;
		enum doing doing;
	} cases[] = {
		{ "sock_def_readable", DOING_UNSAID },	   { "handle_softirqs", DOING_UNSAID },
		{ "__do_softirq", DOING_UNSAID },	   { "do_softirq.part.0", DOING_THREAD },
		{ "__local_bh_enable_ip", DOING_THREAD },  { "__irq_exit_rcu", DOING_INTERRUPT },
		{ "asm_common_interrupt", DOING_INTERRUPT }, { "process_backlog", DOING_DELIVERS },
		{ "hrtimer_wakeup", DOING_TIMER },	   { "run_timer_softirq", DOING_TIMER },
		{ "__hrtimer_run_queues", DOING_UNSAID },
	};
	struct stacks *st = stacks_new(NULL);
	struct reasons *r = reasons_new(NULL, st);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(reason_doing(cases[i].function), cases[i].doing);
	assert_int_equal(reason_waking(r, 1), WAKING_INTERRUPT); /* no such stack */
	assert_int_equal(reason_interrupt(r, 1), 0);
	assert_true(reason_is_entry("asm_sysvec_apic_timer_interrupt"));
	assert_false(reason_is_entry("sysvec_apic_timer_interrupt"));
	reasons_free(r);
	stacks_free(st);
}

static void test_syscalls(void **state)
{
	assert_int_equal(reason_of_syscall(SYS_ppoll), REASON_POLL);
	assert_int_equal(reason_of_syscall(SYS_futex), REASON_USER_LOCK);
	assert_int_equal(reason_of_syscall(SYS_clock_nanosleep), REASON_TIMER);
	assert_int_equal(reason_of_syscall(SYS_read), REASON_OTHER); /* from any kind of file */
	assert_int_equal(reason_of_syscall(-1), REASON_OTHER);
}

/* Without a stack, the record's own fields decide. */
static void test_without_a_stack(void **state)
{
	static const struct {
		struct er_wait w;
		enum er_reason reason;
	} cases[] = {
		{ { .state = ER_OFF_SLEEP, .syscall = -1 }, REASON_NONE },
		{ { .state = ER_OFF_SLEEP, .syscall = SYS_flock }, REASON_FILE_LOCK },
		{ { .state = ER_OFF_SLEEP, .syscall = SYS_read, .flags = ER_WAIT_IO }, REASON_DISK },
		{ { .state = ER_OFF_SLEEP, .syscall = -1, .flags = ER_WAIT_EXITING }, REASON_EXIT },
		{ { .state = ER_OFF_LOCK, .syscall = SYS_futex }, REASON_USER_LOCK },
		{ { .state = ER_OFF_STOP, .syscall = -1 }, REASON_STOPPED },
		{ { .state = ER_OFF_DFAULT, .syscall = -1 }, REASON_FAULT },
		{ { .state = ER_OFF_SLEEP, .flags = ER_WAIT_FROZEN }, REASON_FROZEN },
		{ { .state = ER_OFF_SLEEP, .flags = ER_WAIT_THROTTLED }, REASON_THROTTLED },
	};
	struct stacks *st = stacks_new(NULL);
	struct reasons *r = reasons_new(NULL, st);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(reason_blocked(r, &cases[i].w), cases[i].reason);
	assert_int_equal(reason_runq(&(struct er_wait){ .flags = ER_WAIT_PREEMPTED }),
			 REASON_PREEMPTED);
	assert_int_equal(reason_runq(&(struct er_wait){ .flags = ER_WAIT_NEW }), REASON_WOKEN);
	assert_int_equal(reason_runq(&(struct er_wait){ .flags = ER_WAIT_THROTTLED }),
			 REASON_THROTTLED);
	assert_int_equal(reason_rest(r, ER_OFF_CPU, 0, false), REASON_NONE);
	assert_int_equal(reason_rest(r, ER_OFF_LOCK, 0, false), REASON_USER_LOCK);
	assert_int_equal(reason_rest(r, ER_OFF_SLEEP, 0, true), REASON_NONE);
	reasons_free(r);
	stacks_free(st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_doings),
		cmocka_unit_test(test_syscalls),
		cmocka_unit_test(test_without_a_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
