/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make_waits DIR: a recording with microstates, one second long, of which every
 * answer is known. waits.1.er, times in milliseconds:
 *
 * PID 12 `app`, TID 12 (main), 13 and 14 (workers)
 *   12: user 100, system 40, trap 10, waits 600 for client's messages (poll), 200
 *       for a timer, 50 for a CPU
 *   13: user 300, waits 350 for the mutex at 0x5000, 100 of them for a timeout, 150
 *       for the disk, 120 for data and 80 for text to be paged in
 *   14: user 450, system 50, waits 200 for the mutex at 0x5000 and 100 for that at
 *       0x6000, 100 for a CPU that 12 has, is stopped for 70, has a kernel fault of 30
 * PID 20 `client`, TID 20: user 400, waits 600 for the pipe from app
 * Not followed: PID 40 `crond` sleeps 990 and computes 10 (in the founder), kernel
 *   thread 5 `kworker/0:1` computes 20 and has no work for 980.
 *
 * Waits for the mutex are sampled: a packet of 13 represents four times its length, one of 14
 * twice its length. Waits for the pipe are traced: each has a packet of its own.
 *
 * lacks.1.er is the same, but its threads.xml says that TID 13 slept for 50 ms more.
 * lives.1.er has processes, in a compressed file. They end in all ways, and two of them have one PID. Three that
 * ended are only in the list of threads.
 * locks.1.er has waits for locks that reports list together: with a common stack, also by way of a third
 * lock, or without an address; and others, which they list apart. Of some the addresses tell nothing.
 * states.1.er is not from er_kernel: each state has amounts that no other state has.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "tests/fixtures/exp_builder.h"

enum { SYS_READ = 0, SYS_POLL = 7, SYS_NANOSLEEP = 35, SYS_FUTEX = 202, LOCK_A = 0x5000,
       LOCK_B = 0x6000 };

#define KENTRY ">k:entry_SYSCALL_64_after_hwframe>k:do_syscall_64>"
#define KSLEEP ">k:schedule>k:__schedule"
#define LOCKED KENTRY "k:__x64_sys_futex>k:futex_wait" KSLEEP
#define FAULTED ">k:asm_exc_page_fault>k:exc_page_fault>k:filemap_fault" KSLEEP

struct wait {
	int thread;
	unsigned end, weight, length; /* ms; length 0: a remainder */
	const char *stack;
	enum er_mstate state;
	enum er_reason reason;
	int syscall;
	unsigned flags;
	uint64_t object;
	unsigned holder, holder_pid, waker, waker_pid;
	const char *waker_stack; /* in the experiment of waker_pid */
};

struct run {
	int thread;
	unsigned end, weight;
	const char *stack;
	enum er_mstate state;
};

static const struct run app_runs[] = {
	{ 12, 160, 100, "main>serve>parse", MS_USER },
	{ 12, 200, 40, "main>serve" KENTRY "k:ksys_write", MS_SYSTEM },
	{ 12, 210, 10, "main>serve>k:asm_exc_page_fault", MS_TRAP },
	{ 13, 300, 300, "start_thread>work>crunch", MS_USER },
	{ 14, 450, 450, "start_thread>work>crunch", MS_USER },
	{ 14, 500, 50, "start_thread>work" KENTRY "k:ksys_write", MS_SYSTEM },
};

