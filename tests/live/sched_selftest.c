/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time on a CPU and time in a run queue, compared with the kernel's own figures (schedstat).
 * Threads share a CPU, have all scheduling classes, and are in a throttled cgroup. User and system
 * time are compared with getrusage.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/live/cgroup.h"
#include "tests/live/delayed.h"
#include "tests/live/thread_records.h"

enum { MAX_KIDS = 6 };

/* The figures of a child. It writes them itself, or its parent does when it is dead. */
struct figures {
	struct schedstat s;
	uint64_t user, system;
	int err;
};

static struct figures *figures;

static double share(void)
{
	return emulated ? 0.03 : 0.005;
}

/* Waiting for a CPU as schedstat defines it: without stolen time, with moved sleepers. */
static uint64_t delay_of(const struct er_total *t)
{
	return t->off_ns[ER_OFF_CPU] - t->stolen_ns + t->moved_ns;
}

/*
 * The figures of a child that has ended but was not reaped do not change. They are read while it is
 * a zombie.
 */
static void reap_with_figures(const pid_t *kids, int n)
{
	for (int i = 0; i < n; i++) {
		wait_dead(kids[i]);
		figures[i].s = schedstat(kids[i], kids[i]);
		waitpid(kids[i], NULL, 0);
	}
}

static void check_kid(const char *name, pid_t pid, const struct figures *f)
{
	const struct er_total *t = &thread_sum(pid, pid)->total;
	uint64_t slack = (emulated ? 20 : 1) * MS;

	/* For moved sleepers, moved_ns says by how much our figure is smaller (edge_moved). */
	if (f->err) {
		printf("skip %s: %s\n", name, strerror(f->err));
		return;
	}
	result(name,
	       near(t->run_ns, f->s.run, share(), slack) &&
		       near(delay_of(t), f->s.delay, share(), slack),
	       "ran %.3f ms, kernel %.3f ms; waited %.3f ms, stolen %.3f ms, moved asleep %.3f ms, "
	       "kernel %.3f ms", ms(t->run_ns), ms(f->s.run), ms(t->off_ns[ER_OFF_CPU]),
	       ms(t->stolen_ns), ms(t->moved_ns), ms(f->s.delay));
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static int some_cpu(void)
{
	return sched_getcpu();
}

/* Fork `n` children that do `work`, during a capture. */
static void run_kids(const char *name, int n, void (*work)(int i))
{
	struct capture_plan plan = { .interval_ns = 10 * MS, .states = true };
	struct capture *c = begin(&plan);
	pid_t kids[MAX_KIDS];

	for (int i = 0; i < n; i++) {
		figures[i] = (struct figures){ 0 };
		kids[i] = fork();
		if (!kids[i]) {
			work(i);
			_exit(0);
		}
	}
	reap_with_figures(kids, n);
	end(c);
	for (int i = 0; i < n; i++)
		check_kid(name, kids[i], &figures[i]);
	capture_close(c);
}

/*
 * A thread that waits for a CPU does not have it. Some of these waits name another thread that had
 * it.
 */
static void check_oncpu(const char *name)
{
	size_t named = 0, wrong = 0;

	for (size_t i = 0; i < waits.len; i++) {
		const struct er_wait *w = &waits.data[i];

		if (!w->runq_ns || !w->oncpu_tid)
			continue;
		named++;
		wrong += w->oncpu_tid == w->task.tid || !w->oncpu_tgid;
	}
	result(name, named && !wrong, "%zu waits name a thread, %zu the one that waited", named,
	       wrong);
}

static int cpu;

static void spin_pinned(int i)
{
	pin(cpu);
	spin_ms(150);
}

/*
 * Three threads on one CPU: by the kernel's figures each waits for it for two thirds of the time.
 */
static void test_spinners(void)
{
	cpu = some_cpu();
	run_kids("three on one CPU", 3, spin_pinned);
	check_oncpu("three on one CPU, the thread that had it");
	check_exact("three on one CPU, sums");
}

static void spin_and_sleep(int i)
{
	for (int k = 0; k < 30; k++) {
		spin_ms(1 + i);
		sleep_ms(2);
	}
}

static void test_sleepers(void)
{
	run_kids("run and sleep in turn", 4, spin_and_sleep);
}

struct sched_attr_v0 {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

static void work_in_class(int i)
{
	static const struct sched_attr_v0 classes[] = {
		{ .policy = SCHED_IDLE },
		{ .policy = SCHED_BATCH, .nice = 5 },
		{ .policy = SCHED_FIFO, .priority = 1 },
		{ .policy = SCHED_RR, .priority = 1 },
		{ .policy = 6, .runtime = 5 * MS, .deadline = 20 * MS, .period = 20 * MS },
	};
	struct sched_attr_v0 attr = classes[i];

	attr.size = sizeof(attr);
	if (syscall(SYS_sched_setattr, 0, &attr, 0))
		figures[i].err = errno;
	else
		spin_and_sleep(1);
}

static void test_classes(void)
{
	run_kids("scheduling classes", 5, work_in_class);
}

/*
 * Sums over a thread's recorded waits for a CPU: all; those that name `other` as the thread that
 * had the CPU; those that were throttled.
 */
struct runq_sums {
	uint64_t all, by_other, throttled;
};

static struct runq_sums runq_sums(pid_t pid, pid_t other)
{
	struct runq_sums ret = { 0 };

	for (size_t i = 0; i < waits.len; i++) {
		const struct er_wait *w = &waits.data[i];

		if (w->task.tid != (uint32_t)pid)
			continue;
		ret.all += w->runq_weight;
		ret.by_other += w->oncpu_tid == (uint32_t)other ? w->runq_weight : 0;
		ret.throttled += w->flags & ER_WAIT_THROTTLED ? w->runq_weight : 0;
	}
	return ret;
}

static bool set_class(uint32_t policy, uint32_t priority)
{
	struct sched_attr_v0 attr = { .size = sizeof(attr), .policy = policy, .priority = priority };

	return !syscall(SYS_sched_setattr, 0, &attr, 0);
}

/*
 * Two threads on one CPU. The first must wait for the second, which leaves the CPU now and then,
 * and then ends.
 */
struct starved {
	const char *name;
	uint32_t policy, priority, other_policy, other_priority;
	bool at_once; /* the first then gets the CPU at once, apart from a few kernel threads */
};

static void starve(const struct starved *s, int i)
{
	pin(cpu);
	if (!set_class(i ? s->other_policy : s->policy, i ? s->other_priority : s->priority)) {
		figures[i].err = errno;
		return;
	}
	*(volatile uint64_t *)&figures[i].user = 1; /* it has begun */
	if (!i) {
		while (!*(volatile uint64_t *)&figures[1].user && !figures[1].err)
			sleep_ms(1);
		spin_ms(30);
	}
	for (int k = 0; i && k < 10; k++) {
		spin_ms(30);
		sleep_ms(1);
	}
}

static void starved(const struct starved *s)
{
	struct capture_plan plan = { .interval_ns = 10 * MS, .states = true };
	uint64_t window, asleep;
	struct capture *c = begin(&plan);
	const struct er_total *t;
	struct runq_sums sums;
	pid_t kids[2];

	for (int i = 1; i >= 0; i--) {
		figures[i] = (struct figures){ 0 };
	}
	for (int i = 1; i >= 0; i--) {
		kids[i] = fork();
		if (kids[i])
			continue;
		starve(s, i);
		_exit(0);
	}
	reap_with_figures(kids, 2);
	end(c);
	if (figures[1].err)
		figures[0].err = figures[1].err;
	check_kid(s->name, kids[0], &figures[0]);
	t = &thread_sum(kids[0], kids[0])->total;
	window = t->end_ns - t->begin_ns;
	asleep = t->off_ns[ER_OFF_SLEEP]; /* till the other has begun */
	sums = runq_sums(kids[0], kids[1]);
	if (!figures[0].err)
		result(s->name,
		       t->off_ns[ER_OFF_CPU] + t->run_ns + asleep + MS >= 0.98 * window &&
			       (!s->at_once || sums.by_other || sums.all < 60 * MS),
		       "waited for a CPU %.1f of %.1f ms, ran %.1f; recorded %.1f ms, for the other "
		       "%.1f", ms(t->off_ns[ER_OFF_CPU]), ms(window), ms(t->run_ns), ms(sums.all),
		       ms(sums.by_other));
	capture_close(c);
}

static void test_starved(void)
{
	static const struct starved cases[] = {
		{ "idle class behind a normal thread", SCHED_IDLE, 0, SCHED_OTHER, 0, false },
		{ "normal thread behind a real-time one", SCHED_OTHER, 0, SCHED_FIFO, 1, false },
		{ "real-time thread behind a higher one", SCHED_RR, 1, SCHED_FIFO, 2, true },
	};

	cpu = some_cpu();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		starved(&cases[i]);
}

static void overrun(int i)
{
	struct sched_attr_v0 attr = { .size = sizeof(attr), .policy = 6, .runtime = 4 * MS,
				      .deadline = 40 * MS, .period = 40 * MS };

	if (syscall(SYS_sched_setattr, 0, &attr, 0))
		figures[i].err = errno;
	else
		spin_ms(20);
}

/*
 * 20 ms of work, 4 ms in each period of 40 ms: it is held back for 36 ms at least four times,
 * whichever thread has the CPU.
 */
static void test_deadline(void)
{
	struct capture_plan plan = { .interval_ns = 10 * MS, .states = true };
	struct capture *c = begin(&plan);
	const struct er_total *t;
	struct runq_sums sums;
	pid_t pid;

	figures[0] = (struct figures){ 0 };
	pid = fork();
	if (!pid) {
		overrun(0);
		_exit(0);
	}
	reap_with_figures(&pid, 1);
	end(c);
	t = &thread_sum(pid, pid)->total;
	sums = runq_sums(pid, 0);
	if (figures[0].err)
		printf("skip out of run time: %s\n", strerror(figures[0].err));
	else
		result("out of run time",
		       t->off_ns[ER_OFF_CPU] >= 100 * MS && sums.throttled >= (emulated ? 0.5 : 0.8) * sums.all &&
			       sums.throttled > 0,
		       "waited for a CPU %.1f ms, recorded %.1f, throttled %.1f",
		       ms(t->off_ns[ER_OFF_CPU]), ms(sums.all), ms(sums.throttled));
	capture_close(c);
}

static const char *cgroup;

static void spin_throttled(int i)
{
	errno = 0;
	if (cgroup_put(cgroup, "cgroup.procs", "0"))
		spin_ms(50);
	else
		figures[i].err = errno ? errno : EIO;
}

/* How often this happened, by the kernel's count. */
static unsigned times_throttled(void)
{
	char path[128], line[128];
	unsigned n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/cpu.stat", cgroup);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f) && sscanf(line, "nr_throttled %u", &n) != 1)
		;
	if (f)
		fclose(f);
	return n;
}

/* With a quarter of a CPU, 50 ms of work take about 150 ms of waiting for a CPU. */
static void test_throttled(void)
{
	struct capture_plan plan = { .interval_ns = 10 * MS, .states = true };
	struct capture *c;
	unsigned throttled;
	size_t marked = 0;
	pid_t pid;
	const struct er_total *t;

	cgroup = cgroup_make("cpu.max", "cpu", "cpu.cfs_quota_us");
	if (!cgroup) {
		printf("skip throttled cgroup: none with a limit of CPU time can be made\n");
		return;
	}
	if (!cgroup_put(cgroup, "cpu.max", "5000 20000")) {
		cgroup_put(cgroup, "cpu.cfs_period_us", "20000");
		cgroup_put(cgroup, "cpu.cfs_quota_us", "5000");
	}
	figures[0] = (struct figures){ 0 };
	c = begin(&plan);
	pid = fork();
	if (!pid) {
		spin_throttled(0);
		_exit(0);
	}
	reap_with_figures(&pid, 1);
	throttled = times_throttled();
	end(c);
	rmdir(cgroup);
	for (size_t i = 0; i < waits.len; i++)
		marked += waits.data[i].task.tgid == (uint32_t)pid &&
			  waits.data[i].flags & ER_WAIT_THROTTLED;
	t = &thread_sum(pid, pid)->total;
	if (figures[0].err)
		printf("skip throttled cgroup: %s\n", strerror(figures[0].err));
	else
		result("throttled cgroup",
		       near(t->run_ns, figures[0].s.run, share(), 20 * MS) &&
			       t->off_ns[ER_OFF_CPU] > 60 * MS && (marked || throttled < 4),
		       "ran %.1f ms, waited for a CPU %.1f ms, %zu waits marked, throttled %u times", ms(t->run_ns),
		       ms(t->off_ns[ER_OFF_CPU]), marked, throttled);
	capture_close(c);
}

/*
 * Here our figure differs from the kernel's on purpose: a sleeping thread does not wait for a CPU.
 * moved_ns has the difference, so the sum of the two must equal the kernel's figure.
 */
static void test_delayed(void)
{
	struct delayed *d = mmap(NULL, sizeof(*d), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct capture_plan plan = { .interval_ns = 10 * MS, .states = true };
	struct capture *c = begin(&plan);
	cpu_set_t old;
	const struct er_total *t;
	pid_t pid;

	sched_getaffinity(0, sizeof(old), &old);
	pid = delayed_run(d);
	sched_setaffinity(0, sizeof(old), &old);
	end(c);
	t = &thread_sum(pid, pid)->total;
	if (pid < 0)
		printf("skip moved while asleep: needs two CPUs\n");
	else if (!d->forced)
		printf("skip moved while asleep: this kernel takes no such sleeper for queued\n");
	else
		result("moved while asleep",
		       t->off_ns[ER_OFF_SLEEP] >= 0.98 * d->slept_ns && t->nmoved >= d->forced &&
			       t->nmoved <= 2 * DELAYED_ROUNDS &&
			       near(delay_of(t), d->kernel_ns, share(), (emulated ? 20 : 1) * MS),
		       "%u of %u sleeps, %u counted; slept %.1f ms, at least %.1f; waited for a CPU "
		       "%.1f ms, moved asleep %.1f ms, the kernel says %.1f", d->forced,
		       DELAYED_ROUNDS, t->nmoved, ms(t->off_ns[ER_OFF_SLEEP]), ms(d->slept_ns),
		       ms(t->off_ns[ER_OFF_CPU]), ms(t->moved_ns), ms(d->kernel_ns));
	capture_close(c);
}

/* Long periods in one mode each, by the thread's own CPU clock. */
static void spin_both(int i)
{
	static char room[8 << 20];
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	for (int k = 0; k < 20; k++) {
		uint64_t a = now_ns(CLOCK_THREAD_CPUTIME_ID), b;

		for (volatile int n = 0; n < 2000000; n++)
			;
		b = now_ns(CLOCK_THREAD_CPUTIME_ID);
		figures[i].user += b - a;
		if (read(fd, room, sizeof(room)) < 0)
			break;
		figures[i].system += now_ns(CLOCK_THREAD_CPUTIME_ID) - b;
	}
}

static pid_t fork_spinner(void)
{
	pid_t pid = fork();

	for (; !pid;)
		__asm__ volatile("");
	return pid;
}

/* It runs from before the recording until after its end, and makes no system call. */
static void split_spinner(pid_t pid)
{
	const struct er_total *t = &thread_sum(pid, pid)->total;

	result("user time without a system call",
	       t->run_ns && t->user_ns >= t->run_ns * 0.95 && t->user_ns <= t->run_ns,
	       "user %.1f of %.1f ms", ms(t->user_ns), ms(t->run_ns));
}

/* Exact times, measured at the edges of system calls. */
static void test_split(void)
{
	pid_t pid, spinner = fork_spinner();
	struct capture_plan plan = { .interval_ns = 10 * MS, .states = true, .split = true };
	struct capture *c = begin(&plan);
	const struct er_total *t;

	figures[0] = (struct figures){ 0 };
	pid = fork();
	if (!pid) {
		spin_both(0);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	end(c);
	t = &thread_sum(pid, pid)->total;
	result("user and system, exactly",
	       t->flags & ER_TOTAL_SPLIT && t->user_ns + t->system_ns == t->run_ns &&
		       near(t->user_ns, figures[0].user, emulated ? 0.2 : 0.03, 3 * MS),
	       "user %.1f of %.1f ms, system %.1f of %.1f ms", ms(t->user_ns),
	       ms(figures[0].user), ms(t->system_ns), ms(figures[0].system));
	split_spinner(spinner);
	capture_close(c);
	kill(spinner, SIGKILL);
	waitpid(spinner, NULL, 0);
}

int main(int argc, char **argv)
{
	static const struct selftest cases[] = {
		{ "spinners", test_spinners }, { "sleepers", test_sleepers },
		{ "classes", test_classes },   { "throttled", test_throttled },
		{ "starved", test_starved },   { "deadline", test_deadline },
		{ "split", test_split },       { "delayed", test_delayed },
	};

	figures = mmap(NULL, sizeof(*figures) * MAX_KIDS, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return selftest_main(argc, argv, cases, sizeof(cases) / sizeof(*cases));
}
