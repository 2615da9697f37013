/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that are born, that end, that reuse numbers, that never run, and that sleep over the
 * whole recording. Also the times of waits, and totals when records are lost.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/live/child.h"

enum { NTHREADS = 200 };

static struct capture_plan states = { .interval_ns = 10 * MS, .states = true };

static void *nap(void *arg)
{
	sleep_ms(1);
	return NULL;
}

static void make_threads(void)
{
	for (int i = 0; i < NTHREADS; i++) {
		pthread_t t;

		if (pthread_create(&t, NULL, nap, NULL))
			return;
		pthread_join(t, NULL);
		report->n++;
	}
}

/* Each thread has exactly one total, whose life began and ended within the recording. */
static void test_births(void)
{
	struct capture *c = begin(&states);
	pid_t pid = child(make_threads);
	size_t n = 0, whole = 0;

	waitpid(pid, NULL, 0);
	end(c);
	for (size_t i = 0; i < totals.len; i++) {
		const struct er_total *t = &totals.data[i];

		if (t->task.tgid != (uint32_t)pid)
			continue;
		n++;
		whole += t->flags & ER_TOTAL_BORN && t->flags & ER_TOTAL_ENDED;
	}
	result("threads born and gone", n == report->n + 1 && whole == n,
	       "%u threads, %zu totals, %zu of whole lives", report->n + 1, n, whole);
	check_exact("threads born and gone, sums");
	check_rest("threads born and gone, rests");
	capture_close(c);
}

static void fork_many(void)
{

	for (int i = 0; i < NTHREADS; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		report->n += pid > 0;
		waitpid(pid, NULL, 0);
	}
}

enum { FORKERS = 6, ENDS = 8, MAX_TID = 4 << 20 };