static const struct wait app_waits[] = {
	{ 12, 510, 300, 300, "main>serve" KENTRY "k:do_sys_poll" KSLEEP, MS_SLEEP, REASON_POLL,
	  SYS_POLL, 0, 0, 0, 0, 20, 20, "main>ask" KENTRY "k:ksys_write" },
	{ 12, 560, 50, 50, "main>serve" KENTRY "k:do_sys_poll" KSLEEP, MS_WAIT_CPU, REASON_WOKEN,
	  SYS_POLL, 0, 0, 14, 12, 0, 0, NULL },
	{ 12, 860, 300, 300, "main>serve" KENTRY "k:do_sys_poll" KSLEEP, MS_SLEEP, REASON_POLL,
	  SYS_POLL, 0, 0, 0, 0, 20, 20, "main>ask" KENTRY "k:ksys_write" },
	{ 12, 1000, 140, 200, "main>serve>pause" KENTRY "k:hrtimer_nanosleep" KSLEEP, MS_SLEEP,
	  REASON_TIMER, SYS_NANOSLEEP, WFLAG_WAKER_IRQ | WFLAG_OPEN_END, 0, 0, 0, 14, 12, NULL },
	{ 12, 1000, 60, 0, "main>serve>pause" KENTRY "k:hrtimer_nanosleep" KSLEEP, MS_SLEEP,
	  REASON_TIMER, SYS_NANOSLEEP, WFLAG_REST, 0, 0, 0, 0, 0, NULL },
	{ 13, 550, 200, 50, "start_thread>work>lock_queue" LOCKED, MS_USER_LOCK, REASON_USER_LOCK,
	  SYS_FUTEX, 0, LOCK_A, 14, 12, 14, 12, "start_thread>work>unlock_queue" },
	{ 13, 600, 50, 50, "start_thread>work>lock_queue" LOCKED, MS_USER_LOCK, REASON_USER_LOCK,
	  SYS_FUTEX, 0, LOCK_A, 14, 12, 14, 12, "start_thread>work>unlock_queue" },
	{ 13, 700, 100, 100, "start_thread>work>lock_queue" LOCKED, MS_USER_LOCK,
	  REASON_USER_LOCK, SYS_FUTEX, WFLAG_WAKER_IRQ, LOCK_A, 14, 12, 20, 20, NULL },
	{ 13, 850, 150, 150, "start_thread>work>load" KENTRY "k:ksys_read>k:io_schedule" KSLEEP,
	  MS_SLEEP, REASON_DISK, SYS_READ, WFLAG_IO, 0, 0, 0, 5, 0, "k:kthread>k:blk_complete" },
	{ 13, 950, 120, 40, "start_thread>work>crunch" FAULTED, MS_DFAULT, REASON_FAULT, -1,
	  WFLAG_IO, 0x7000000, 0, 0, 5, 0, "k:kthread>k:blk_complete" },
	{ 13, 1000, 80, 80, "start_thread>work>crunch" FAULTED, MS_TFAULT, REASON_FAULT, -1,
	  WFLAG_IO, 0x400000, 0, 0, 5, 0, "k:kthread>k:blk_complete" },
	{ 14, 700, 200, 100, "start_thread>work>lock_queue" LOCKED, MS_USER_LOCK,
	  REASON_USER_LOCK, SYS_FUTEX, 0, LOCK_A, 13, 12, 13, 12, "start_thread>work>unlock_queue" },
	{ 14, 800, 100, 100, "start_thread>work>lock_log" LOCKED, MS_USER_LOCK, REASON_USER_LOCK,
	  SYS_FUTEX, 0, LOCK_B, 12, 12, 12, 12, "main>serve>unlock_log" },
	{ 14, 900, 100, 25, "start_thread>work>crunch" KSLEEP, MS_WAIT_CPU, REASON_PREEMPTED, -1,
	  0, 0, 12, 12, 0, 0, NULL },
	{ 14, 970, 70, 70, "start_thread>work" KENTRY "k:do_signal_stop" KSLEEP, MS_STOPPED,
	  REASON_STOPPED, -1, 0, 0, 0, 0, 40, 40, "<crond_PID_40>" },
	{ 14, 1000, 30, 30, "start_thread>work>k:kernel_fault" KSLEEP, MS_KFAULT, REASON_FAULT, -1,
	  0, 0, 0, 0, 0, 0, NULL },
};

static const struct run client_runs[] = {
	{ 20, 400, 200, "main>ask>think", MS_USER },
	{ 20, 800, 200, "main>ask>think", MS_USER },
};

