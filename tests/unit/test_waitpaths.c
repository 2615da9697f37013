/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks of waits in reports: paths, functions that take locks, idle threads. */
#include "analysis/views/table.h"
#include "tests/unit/waitviews_fixture.h"

/* Frames that all waits share are left out, but at least one frame stays. */
static void test_paths(void **state)
{
	struct table t = { 0 };
	struct opened o;

	fixture_new(&o);
	put_wait(&o, 1, "main>k:entry_SYSCALL_64_after_hwframe>k:do_syscall_64>k:vfs_read>k:schedule>"
		 "k:__schedule", MS_SLEEP, 1, (struct wait_info){ .length_ns = MS });
	put_wait(&o, 1, "main>k:vfs_read>k:schedule", MS_SLEEP, 1,
		 (struct wait_info){ .length_ns = MS });
	put_wait(&o, 1, "main>k:__x64_sys_clock_nanosleep>k:hrtimer_nanosleep>k:do_nanosleep>k:schedule>k:__schedule",
		 MS_SLEEP, 1, (struct wait_info){ .length_ns = MS });
	put_wait(&o, 1, "main>k:__x64_sys_clock_nanosleep>k:hrtimer_nanosleep", MS_SLEEP, 1,
		 (struct wait_info){ .length_ns = MS });
	put_wait(&o, 1, "k:schedule>k:__schedule", MS_SLEEP, 1, (struct wait_info){ .length_ns = MS });
	put_wait(&o, 1, "<sh_PID_12>>k:do_wait", MS_SLEEP, 1, (struct wait_info){ .length_ns = MS });
	put_wait(&o, 1, "<sh_PID_13>>k:do_wait", MS_SLEEP, 1, (struct wait_info){ .length_ns = MS });
	fixture_open(&o);
	assert_int_equal(view_waits(&o.view, &t, &o.diag), 0);
	assert_int_equal(row_of(&t, "vfs_read < main")->cells[0].i, 2 * MS);
	assert_int_equal(row_of(&t, "hrtimer_nanosleep < __x64_sys_clock_nanosleep < main")->cells[0].i, 2 * MS);
	assert_int_equal(row_of(&t, "__schedule")->cells[0].i, MS);
	assert_int_equal(row_of(&t, "do_wait < <sh>")->cells[0].i, 2 * MS);
	table_free(&t);
	fixture_free(&o);
}

/* Frames between the wait and the system call are folded; stacks that differ only there are one. */
static void test_folded(void **state)
{
	static const struct wait_info info = { .length_ns = MS };
	struct table t = { 0 };
	struct opened o;

	fixture_new(&o);
	put_wait(&o, 1, "main>k:__x64_sys_fsync>k:do_fsync>k:ext4_sync_file>k:submit_wait", MS_SLEEP, 1, info);
	put_wait(&o, 1, "main>k:__x64_sys_fsync>k:do_fsync>k:xfs_sync_file>k:submit_wait", MS_SLEEP, 1, info);
	put_wait(&o, 1, "main>k:do_syscall_64>k:ksys_read>k:vfs_read>k:ext4_read>k:page_wait", MS_SLEEP, 1, info);
	put_wait(&o, 1, "main>k:__x64_sys_read>k:vfs_read>k:pipe_wait", MS_SLEEP, 1, info);
	put_wait(&o, 1, "main>k:exc_page_fault>k:b>k:c>k:fault_wait", MS_SLEEP, 1, info);
	put_wait(&o, 1, "k:kthread>k:b>k:c>k:thread_wait", MS_SLEEP, 1, info);
	fixture_open(&o);
	assert_int_equal(view_waits(&o.view, &t, &o.diag), 0);
	assert_int_equal(row_of(&t, "submit_wait < .. < __x64_sys_fsync < main")->cells[0].i, 2 * MS);
	row_of(&t, "page_wait < .. < ksys_read < main");
	row_of(&t, "pipe_wait < vfs_read < __x64_sys_read < main");
	row_of(&t, "fault_wait < c < b < exc_page_fault < main");
	row_of(&t, "thread_wait < c < b < kthread");
	table_free(&t);
	o.view.all_frames = true;
	assert_int_equal(view_waits(&o.view, &t, &o.diag), 0);
	row_of(&t, "submit_wait < ext4_sync_file < do_fsync < __x64_sys_fsync < main");
	table_free(&t);
	fixture_free(&o);
}