static void fork_forever(void)
{
	for (;;) {
		pid_t pid = fork();

		if (!pid) {
			sched_yield();
			sleep_ms(0.1);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

/* Counts threads that have waits but no total. */
static size_t count_without_total(void)
{
	bool *has = calloc(MAX_TID, 1);
	size_t n = 0;

	for (size_t i = 0; has && i < totals.len; i++)
		has[totals.data[i].task.tid % MAX_TID] = true;
	for (size_t i = 0; has && i < waits.len; i++) {
		n += !has[waits.data[i].task.tid % MAX_TID];
		has[waits.data[i].task.tid % MAX_TID] = true;
	}
	free(has);
	return n;
}

/* Processes are born, live and die while the recording ends. */
static void test_end_in_a_storm(void)
{
	struct capture_plan plan = { .interval_ns = 10 * MS, .states = true, .trace_ns = TRACE_ALL };
	size_t without = 0, ntotals = 0, unsettled = 0;
	pid_t pids[FORKERS];

	for (int i = 0; i < FORKERS; i++)
		pids[i] = child(fork_forever);
	for (int i = 0; i < (emulated ? 1 : ENDS); i++) {
		struct capture *c = begin(&plan);

		sleep_ms(50);
		end(c);
		without += count_without_total();
		ntotals += totals.len;
		unsettled += capture_unfinished(c);
		capture_close(c);
	}
	for (int i = 0; i < FORKERS; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	result("the end in a fork storm", ntotals && without <= unsettled,
	       "%zu totals, %zu threads with waits and no total, %zu unsettled", ntotals, without,
	       unsettled);
}

/* System calls that no other program makes: one always fails, one never does. */
enum { RARE_BAD = SYS_afs_syscall, RARE_GOOD = SYS_sched_rr_get_interval, RARE_CALLS = 7 };

static void call_rarely(void)
{
	struct timespec t;

	for (int i = 0; i < RARE_CALLS; i++) {
		syscall(RARE_BAD);
		syscall(RARE_GOOD, 0, &t);
	}
	syscall(RARE_GOOD, 0, NULL); /* EFAULT */
}

static void test_calls(void)
{
	struct capture_plan plan = { .interval_ns = 10 * MS, .states = true, .split = true };
	struct er_calls calls[ER_MAX_SYSCALLS] = { 0 };
	struct capture *c = begin(&plan);

	waitpid(child(call_rarely), NULL, 0);
	end(c);
	capture_calls(c, calls);
	result("system calls by number",
	       calls[RARE_BAD].calls == RARE_CALLS && calls[RARE_BAD].errors == RARE_CALLS &&
		       calls[RARE_GOOD].calls == RARE_CALLS + 1 && calls[RARE_GOOD].errors == 1,
	       "%llu calls, %llu failed; %llu calls, %llu failed",
	       (unsigned long long)calls[RARE_BAD].calls, (unsigned long long)calls[RARE_BAD].errors,
	       (unsigned long long)calls[RARE_GOOD].calls,
	       (unsigned long long)calls[RARE_GOOD].errors);
	capture_close(c);
}

enum { WRITES = 500, NAPS = 20, WRITTEN = 100, READ = 4096 };

/* Makes a known number of calls and moves a known number of bytes. */
static void use_things(void)
{
	static char room[READ];
	int in = open("/dev/zero", O_RDONLY | O_CLOEXEC), out = open("/dev/null", O_WRONLY);

	for (int i = 0; i < WRITES; i++)
		report->a_ns += write(out, room, WRITTEN);
	for (int i = 0; i < NAPS; i++)
		sleep_ms(1);
	report->b_ns += read(in, room, READ);
	raise(SIGCHLD);
}

static uint64_t waits_of(const struct er_total *t)
{
	uint64_t n = 0;

	for (int i = 0; i < ER_OFF_STATES; i++)
		n += i == ER_OFF_CPU ? 0 : t->off_n[i];
	return n;
}

/* A total's usage figures equal those of getrusage and of /proc/PID/io. */
static void test_usage(void)
{
	struct capture_plan plan = { .interval_ns = 10 * MS, .states = true, .split = true };
	struct capture *c = begin(&plan);
	pid_t pid = child(use_things);
	const struct er_total *t;
	struct rusage ru;
	uint64_t kernel, waited;

	wait4(pid, NULL, 0, &ru);
	end(c);
	t = &thread_sum(pid, pid)->total;
	kernel = ru.ru_nvcsw;
	waited = t->off_ns[ER_OFF_CPU] - t->stolen_ns; /* what is stolen while it runs is no wait with a number */
	/* The last switch may come after the parent's query. */
	result("voluntary switches", t->nwaits >= kernel && t->nwaits <= kernel + 2 && kernel >= NAPS,
	       "%llu, getrusage %llu", (unsigned long long)t->nwaits, (unsigned long long)kernel);
	result("waits of all states are these switches", waits_of(t) == t->nwaits,
	       "%llu of %llu", (unsigned long long)waits_of(t), (unsigned long long)t->nwaits);
	/* On an idle machine there may be none. */
	result("waits for a CPU have a number if they took time",
	       !t->off_n[ER_OFF_CPU] == !waited, "%u took %llu ns, and %llu ns were stolen", t->off_n[ER_OFF_CPU],
	       (unsigned long long)waited, (unsigned long long)t->stolen_ns);
	kernel = ru.ru_nivcsw;
	result("involuntary switches", t->npreempted >= kernel && t->npreempted <= kernel + 2,
	       "%llu, getrusage %llu", (unsigned long long)t->npreempted, (unsigned long long)kernel);
	kernel = ru.ru_minflt + ru.ru_majflt;
	result("page faults", t->minflt + t->majflt == kernel, "%llu, getrusage %llu",
	       (unsigned long long)(t->minflt + t->majflt), (unsigned long long)kernel);
	if (access("/proc/self/io", R_OK))
		printf("skip bytes read and written: the kernel counts none\n");
	else
		result("bytes read and written", t->wchar == report->a_ns && t->rchar == report->b_ns,
		       "wrote %llu of %llu, read %llu of %llu", (unsigned long long)t->wchar,
		       (unsigned long long)report->a_ns, (unsigned long long)t->rchar,
		       (unsigned long long)report->b_ns);
	result("system calls", t->ncalls >= WRITES + NAPS + 4 && t->ncalls <= WRITES + NAPS + 20,
	       "%llu, at least %u were made", (unsigned long long)t->ncalls, WRITES + NAPS + 4);
	capture_close(c);
}

/* Processes that do nothing but end. */
static void test_short_lives(void)
{
	struct capture *c = begin(&states);
	pid_t pid = child(fork_many);
	size_t n = 0;

	waitpid(pid, NULL, 0);
	end(c);
	for (size_t i = 0; i < totals.len; i++)
		n += totals.data[i].task.tgid > (uint32_t)pid && totals.data[i].flags & ER_TOTAL_BORN &&
		     totals.data[i].flags & ER_TOTAL_ENDED && !strncmp(totals.data[i].task.comm, "lives", 5);
	/* Process numbers may wrap around; then some are smaller. */
	result("short lives", n >= report->n * 9 / 10 && n <= report->n, "%u processes, %zu totals",
	       report->n, n);
	check_exact("short lives, sums");
	capture_close(c);
}

static pid_t fork_as(pid_t number)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)&number,
		.set_tid_size = 1,
	};
	pid_t pid = syscall(SYS_clone3, &args, sizeof(args));

	if (!pid) {
		sleep_ms(20);
		_exit(0);
	}
	return pid;
}

static void test_reuse(void)
{
	struct capture *c = begin(&states);
	pid_t first = fork(), second;
	const struct thread_sum *s;

	if (!first) {
		sleep_ms(20);
		_exit(0);
	}
	waitpid(first, NULL, 0);
	second = fork_as(first);
	if (second > 0)
		waitpid(second, NULL, 0);
	end(c);
	s = thread_sum(first, first);
	if (second < 0)
		printf("skip a number used again: %s\n", strerror(errno));
	else
		result("a number used again",
		       s->ntotals == 2 && s->total.off_ns[ER_OFF_SLEEP] >= 18 * MS &&
			       s->total.end_ns - s->total.begin_ns < 10000ull * MS,
		       "%u totals, the last slept %.1f ms", s->ntotals,
		       ms(s->total.off_ns[ER_OFF_SLEEP]));
	capture_close(c);
}

static bool be_first(int cpu, int policy)
{
	struct sched_param param = { .sched_priority = policy == SCHED_OTHER ? 0 : 1 };
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	return !sched_setscheduler(0, policy | SCHED_RESET_ON_FORK, &param);
}

/*
 * A child that gets no CPU: it may use only one, which its parent occupies, in a higher scheduling
 * class, until the recording ends. This runs in a process of its own, because it changes its class.
 */
static void never_ran(void)
{
	struct capture *c = begin(&states);
	const struct er_total *t;
	struct schedstat s;
	pid_t pid;

	if (!be_first(sched_getcpu(), SCHED_FIFO)) {
		printf("skip a thread that never ran: no real-time class\n");
		_exit(0);
	}
	pid = fork();
	if (!pid)
		_exit(0);
	spin_ms(100);
	end(c);
	s = schedstat(pid, pid);
	t = &thread_sum(pid, pid)->total;
	if (s.run || thread_sum(pid, pid)->total.flags & ER_TOTAL_ENDED)
		printf("skip a thread that never ran: it did\n");
	else
		result("a thread that never ran",
		       !t->run_ns && t->flags == ER_TOTAL_BORN &&
			       t->off_ns[ER_OFF_CPU] + (emulated ? 20 : 1) * MS >=
				       0.98 * (t->end_ns - t->begin_ns) &&
			       t->end_ns - t->begin_ns >= 95 * MS,
		       "ran %.3f ms, waited for a CPU %.1f of %.1f ms", ms(t->run_ns),
		       ms(t->off_ns[ER_OFF_CPU]), ms(t->end_ns - t->begin_ns));
	capture_close(c);
	_exit(failures);
}

static void test_never_ran(void)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		never_ran();
	waitpid(pid, &status, 0);
	failures += status != 0;
}