static const struct wait client_waits[] = {
	{ 20, 200, 200, 200, "main>ask" KENTRY "k:pipe_read" KSLEEP, MS_SLEEP, REASON_PIPE, SYS_READ,
	  WFLAG_TRACED | WFLAG_OPEN_START, 0, 0, 0, 12, 12, "main>serve" KENTRY "k:ksys_write" },
	{ 20, 600, 200, 200, "main>ask" KENTRY "k:pipe_read" KSLEEP, MS_SLEEP, REASON_PIPE, SYS_READ,
	  WFLAG_TRACED, 0, 0, 0, 12, 12, "main>serve" KENTRY "k:ksys_write" },
	{ 20, 1000, 200, 200, "main>ask" KENTRY "k:pipe_read" KSLEEP, MS_SLEEP, REASON_PIPE,
	  SYS_READ, WFLAG_TRACED | WFLAG_OPEN_END, 0, 0, 0, 0, 0, NULL },
};

static const struct wait other_waits[] = {
	{ 40, 995, 990, 990, "<crond_PID_40>" KENTRY "k:hrtimer_nanosleep" KSLEEP, MS_SLEEP,
	  REASON_TIMER, SYS_NANOSLEEP, WFLAG_WAKER_IRQ, 0, 0, 0, 14, 12, NULL },
	{ 5, 990, 980, 490, "k:kthread>k:worker_thread" KSLEEP, MS_SLEEP, REASON_NO_WORK, -1, 0, 0,
	  0, 0, 13, 12, "start_thread>work>load" KENTRY "k:ksys_read>k:io_schedule" },
};

static const char threads[] =
	"<thread pid=\"12\" tid=\"12\" comm=\"app\" begin=\"0\" end=\"1000000000\" run=\"150000000\" "
	"user=\"100000000\" system=\"50000000\" sleep=\"800000000\" wait=\"50000000\" waits=\"4\" "
	"experiment=\"_app_PID_12.1.er\"/>\n"
	"<thread pid=\"12\" tid=\"13\" comm=\"worker\" begin=\"0\" end=\"%s000000\" run=\"300000000\" "
	"user=\"300000000\" lock=\"350000000\" sleep=\"%s000000\" dfault=\"120000000\" "
	"tfault=\"80000000\" waits=\"13\" born=\"1\" experiment=\"_app_PID_12.1.er\"/>\n"
	"<thread pid=\"12\" tid=\"14\" comm=\"worker\" begin=\"0\" end=\"1000000000\" run=\"500000000\" "
	"user=\"450000000\" system=\"50000000\" lock=\"300000000\" wait=\"100000000\" stop=\"70000000\" "
	"kfault=\"30000000\" waits=\"3\" preempted=\"4\" experiment=\"_app_PID_12.1.er\"/>\n"
	"<thread pid=\"20\" tid=\"20\" comm=\"client\" begin=\"0\" end=\"1000000000\" run=\"400000000\" "
	"user=\"400000000\" sleep=\"600000000\" waits=\"3\" experiment=\"_client_PID_20.1.er\"/>\n"
	"<thread pid=\"40\" tid=\"40\" comm=\"crond\" begin=\"0\" end=\"1000000000\" run=\"10000000\" "
	"sleep=\"990000000\" experiment=\"_others_PID_0.1.er\"/>\n"
	"<thread pid=\"0\" tid=\"5\" comm=\"kworker/0:1\" begin=\"0\" end=\"1000000000\" run=\"20000000\" "
	"sleep=\"980000000\" experiment=\"_others_PID_0.1.er\"/>";

struct recording {
	struct exp_builder *founder, *app, *client, *others;
};

static struct exp_builder *of_process(const struct recording *r, unsigned pid)
{
	return pid == 12 ? r->app : pid == 20 ? r->client : r->others;
}

static void put_runs(struct exp_builder *b, const struct run *runs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		exp_builder_at(b, (uint64_t)(runs[i].end - runs[i].weight) * BUILDER_TICK_NS);
		exp_builder_profile(b, runs[i].thread, runs[i].stack, runs[i].state, runs[i].weight);
	}
}

