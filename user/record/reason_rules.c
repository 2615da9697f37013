/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/reason_rules.h"

#include <stddef.h>
#include <sys/syscall.h>

struct function_rule {
	const char *pattern; /* a name, or with a final '*' the beginning of names */
	enum er_reason reason;
};

/*
 * The first row that any function of a stack matches decides, so the most specific functions come
 * first. A wait for a mutex during an fsync has the reason lock; a wait for a disk block there has
 * the reason fsync. Main functions of kernel threads come last, since every stack of such a thread
 * has one. Names are those of Linux 6.1 to 6.18; suffixes such as ".isra.0" are ignored.
 */
static const struct function_rule functions[] = {
	/* Stopped from outside, wherever the thread was. */
	{ "__refrigerator", REASON_FROZEN },
	{ "ptrace_stop", REASON_TRACED },
	{ "do_signal_stop", REASON_STOPPED },
	{ "throttle_cfs_rq_work", REASON_THROTTLED },
	{ "futex_wait*", REASON_USER_LOCK },
	{ "futex_do_wait", REASON_USER_LOCK },
	{ "__futex_wait", REASON_USER_LOCK },
	{ "futex_lock_pi", REASON_USER_LOCK },

	/* The kernel's own locks. */
	{ "__mutex_lock*", REASON_KERNEL_LOCK },
	{ "mutex_lock*", REASON_KERNEL_LOCK },
	{ "__ww_mutex_lock*", REASON_KERNEL_LOCK },
	{ "ww_mutex_lock*", REASON_KERNEL_LOCK },
	{ "rwsem_down_*", REASON_KERNEL_LOCK },
	{ "down_read*", REASON_KERNEL_LOCK },
	{ "down_write*", REASON_KERNEL_LOCK },
	{ "__down*", REASON_KERNEL_LOCK },
	{ "down", REASON_KERNEL_LOCK },
	{ "down_interruptible", REASON_KERNEL_LOCK },
	{ "down_killable", REASON_KERNEL_LOCK },
	{ "down_timeout", REASON_KERNEL_LOCK },
	{ "__rt_mutex_*", REASON_KERNEL_LOCK },
	{ "rt_mutex_*", REASON_KERNEL_LOCK },
	{ "rt_spin_lock*", REASON_KERNEL_LOCK },
	{ "__percpu_down_*", REASON_KERNEL_LOCK },
	{ "percpu_down_*", REASON_KERNEL_LOCK },
	{ "percpu_rwsem_wait", REASON_KERNEL_LOCK },
	{ "__lock_sock*", REASON_KERNEL_LOCK },
	{ "lock_sock_nested", REASON_KERNEL_LOCK },

	/* Memory was short. */
	{ "kswapd_try_to_sleep", REASON_NO_WORK },
	{ "balance_pgdat", REASON_RECLAIM },
	{ "try_to_free_*", REASON_RECLAIM },
	{ "do_try_to_free_pages", REASON_RECLAIM },
	{ "__alloc_pages_direct_*", REASON_RECLAIM },
	{ "shrink_*", REASON_RECLAIM },
	{ "reclaim_throttle", REASON_RECLAIM },
	{ "mem_cgroup_handle_over_high", REASON_RECLAIM },
	{ "__mem_cgroup_handle_over_high", REASON_RECLAIM },
	{ "compact_zone*", REASON_RECLAIM },
	{ "out_of_memory", REASON_RECLAIM },
	{ "mem_cgroup_oom*", REASON_RECLAIM },

	{ "do_exit", REASON_EXIT },
	{ "exit_mm*", REASON_EXIT },
	{ "vfs_coredump", REASON_EXIT },
	{ "do_coredump", REASON_EXIT },

	/* Writing data back. */
	{ "jbd2_log_wait_commit", REASON_WRITEBACK },
	{ "jbd2_complete_transaction", REASON_WRITEBACK },
	{ "jbd2_journal_commit_transaction", REASON_WRITEBACK },
	{ "wait_transaction_locked", REASON_WRITEBACK },
	{ "do_get_write_access", REASON_WRITEBACK },
	{ "jbd2_*checkpoint*", REASON_WRITEBACK },
	{ "xfs_log_force*", REASON_WRITEBACK },
	{ "xlog_*", REASON_WRITEBACK },
	{ "btrfs_sync_log", REASON_WRITEBACK },
	{ "btrfs_wait_ordered*", REASON_WRITEBACK },
	{ "btrfs_commit_transaction", REASON_WRITEBACK },
	{ "vfs_fsync*", REASON_WRITEBACK },
	{ "do_fsync", REASON_WRITEBACK },
	{ "ksys_sync", REASON_WRITEBACK },
	{ "ksys_sync_file_range", REASON_WRITEBACK },
	{ "sync_filesystem", REASON_WRITEBACK },
	{ "sync_inodes_sb", REASON_WRITEBACK },
	{ "file_write_and_wait*", REASON_WRITEBACK },
	{ "filemap_write_and_wait*", REASON_WRITEBACK },
	{ "__filemap_fdatawait*", REASON_WRITEBACK },
	{ "filemap_fdatawait*", REASON_WRITEBACK },
	{ "folio_wait_writeback*", REASON_WRITEBACK },
	{ "folio_wait_stable", REASON_WRITEBACK },
	{ "wb_wait_*", REASON_WRITEBACK },
	{ "wb_writeback", REASON_WRITEBACK },
	{ "wb_workfn", REASON_WRITEBACK },
	{ "balance_dirty_pages*", REASON_WRITEBACK },

	{ "exc_page_fault", REASON_FAULT },
	{ "asm_exc_page_fault", REASON_FAULT },
	{ "handle_mm_fault", REASON_FAULT },
	{ "do_mem_abort", REASON_FAULT },

	/* Waiting for any of several events. */
	{ "io_cqring_wait*", REASON_IO_URING },
	{ "io_uring_cancel*", REASON_IO_URING },
	{ "io_sq_thread", REASON_IO_URING },
	{ "ep_poll", REASON_POLL },
	{ "do_epoll_*wait", REASON_POLL },
	{ "do_sys_poll", REASON_POLL },
	{ "do_poll*", REASON_POLL },
	{ "do_select", REASON_POLL },
	{ "core_sys_select", REASON_POLL },
	{ "io_getevents", REASON_DISK },
	{ "do_io_getevents", REASON_DISK },
	{ "read_events", REASON_DISK },

	{ "pipe_*", REASON_PIPE },
	{ "anon_pipe_*", REASON_PIPE },
	{ "fifo_*", REASON_PIPE },
	{ "wait_for_partner", REASON_PIPE },
	{ "wait_for_space", REASON_PIPE },
	{ "splice_*pipe*", REASON_PIPE },
	{ "do_splice", REASON_PIPE },
	{ "do_tee", REASON_PIPE },

	{ "n_tty_*", REASON_TTY },
	{ "tty_*", REASON_TTY },
	{ "uart_*", REASON_TTY },

	{ "sk_wait_data", REASON_NETWORK },
	{ "sk_stream_wait_*", REASON_NETWORK },
	{ "sock_*", REASON_NETWORK },
	{ "__sock_*", REASON_NETWORK },
	{ "__skb_wait_for_more_packets", REASON_NETWORK },
	{ "__skb_recv_*", REASON_NETWORK },
	{ "skb_recv_*", REASON_NETWORK },
	{ "unix_*", REASON_NETWORK },
	{ "inet_*", REASON_NETWORK },
	{ "__inet_*", REASON_NETWORK },
	{ "tcp_*", REASON_NETWORK },
	{ "udp_*", REASON_NETWORK },
	{ "netlink_*", REASON_NETWORK },
	{ "vsock_*", REASON_NETWORK },
	{ "packet_*msg", REASON_NETWORK },
	{ "rpc_wait*", REASON_NETWORK },
	{ "__rpc_*", REASON_NETWORK },
	{ "nfs_wait_*", REASON_NETWORK },
	{ "wait_for_response", REASON_NETWORK },
	{ "p9_client_rpc", REASON_NETWORK },
	{ "svc_recv", REASON_NO_WORK },

	{ "do_nanosleep", REASON_TIMER },
	{ "hrtimer_nanosleep", REASON_TIMER },
	{ "msleep*", REASON_TIMER },
	{ "usleep_range*", REASON_TIMER },
	{ "fsleep", REASON_TIMER },

	{ "do_wait", REASON_CHILD }, /* not do_wait_intr*, which wait for other things */
	{ "__do_wait", REASON_CHILD },
	{ "kernel_wait*", REASON_CHILD },
	{ "wait_for_vfork_done", REASON_CHILD },
	{ "kernel_clone", REASON_CHILD },

	{ "flock_lock_*", REASON_FILE_LOCK },
	{ "locks_lock_*", REASON_FILE_LOCK },
	{ "posix_lock_*", REASON_FILE_LOCK },
	{ "fcntl_setlk*", REASON_FILE_LOCK },
	{ "do_lock_file_wait", REASON_FILE_LOCK },
	{ "__break_lease", REASON_FILE_LOCK },

	{ "do_sigtimedwait", REASON_SIGNAL },
	{ "sigsuspend", REASON_SIGNAL },
	{ "__do_sys_pause", REASON_SIGNAL },
	{ "__ia32_sys_pause", REASON_SIGNAL },
	{ "__x64_sys_pause", REASON_SIGNAL },

	{ "eventfd_*", REASON_EVENT },
	{ "signalfd_*", REASON_EVENT },
	{ "timerfd_*", REASON_EVENT },
	{ "inotify_*", REASON_EVENT },
	{ "fanotify_*", REASON_EVENT },
	{ "userfaultfd_*", REASON_EVENT },
	{ "handle_userfault", REASON_EVENT },
	{ "kcov_*", REASON_EVENT },
	{ "devkmsg_read", REASON_EVENT },
	{ "do_syslog", REASON_EVENT },
	{ "evdev_read", REASON_EVENT },
	{ "fuse_dev_*", REASON_EVENT },

	{ "do_msgrcv", REASON_IPC },
	{ "do_msgsnd", REASON_IPC },
	{ "do_semtimedop", REASON_IPC },
	{ "__do_semtimedop", REASON_IPC },
	{ "wq_sleep", REASON_IPC },
	{ "do_mq_*", REASON_IPC },
	{ "binder_*", REASON_IPC },

	/* Block devices. */
	{ "io_schedule*", REASON_DISK },
	{ "submit_bio_wait", REASON_DISK },
	{ "blk_*", REASON_DISK },
	{ "__blk_*", REASON_DISK },
	{ "blkdev_*", REASON_DISK },
	{ "__blkdev_*", REASON_DISK },
	{ "rq_qos_wait", REASON_DISK },
	{ "wbt_wait", REASON_DISK },
	{ "folio_wait_*", REASON_DISK },
	{ "__folio_lock*", REASON_DISK },
	{ "bit_wait_io*", REASON_DISK },
	{ "__wait_on_buffer", REASON_DISK },
	{ "iomap_dio_*", REASON_DISK },
	{ "__iomap_dio_*", REASON_DISK },
	{ "scsi_execute_*", REASON_DISK },
	{ "swap_read_*", REASON_DISK },
	{ "io_wq_submit_work", REASON_DISK },

	/* Something inside the kernel. */
	{ "synchronize_*", REASON_KERNEL_SYNC },
	{ "__synchronize_*", REASON_KERNEL_SYNC },
	{ "__wait_rcu_gp", REASON_KERNEL_SYNC },
	{ "wait_rcu_*", REASON_KERNEL_SYNC },
	{ "rcu_barrier*", REASON_KERNEL_SYNC },
	{ "kthread_stop*", REASON_KERNEL_SYNC },
	{ "__kthread_create*", REASON_KERNEL_SYNC },
	{ "__flush_*", REASON_KERNEL_SYNC },
	{ "flush_*", REASON_KERNEL_SYNC },
	{ "__cancel_*work*", REASON_KERNEL_SYNC },
	{ "stop_one_cpu", REASON_KERNEL_SYNC },
	{ "stop_two_cpus", REASON_KERNEL_SYNC },
	{ "stop_machine*", REASON_KERNEL_SYNC },
	{ "__stop_cpus", REASON_KERNEL_SYNC },
	{ "affine_move_task", REASON_KERNEL_SYNC },
	{ "wait_for_completion*", REASON_KERNEL_SYNC },
	{ "__wait_for_common", REASON_KERNEL_SYNC },
	{ "wait_for_common*", REASON_KERNEL_SYNC },
	{ "call_usermodehelper_exec", REASON_KERNEL_SYNC },
	{ "rcu_gp_fqs_loop", REASON_KERNEL_SYNC },
	{ "rcu_tasks_wait_gp", REASON_KERNEL_SYNC },

	/* Main functions of kernel threads. The frames they call show what a thread did. */
	{ "process_one_work", REASON_OTHER },
	{ "io_worker_handle_work", REASON_OTHER },
	{ "worker_thread", REASON_NO_WORK },
	{ "rescuer_thread", REASON_NO_WORK },
	{ "io_wq_worker", REASON_NO_WORK },
	{ "kswapd", REASON_NO_WORK },
	{ "kcompactd", REASON_NO_WORK },
	{ "khugepaged", REASON_NO_WORK },
	{ "ksm_scan_thread", REASON_NO_WORK },
	{ "oom_reaper", REASON_NO_WORK },
	{ "smpboot_thread_fn", REASON_NO_WORK },
	{ "kthread_worker_fn", REASON_NO_WORK },
	{ "kthreadd", REASON_NO_WORK },
	{ "kjournald2", REASON_NO_WORK },
	{ "xfsaild", REASON_NO_WORK },
	{ "transaction_kthread", REASON_NO_WORK },
	{ "cleaner_kthread", REASON_NO_WORK },
	{ "ext4_lazyinit_thread", REASON_NO_WORK },
	{ "kauditd_thread", REASON_NO_WORK },
	{ "irq_thread", REASON_NO_WORK },
	{ "irq_wait_for_interrupt", REASON_NO_WORK },
	{ "rcu_*kthread*", REASON_NO_WORK },
	{ "rcu_tasks_*", REASON_NO_WORK },
	{ "scsi_error_handler", REASON_NO_WORK },
	{ "usb_stor_control_thread", REASON_NO_WORK },
	{ "hub_thread", REASON_NO_WORK },
	{ "devtmpfsd*", REASON_NO_WORK },
	{ "devtmpfs_work_loop", REASON_NO_WORK },
	{ "watchdog*", REASON_NO_WORK },
	{ "psi_rtpoll_worker", REASON_NO_WORK },
	{ "psi_poll_worker", REASON_NO_WORK },
	{ "vhost_task_fn", REASON_NO_WORK },
	{ "dmcrypt_write", REASON_NO_WORK },
	{ "napi_threaded_poll*", REASON_NO_WORK },
	{ "nfsd", REASON_NO_WORK },
	{ "lockd", REASON_NO_WORK },
};