/*
 * A thread that sleeps from before the start until after the stop has one wait, open at both ends.
 */
static void test_across(void)
{
	struct capture_plan plan = states;
	int ends[2];
	struct capture *c;
	const struct er_wait *w = NULL;
	const struct er_total *t;
	uint64_t *frames;
	char byte;
	pid_t pid;

	if (pipe(ends))
		exit(2);
	pid = fork();
	if (!pid) {
		close(ends[1]);
		if (read(ends[0], &byte, 1) < 0)
			_exit(1);
		_exit(0);
	}
	close(ends[0]);
	sleep_ms(50);
	plan.raw_stacks = true;
	c = begin(&plan);
	sleep_ms(100);
	end(c);
	close(ends[1]);
	waitpid(pid, NULL, 0);
	t = &thread_sum(pid, pid)->total;
	for (size_t i = 0; i < waits.len; i++)
		if (waits.data[i].task.tid == (uint32_t)pid)
			w = &waits.data[i];
	frames = w ? map_get(&stacks, w->stack) : NULL;
	result("asleep all the time",
	       w && w->flags & ER_WAIT_OPEN_START && w->flags & ER_WAIT_OPEN_END && !t->run_ns &&
		       t->off_ns[ER_OFF_SLEEP] == t->end_ns - t->begin_ns &&
		       w->blocked_ns == t->off_ns[ER_OFF_SLEEP] && w->blocked_ns > 95 * MS,
	       "slept %.1f of %.1f ms", ms(t->off_ns[ER_OFF_SLEEP]), ms(t->end_ns - t->begin_ns));
	/*
	 * The stack consists of read(), its callers, main() and the code that starts the program.
	 */
	result("asleep all the time, stack", frames && *frames >> 16 && (*frames & 0xffff) >= 64,
	       "%u kernel frames, %u words of the user's stack", frames ? (unsigned)(*frames >> 16) : 0,
	       frames ? (unsigned)(*frames & 0xffff) : 0);
	capture_close(c);
}