static void put_waits(const struct recording *r, struct exp_builder *b, const struct wait *waits,
		      size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct wait *w = &waits[i];
		struct wait_info info = {
			.reason = w->reason, .syscall = w->syscall, .flags = w->flags,
			.length_ns = (uint64_t)w->length * BUILDER_TICK_NS, .object = w->object,
			.holder = w->holder, .holder_pid = w->holder_pid, .waker = w->waker,
			.waker_pid = w->waker_pid,
		};
		int pid = b != r->others ? w->thread : w->thread == 40 ? 40 : 0;

		if (w->waker_stack)
			info.waker_stack = exp_builder_stack(of_process(r, w->waker_pid),
							     w->waker_stack);
		/*
		 * The builder assumes that a wait began its weight ago. Only the end matters here.
		 */
		exp_builder_at(b, (uint64_t)w->end * BUILDER_TICK_NS -
					  (uint64_t)w->weight * BUILDER_TICK_NS);
		exp_builder_wait_of(b, pid, w->thread, w->stack, w->state, w->weight, &info);
	}
}

#define ALL(a) (a), sizeof(a) / sizeof((a)[0])

static void finish(struct exp_builder *b)
{
	exp_builder_at(b, (uint64_t)1000 * BUILDER_TICK_NS);
	exp_builder_close(b);
}

static void record(const char *dir, const char *name, const char *end13, const char *sleep13)
{
	__cleanup(freep) char *text = xasprintf(threads, end13, sleep13);
	struct recording r = { .founder = exp_builder_new_kernel(dir, name) };

	r.app = exp_builder_sub_states(r.founder, "_app_PID_12.1.er", "./app serve", 12, STATES_ALL);
	r.client = exp_builder_sub_states(r.founder, "_client_PID_20.1.er", "./client", 20,
					  STATES_ALL);
	r.others = exp_builder_sub_states(r.founder, "_others_PID_0.1.er", "others", 0, STATES_ALL);
	exp_builder_wait_of(r.founder, 40, 40, "<crond_PID_40>", MS_USER, 10, NULL);
	exp_builder_wait_of(r.founder, 0, 5, "k:kthread>k:worker_thread", MS_KERNEL_CPU, 20, NULL);
	put_runs(r.app, ALL(app_runs));
	put_runs(r.client, ALL(client_runs));
	put_waits(&r, r.app, ALL(app_waits));
	put_waits(&r, r.client, ALL(client_waits));
	put_waits(&r, r.others, ALL(other_waits));
	expwriter_text(exp_builder_writer(r.founder), "threads.xml", text);
	expwriter_text(exp_builder_writer(r.founder), "names.xml",
		       "<name pid=\"12\" tid=\"13\" at=\"0\" comm=\"worker\"/>");
	finish(r.app);
	finish(r.client);
	finish(r.others);
	finish(r.founder);
}