/* Functions that call each other in a cycle appear once, however deep the recursion was. */
static void test_cycles(void **state)
{
	static const struct wait_info info = { .length_ns = MS };
	struct table t = { 0 };
	struct opened o;

	fixture_new(&o);
	put_wait(&o, 1, "main>list>run>read>k:pipe_wait", MS_SLEEP, 1, info);
	put_wait(&o, 1, "main>list>run>list>run>list>run>read>k:pipe_wait", MS_SLEEP, 1, info);
	put_wait(&o, 1, "main>list>list>run>run>list>run>read>k:pipe_wait", MS_SLEEP, 1, info);
	put_wait(&o, 1, "main>list>run>list>read>k:pipe_wait", MS_SLEEP, 1, info);
	fixture_open(&o);
	assert_int_equal(view_waits(&o.view, &t, &o.diag), 0);
	assert_int_equal(row_of(&t, "pipe_wait < read < run < list < main")->cells[0].i, 3 * MS);
	assert_int_equal(row_of(&t, "pipe_wait < read < list < run < list < main")->cells[0].i, MS);
	table_free(&t);
	o.view.all_frames = true;
	assert_int_equal(view_waits(&o.view, &t, &o.diag), 0);
	assert_int_equal(row_of(&t, "pipe_wait < read < run < list < main")->cells[0].i, MS);
	assert_int_equal(row_of(&t, "pipe_wait < read < run < list < run < list < run < list < main")->cells[0].i, MS);
	table_free(&t);
	fixture_free(&o);
}

/* The reasons of waits for a CPU stand below their sum. */
static void test_cpu_heading(void **state)
{
	struct table t = { 0 };
	const struct row *r;
	struct opened o;

	fixture_new(&o);
	put_wait(&o, 1, "main>a", MS_WAIT_CPU, 5, (struct wait_info){ .reason = REASON_PREEMPTED });
	put_wait(&o, 1, "main>b", MS_WAIT_CPU, 4, (struct wait_info){ .reason = REASON_WOKEN });
	put_wait(&o, 1, "main>c", MS_SLEEP, 7, (struct wait_info){ .reason = REASON_PIPE });
	fixture_open(&o);
	assert_int_equal(view_waits(&o.view, &t, &o.diag), 0);
	r = row_of(&t, "wait for a CPU:");
	assert_int_equal(r->cells[0].i, 9 * MS);
	assert_ptr_equal(r, &t.rows.data[1]);
	assert_string_equal(text_of(&t, 2), "  preempted");
	assert_string_equal(text_of(&t, 3), "  woken, no CPU");
	assert_string_equal(text_of(&t, 4), "pipe");
	table_free(&t);
	fixture_free(&o);
}

/*
 * The function that took the lock is the first one of a program outside the C library, even if
 * frames are missing.
 */