static void sleep_noting(void)
{
	report->a_ns = now_ns(CLOCK_MONOTONIC);
	sleep_ms(50);
	report->b_ns = now_ns(CLOCK_MONOTONIC);
}

/* A wait lies between two readings of the clock, one before and one after it. */
static void test_times(void)
{
	struct capture_plan all = { .interval_ns = 10 * MS, .states = true, .trace_ns = TRACE_ALL };
	struct capture *c = begin(&all);
	pid_t pid = child(sleep_noting);
	const struct er_wait *w = NULL;
	uint64_t began, slack = (emulated ? 20 : 1) * MS;

	waitpid(pid, NULL, 0);
	end(c);
	for (size_t i = 0; i < waits.len; i++)
		if (waits.data[i].task.tid == (uint32_t)pid && waits.data[i].blocked_ns >= 45 * MS)
			w = &waits.data[i];
	began = w ? w->h.time_ns - w->runq_ns - w->blocked_ns : 0;
	result("the time of a wait",
	       w && began + slack >= report->a_ns && w->h.time_ns <= report->b_ns + slack,
	       "%.3f ms after the clock was read, %.3f ms before",
	       ((double)began - (double)report->a_ns) / MS,
	       w ? ((double)report->b_ns - (double)w->h.time_ns) / MS : 0);
	capture_close(c);
}

/*
 * With a ring of one page, records are lost, but totals are not; on a busy machine, where this
 * program reads the ring late, few are, and they are counted. Lost time appears in the remainder.
 */
static void test_losses(void)
{
	struct capture_plan plan = states;
	struct capture *c;
	pid_t pid;
	uint64_t lost, lost_totals;
	size_t n = 0;

	plan.ring_bytes = 4096;
	plan.wait_interval_ns = 1 * MS;
	c = begin(&plan);
	pid = child(make_threads);
	waitpid(pid, NULL, 0);
	end(c);
	lost = lost_records(c, ER_KIND_WAIT) + lost_records(c, ER_KIND_STACK);
	for (size_t i = 0; i < totals.len; i++)
		n += totals.data[i].task.tgid == (uint32_t)pid;
	lost_totals = lost_records(c, ER_KIND_TOTAL);
	result("a tiny ring",
	       lost > 0 && n <= report->n + 1 && 2 * n > report->n && n + lost_totals > report->n,
	       "%llu waits and stacks lost, %u threads, %zu totals, %llu lost", (unsigned long long)lost,
	       report->n + 1, n, (unsigned long long)lost_totals);
	check_exact("a tiny ring, sums");
	check_rest("a tiny ring, rests");
	capture_close(c);
}

/* Only the chosen threads are recorded, off the CPU as well. */
static void test_target(void)
{
	struct capture_target target = { .pid = getpid(), .tid = gettid() };
	struct capture_plan plan = states;
	const struct thread_sum *s;
	struct capture *c;

	plan.targets = &target;
	plan.ntargets = 1;
	c = begin(&plan);
	sleep_ms(50);
	end(c);
	s = thread_sum(getpid(), gettid());
	result("target", totals.len == 1 && s->ntotals == 1 && s->total.off_ns[ER_OFF_SLEEP] > 45 * MS,
	       "%zu totals, slept %.1f ms", totals.len, ms(s->total.off_ns[ER_OFF_SLEEP]));
	capture_close(c);
}

int main(int argc, char **argv)
{
	static const struct selftest cases[] = {
		{ "births", test_births },	 { "short", test_short_lives },
		{ "usage", test_usage }, { "calls", test_calls },
				{ "reuse", test_reuse },	 { "never", test_never_ran },
		{ "across", test_across },	 { "times", test_times },
		{ "losses", test_losses },	 { "target", test_target },
		{ "storm", test_end_in_a_storm },
	};

	child_init();
	return selftest_main(argc, argv, cases, sizeof(cases) / sizeof(*cases));
}