static void all_ends(const char *dir)
{
	struct exp_builder *b = exp_builder_new_kernel(dir, "lives.1.er");

	exp_builder_profile(b, 30, "main", MS_USER, 5);
	expwriter_text(exp_builder_writer(b), "processes.xml.gz",
		"<process pid=\"30\" ppid=\"1\" comm=\"init\" command=\"/sbin/init -s\"/>\n"
		"<process pid=\"31\" ppid=\"30\" begin=\"2000000\" comm=\"sh\" command=\"sh -c true\"/>\n"
		"<process pid=\"31\" ppid=\"30\" begin=\"3000000\" comm=\"true\" command=\"true\"/>\n"
		"<exit pid=\"31\" at=\"3500000\" status=\"0\" cgroup=\"/build\"/>\n"
		"<process pid=\"31\" ppid=\"30\" begin=\"3500000\" comm=\"again\"/>\n"
		"<exit pid=\"31\" at=\"4000000\" status=\"768\"/>\n"
		"<process pid=\"32\" ppid=\"30\" begin=\"2500000\" comm=\"bad\" command=\"bad\"/>\n"
		"<exit pid=\"32\" at=\"4000000\" status=\"0\"/>\n"
		"<exit pid=\"32\" at=\"4500000\" status=\"139\"/>\n"
		"<exit pid=\"33\" at=\"-1\" status=\"0\"/>\n"
		/* A second thread executes a program. Another process gets the PID afterwards. */
		"<process pid=\"34\" ppid=\"30\" start=\"7\" begin=\"5000000\" comm=\"threads\"/>\n"
		"<exit pid=\"34\" start=\"7\" at=\"5500000\" status=\"0\"/>\n"
		"<process pid=\"34\" ppid=\"30\" start=\"7\" begin=\"5600000\" comm=\"executed\"/>\n"
		"<exit pid=\"34\" start=\"7\" at=\"6000000\" status=\"1024\"/>\n"
		"<process pid=\"34\" ppid=\"30\" start=\"9\" begin=\"6100000\" comm=\"reused\"/>\n"
		"<exit pid=\"34\" start=\"9\" at=\"6200000\" status=\"1280\"/>\n"
		/* It got an experiment of its own. */
		"<process pid=\"35\" ppid=\"30\" start=\"9\" begin=\"7000000\" comm=\"moved\"/>\n"
		"<process pid=\"35\" ppid=\"30\" start=\"9\" begin=\"7000000\" comm=\"moved\"/>\n"
		"<exit pid=\"35\" start=\"9\" at=\"7500000\" status=\"0\"/>");
	/* Processes 36, 37 and 38 ended and are not listed. */
	expwriter_text(exp_builder_writer(b), "threads.xml.gz",
		"<thread pid=\"35\" tid=\"35\" comm=\"moved\""
		" begin=\"7000000\" end=\"7500000\" sleep=\"500000\" ended=\"1\"/>\n"
		"<thread pid=\"35\" tid=\"39\" comm=\"moved\""
		" begin=\"7000000\" end=\"7400000\" sleep=\"400000\" ended=\"1\"/>\n"
		"<thread pid=\"36\" tid=\"36\" comm=\"short\""
		" begin=\"7000000\" end=\"7500000\" sleep=\"500000\" ended=\"1\"/>\n"
		"<thread pid=\"0\" tid=\"9\" comm=\"kworker\""
		" begin=\"7000000\" end=\"7500000\" sleep=\"500000\" ended=\"1\"/>\n"
		"<thread pid=\"40\" tid=\"40\" comm=\"&lt;Recording&gt;\""
		" begin=\"7000000\" end=\"7500000\" sleep=\"500000\" ended=\"1\"/>\n"
		"<thread pid=\"41\" tid=\"41\" comm=\"lives\""
		" begin=\"7000000\" end=\"8000000\" sleep=\"1000000\"/>\n"
		"<threads count=\"2\" comm=\"short\" begin=\"7000000\" end=\"7600000\" lived=\"1000000\" sleep=\"1000000\" "
		"members=\"37:0+500000 38:100000+500000\"/>");
	expwriter_replace(exp_builder_writer(b), "recorder.xml",
		"<recorder version=\"1\" scope=\"system\" state=\"closed\" follow=\"on\"/>\n"
		"<dropped kind=\"failed\" what=\"processes that failed\" count=\"2\"/>\n");
	finish(b);
}

#define LOCK(tid, end, ms, place, address, holder) \
	{ tid, end, ms, ms, "start_thread>work>" place LOCKED, MS_USER_LOCK, REASON_USER_LOCK, SYS_FUTEX, \
	  WFLAG_TRACED, address, holder, (holder) ? 12 : 0, 13, 12, "start_thread>work>unlock_queue" }

#define MONITOR ">ObjectMonitor::enter"