static void test_taker(void **state)
{
	static const struct {
		const char *stack, *want;
	} rows[] = {
		{ "main>work>0x7000010>0x7000020>k:futex_wait", "lock at 0x1000, taken in work" },
		{ "main>0x7000010>k:futex_wait", "lock at 0x2000, taken in main" },
		{ "0x7000030>0x7000020>k:futex_wait",
		  "lock at 0x3000, taken in a function that no stack shows" },
		{ "StubRoutines (1)>void App.f>void java.util.concurrent.locks.ReentrantLock.lock>"
		  "void java.util.concurrent.locks.LockSupport.park>void jdk.internal.misc.Unsafe.park>0x8000010>k:futex_wait",
		  "one lock or several, taken in void App.f" },
		/* An interpreted caller that is not known; and a lock of the virtual machine. */
		{ "0x8000030>Unsafe_Park>0x8000010>k:futex_wait",
		  "lock at 0x5000, taken in a function that no stack shows" },
	};
	struct table t = { 0 };
	struct opened o;

	fixture_new(&o);
	exp_builder_segment(o.builder, "/lib/x86_64-linux-gnu/libc.so.6", 0x7000000, 0x1000, 0);
	exp_builder_segment(o.builder, "/usr/lib/jvm/lib/server/libjvm.so", 0x8000000, 0x1000, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		lock_wait(&o, rows[i].stack, 0x1000 * (i + 1), 0);
	fixture_open(&o);
	assert_int_equal(view_locks(&o.view, true, &t, &o.diag), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *want = xasprintf("test, PID 4711: %s", rows[i].want);

		assert_string_equal(text_of(&t, row_of(&t, want) - t.rows.data), want);
		free(want);
	}
	table_free(&t);
	fixture_free(&o);
}

/* The function nearest to the leaf tells what the thread waited for. */
static void test_lock_kinds(void **state)
{
	static const struct {
		const char *stack, *kind;
	} rows[] = {
		{ "main>pthread_mutex_lock>__lll_lock_wait>k:futex_wait", "mutex" },
		{ "main>__pthread_mutex_lock_full>k:futex_wait", "mutex" },
		{ "main>pthread_cond_wait>__pthread_mutex_cond_lock>k:futex_wait", "mutex" },
		{ "main>pthread_cond_timedwait>k:futex_wait", "condition variable" },
		{ "main>__pthread_rwlock_wrlock>k:futex_wait", "rwlock" },
		{ "main>__new_sem_wait_slow64.constprop.0>k:futex_wait", "semaphore" },
		{ "main>sem_timedwait>k:futex_wait", "semaphore" },
		{ "main>pthread_barrier_wait>k:futex_wait", "barrier" },
		{ "main>__pthread_clockjoin_ex>k:futex_wait", "join" },
		{ "main>my_sem_wait>k:futex_wait", "lock" },
		{ "main>LWLockAcquire>pthread_mutex_lock>k:futex_wait", "lock" },
		{ "main>take_gil>pthread_cond_timedwait>k:futex_wait", "lock" },
		{ "void App.f>ObjectMonitor::wait>pthread_cond_wait>k:futex_wait", "condition variable" },
		{ "main>k:pthread_mutex_lock>k:futex_wait", "lock" },
	};
	struct table t = { 0 };
	struct opened o;

	fixture_new(&o);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		lock_wait(&o, rows[i].stack, 0x1000 * (i + 1), 0);
	/* Two kinds at one address: a mutex, and what was in its place later. */
	lock_wait(&o, "main>pthread_mutex_lock>k:futex_wait", 0x100000, 0);
	lock_wait(&o, "main>sem_wait>k:futex_wait", 0x100000, 0);
	lock_wait(&o, "main>pthread_rwlock_rdlock>k:futex_wait", 0x200000, 0);
	lock_wait(&o, "main>pthread_rwlock_wrlock>k:futex_wait", 0x200000, 0);
	fixture_open(&o);
	o.view.limit = 100;
	assert_int_equal(view_locks(&o.view, true, &t, &o.diag), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *want = xasprintf("test, PID 4711: %s at 0x%zx, taken in ", rows[i].kind, 0x1000 * (i + 1));

		row_of(&t, want);
		free(want);
	}
	row_of(&t, "test, PID 4711: lock at 0x100000, taken in ");
	table_free(&t);
	fixture_free(&o);
}

static size_t rows_with(const struct table *t, size_t column, const char *text)
{
	size_t n = 0;

	for (size_t i = 0; i < t->rows.len; i++)
		n += !strcmp(t->rows.data[i].cells[column].s, text);
	return n;
}

/* Idle worker threads of a runtime do not wait for a lock, nor do those that sleep; its other threads may. */
static void test_idle_runtimes(void **state)
{
	static const char *const idle[] = {
		"runtime.mcall>runtime.schedule>runtime.findRunnable>runtime.stopm>runtime.futex",
		"runtime.templateThread>runtime.notesleep>runtime.futexsleep",
		"start>thread_native_entry>WorkerThread::run>PosixSemaphore::wait>k:futex_wait",
		"start>CompileQueue::get>Monitor::wait>k:futex_wait",
		"start>node::(anonymous namespace)::PlatformWorkerThread>uv_cond_wait>pthread_cond_wait>k:futex_wait",
		"start>worker>uv_cond_wait>pthread_cond_wait>k:futex_wait",
		}, *const asleep[] = {
		"start>JVM_SleepNanos>JavaThread::sleep_nanos>pthread_cond_timedwait>k:futex_wait",
		"main>void java.lang.Thread.sleep>k:futex_wait",
	}, *const busy[] = {
		"runtime.mcall>runtime.lock2>runtime.futex",
		"start>Object::lock>Monitor::wait>k:futex_wait",
		"Monitor::wait>CompileQueue::get>k:futex_wait",
		"start>worker>pthread_mutex_lock>k:futex_wait",
	};
	struct table t = { 0 };
	struct opened o;

	fixture_new(&o);
	for (size_t i = 0; i < sizeof(idle) / sizeof(idle[0]); i++)
		lock_wait(&o, idle[i], 0x1000 * (i + 1), 0);
	for (size_t i = 0; i < sizeof(asleep) / sizeof(asleep[0]); i++)
		lock_wait(&o, asleep[i], 0x1000 * (i + 1), 0);
	for (size_t i = 0; i < sizeof(busy) / sizeof(busy[0]); i++)
		lock_wait(&o, busy[i], 0x1000 * (i + 1), 0);
	fixture_open(&o);
	assert_int_equal(view_waits(&o.view, &t, &o.diag), 0);
	assert_int_equal(row_of(&t, "no work, in a language runtime")->cells[0].i, 6 * 4 * MS);
	assert_int_equal(row_of(&t, "timer")->cells[0].i, 2 * 4 * MS);
	row_of(&t, "futex_wait < void java.lang.Thread.sleep < main");
	assert_int_equal(row_of(&t, "user lock")->cells[0].i, 4 * 4 * MS);
	table_free(&t);
	assert_int_equal(view_locks(&o.view, true, &t, &o.diag), 0);
	assert_int_equal(row_of(&t, "<Total>")->cells[0].i, 4 * 4 * MS);
	assert_true(noted(&t, "0.032 sec. in which threads of language runtimes"));
	table_free(&t);
	assert_int_equal(view_longest(&o.view, &t, &o.diag), 0);
	assert_int_equal(t.rows.len, 6);
	assert_int_equal(rows_with(&t, 3, "timer"), 2);
	assert_int_equal(rows_with(&t, 3, "user lock"), 4);
	assert_true(noted(&t, "idle workers of language runtimes"));
	table_free(&t);
	fixture_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_folded),
		cmocka_unit_test(test_cycles),
		cmocka_unit_test(test_cpu_heading),
		cmocka_unit_test(test_taker),
		cmocka_unit_test(test_lock_kinds),
		cmocka_unit_test(test_idle_runtimes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