enum { NFUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

/* Used if there is no stack, or if it implies no reason. */
static const struct {
	int nr;
	enum er_reason reason;
} syscalls[] = {
#ifdef SYS_pause
	{ SYS_pause, REASON_SIGNAL },
#endif
#ifdef SYS_poll
	{ SYS_poll, REASON_POLL },
	{ SYS_select, REASON_POLL },
	{ SYS_epoll_wait, REASON_POLL },
	{ SYS_vfork, REASON_CHILD },
#endif
	{ SYS_ppoll, REASON_POLL },
	{ SYS_pselect6, REASON_POLL },
	{ SYS_epoll_pwait, REASON_POLL },
#ifdef SYS_epoll_pwait2
	{ SYS_epoll_pwait2, REASON_POLL },
#endif
	{ SYS_nanosleep, REASON_TIMER },
	{ SYS_clock_nanosleep, REASON_TIMER },
	{ SYS_wait4, REASON_CHILD },
	{ SYS_waitid, REASON_CHILD },
	{ SYS_futex, REASON_USER_LOCK },
	{ SYS_accept, REASON_NETWORK },
	{ SYS_accept4, REASON_NETWORK },
	{ SYS_connect, REASON_NETWORK },
	{ SYS_recvfrom, REASON_NETWORK },
	{ SYS_recvmsg, REASON_NETWORK },
	{ SYS_recvmmsg, REASON_NETWORK },
	{ SYS_sendto, REASON_NETWORK },
	{ SYS_sendmsg, REASON_NETWORK },
	{ SYS_sendmmsg, REASON_NETWORK },
	{ SYS_flock, REASON_FILE_LOCK },
	{ SYS_fsync, REASON_WRITEBACK },
	{ SYS_fdatasync, REASON_WRITEBACK },
	{ SYS_sync, REASON_WRITEBACK },
	{ SYS_syncfs, REASON_WRITEBACK },
	{ SYS_sync_file_range, REASON_WRITEBACK },
	{ SYS_msync, REASON_WRITEBACK },
	{ SYS_msgrcv, REASON_IPC },
	{ SYS_msgsnd, REASON_IPC },
	{ SYS_semop, REASON_IPC },
	{ SYS_semtimedop, REASON_IPC },
	{ SYS_mq_timedreceive, REASON_IPC },
	{ SYS_mq_timedsend, REASON_IPC },
	{ SYS_rt_sigsuspend, REASON_SIGNAL },
	{ SYS_rt_sigtimedwait, REASON_SIGNAL },
	{ SYS_io_getevents, REASON_DISK },
#ifdef SYS_io_uring_enter
	{ SYS_io_uring_enter, REASON_IO_URING },
#endif
	{ SYS_exit, REASON_EXIT },
	{ SYS_exit_group, REASON_EXIT },
};

/* A '*' matches any characters. A name ends at its first dot. */
static bool matches(const char *pattern, const char *name)
{
	const char *star = NULL, *retry = NULL;

	for (;;) {
		bool end = !*name || *name == '.';

		if (*pattern == '*') {
			star = pattern++;
			retry = name;
		} else if (!end && *pattern == *name) {
			pattern++;
			name++;
		} else if (end && !*pattern) {
			return true;
		} else if (star && *retry && *retry != '.') {
			pattern = star + 1;
			name = ++retry;
		} else {
			return false;
		}
	}
}

unsigned reason_rank(const char *name)
{
	unsigned i = 0;

	while (i < NFUNCTIONS && !matches(functions[i].pattern, name))
		i++;
	return i < NFUNCTIONS ? i : REASON_RANK_NONE;
}

enum er_reason reason_of_rank(unsigned rank)
{
	return rank < NFUNCTIONS ? functions[rank].reason : REASON_OTHER;
}

enum er_reason reason_of_functions(const char *const *names, size_t n)
{
	unsigned best = REASON_RANK_NONE;