static const struct wait lock_waits[] = {
	LOCK(13, 100, 100, "lock_queue", 0x5000, 14),
	LOCK(14, 300, 200, "lock_queue", 0x5040, 13),
	LOCK(14, 350, 50, "lock_log", 0x5040, 0),
	LOCK(12, 420, 70, "lock_log", 0x6000, 0),
	LOCK(12, 450, 30, "lock_log", 0, 0),
	LOCK(12, 470, 20, "lock_other", 0, 0),
	LOCK(13, 480, 10, "lock_alone", 0x9000, 0),
	/* Monitors of Java: each thread waits at an address of its own. One of them slept there, too. */
	LOCK(13, 520, 20, "void App.f" MONITOR, 0xa000, 0),
	LOCK(14, 530, 15, "void App.f" MONITOR, 0xa040, 0),
	LOCK(14, 540, 7, "void App.g" MONITOR, 0xa040, 0),
	LOCK(14, 560, 6, "lock_short", 0xa040, 0),
};
static const struct wait second_waits[] = { LOCK(22, 500, 40, "lock_queue", 0x7000, 0) };
static const struct wait foreign_waits[] = { LOCK(20, 510, 60, "lock_queue", 0x5000, 0) };

static void joined_locks(const char *dir)
{
	struct recording r = { .founder = exp_builder_new_kernel(dir, "locks.1.er") };
	struct exp_builder *second;

	r.app = exp_builder_sub_states(r.founder, "_app_PID_12.1.er", "./app serve", 12, STATES_ALL);
	second = exp_builder_sub_states(r.founder, "_app_PID_22.1.er", "./app again", 22, STATES_ALL);
	r.client = exp_builder_sub_states(r.founder, "_client_PID_20.1.er", "./client", 20, STATES_ALL);
	r.others = exp_builder_sub_states(r.founder, "_others_PID_0.1.er", "others", 0, STATES_ALL);
	exp_builder_profile(r.app, 12, "main>work", MS_USER, 5);
	put_waits(&r, r.app, ALL(lock_waits));
	put_waits(&r, second, ALL(second_waits));
	put_waits(&r, r.client, ALL(foreign_waits));
	finish(second);
	finish(r.app);
	finish(r.client);
	finish(r.others);
	finish(r.founder);
}

/*
 * Each state occurs at places and with times of its own, in two threads on two CPUs over three
 * seconds.
 */
static void all_states(const char *dir)
{
	struct exp_builder *b = exp_builder_new(dir, "states.1.er");

	exp_builder_sample(b, "start", 0);
	for (int state = MS_USER; state <= MS_STOPPED; state++) {
		exp_builder_profile_cpu(b, 1, 0, "main>work>leaf", state, 10 + state);
		exp_builder_profile_cpu(b, 2, 1, "main>work", state, 100 + 3 * state);
		exp_builder_profile_cpu(b, BUILDER_PID, 1, "main>k:vfs_read", state, 50 + 7 * state);
		if (state == MS_KFAULT)
			exp_builder_sample(b, "middle", 0);
	}
	exp_builder_sample(b, "end", 0);
	exp_builder_close(b);
}

/* A wait of a thread with a deep stack, as those of Java have: call_1 calls call_2, and so on. */
static void deep_stack(const char *dir)
{
	enum { DEPTH = 60 };
	struct exp_builder *b = exp_builder_new(dir, "deep.1.er");
	struct wait_info info = { .reason = REASON_TIMER, .syscall = -1, .length_ns = 5000000 };
	struct buf stack = { 0 };

	for (int i = 1; i <= DEPTH; i++)
		buf_printf(&stack, "%scall_%d", i > 1 ? ">" : "", i);
	exp_builder_wait(b, 1, stack.data, MS_SLEEP, 5, &info);
	buf_free(&stack);
	exp_builder_close(b);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: make_waits DIR\n");
		return 2;
	}
	record(argv[1], "waits.1.er", "1000", "150");
	all_ends(argv[1]);
	record(argv[1], "lacks.1.er", "1050", "200");
	all_states(argv[1]);
	joined_locks(argv[1]);
	deep_stack(argv[1]);
	return 0;
}