	for (size_t i = 0; i < n; i++) {
		unsigned rank = reason_rank(names[i]);

		best = rank < best ? rank : best;
	}
	return reason_of_rank(best);
}

enum er_reason reason_of_syscall(int nr)
{
	for (size_t i = 0; i < sizeof(syscalls) / sizeof(syscalls[0]); i++) {
		if (syscalls[i].nr == nr)
			return syscalls[i].reason;
	}
	return REASON_OTHER;
}

#define ENTRY "asm_*"

bool reason_is_entry(const char *name)
{
	return matches(ENTRY, name);
}

enum doing reason_doing(const char *name)
{
	static const struct {
		const char *pattern;
		enum doing doing;
	} rules[] = {
		{ "hrtimer_wakeup", DOING_TIMER },  /* nanosleep, poll, select, epoll, futex */
		/* schedule_timeout(): its timer's process_timeout() tail-calls and has no frame. */
		{ "__run_timers", DOING_TIMER },
		{ "run_timer_softirq", DOING_TIMER },
		{ "alarmtimer_nsleep_wakeup", DOING_TIMER },
		{ "timerfd_tmrproc", DOING_TIMER },
		{ "timerfd_alarmproc", DOING_TIMER },
		{ "it_real_fn", DOING_TIMER },
		{ "posix_timer_fn", DOING_TIMER },
		{ "process_backlog", DOING_DELIVERS },
		{ "__local_bh_enable_ip", DOING_THREAD },
		{ "do_softirq", DOING_THREAD },
		{ "__irq_exit_rcu", DOING_INTERRUPT },
		{ "irq_exit_rcu", DOING_INTERRUPT },
		{ ENTRY, DOING_INTERRUPT },
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (matches(rules[i].pattern, name))
			return rules[i].doing;
	}
	return DOING_UNSAID;
}
