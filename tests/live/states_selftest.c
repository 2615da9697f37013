/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks that each thread is in the state that it must be in, and for the right time. All workloads
 * (states.h) run at the same time, with each method of capturing stacks of waits that this kernel
 * allows.
 */
#include "tests/live/states.h"

#include <linux/btf.h>

#include "loaders/ktypes.h"
#include "loaders/stack_method.h"
#include "tests/live/cgroup.h"

enum workload_flags {
	HAS_HOLDER = 1 << 0,
	IS_IO = 1 << 1,
};

static const struct workload {
	const char *name;
	enum er_off_state state;
	void (*plain)(struct truth *t);
	void (*disk)(int fd, char *map);
	int flags;
} workloads[] = {
	{ "nanosleep", ER_OFF_SLEEP, do_nanosleep, NULL, 0 },
	{ "epoll", ER_OFF_SLEEP, do_epoll, NULL, 0 },
	{ "pipe", ER_OFF_SLEEP, do_pipe, NULL, 0 },
	{ "futex", ER_OFF_LOCK, do_futex, NULL, 0 },
	{ "mutex", ER_OFF_LOCK, do_mutex, NULL, HAS_HOLDER },
	{ "PI mutex", ER_OFF_LOCK, do_pi_mutex, NULL, HAS_HOLDER },
	{ "disk", ER_OFF_SLEEP, NULL, do_disk, IS_IO },
	{ "data fault", ER_OFF_DFAULT, NULL, do_data_fault, IS_IO },
	{ "text fault", ER_OFF_TFAULT, NULL, do_text_fault, IS_IO },
	{ "kernel fault", ER_OFF_KFAULT, NULL, do_kernel_fault, IS_IO },
	{ "vfork", ER_OFF_SLEEP, do_vfork, NULL, 0 },
	{ "stopped", ER_OFF_STOP, do_stop, NULL, 0 },
	{ "traced", ER_OFF_STOP, do_traced, NULL, 0 },
};

enum { NWORKLOADS = sizeof(workloads) / sizeof(*workloads) };

struct job {
	const struct workload *w;
	struct truth *truth;
	pid_t pid;
	int fd;
};

static void work(struct job *j)
{
	struct stretch from;
	char *map = NULL;

	if (j->w->disk && j->fd >= 0) {
		map = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, j->fd, 0);
		if (map == MAP_FAILED)
			_exit(1);
		j->truth->map = (uintptr_t)map;
		madvise(map, (size_t)PAGES * PAGE, MADV_RANDOM);
	}
	from = stretch_now();
	if (j->w->plain)
		j->w->plain(j->truth);
	else if (map)
		j->w->disk(j->fd, map);
	j->truth->waited = stretch_waited(&from);
	_exit(0);
}

/* Continue every process that stopped, until all have ended. */
static void reap(struct job *jobs)
{
	int left = NWORKLOADS, status;
	pid_t pid;

	while (left && (pid = waitpid(-1, &status, WUNTRACED)) > 0) {
		if (WIFSTOPPED(status)) {
			sleep_ms(ROUND_MS);
			if (ptrace(PTRACE_CONT, pid, NULL, NULL))
				kill(pid, SIGCONT);
			continue;
		}
		for (int i = 0; i < NWORKLOADS; i++)
			left -= jobs[i].pid == pid;
	}
}

static void run_jobs(struct job *jobs)
{
	for (int i = 0; i < NWORKLOADS; i++) {
		jobs[i].pid = fork();
		if (!jobs[i].pid)
			work(&jobs[i]);
	}
	reap(jobs);
}

static bool is_workload(const struct job *j, const struct er_wait *w)
{
	return w->task.tgid == (uint32_t)j->pid && w->task.tid == (uint32_t)j->pid;
}

/* The workload's recorded waits in its state. */
struct seen_waits {
	size_t n, walked, io;
	size_t held, misheld; /* waits that name the holder, or another thread */
};

static struct seen_waits count_waits(const struct job *j)
{
	struct seen_waits ret = { 0 };

	for (size_t i = 0; i < waits.len; i++) {
		const struct er_wait *w = &waits.data[i];

		if (!is_workload(j, w) || w->state != j->w->state || !w->blocked_weight)
			continue;
		ret.n++;
		ret.walked += w->stack != 0;
		ret.io += !!(w->flags & ER_WAIT_IO);
		ret.held += w->holder_tid == j->truth->holder;
		ret.misheld += w->holder_tid && w->holder_tid != j->truth->holder;
	}
	return ret;
}

/*
 * STACKS_LEAVE predicts which waits will be recorded, so it may miss some stacks. With the other
 * methods a wait has no stack only if the kernel hid the switch that ended it.
 */
static bool stacks_right(enum stack_method way, const struct seen_waits *w)
{
	if (way == STACKS_NONE)
		return !w->walked;
	return way == STACKS_LEAVE || (w->walked + 2 >= w->n && (w->walked || w->n < 3));
}

static void check_job(const struct job *j, enum stack_method way)
{
	const struct thread_sum *s = thread_sum(j->pid, j->pid);
	uint64_t got = s->total.off_ns[j->w->state], want = j->truth->waited;
	/* What interrupts and the host took while the thread ran, which schedstat does not count, is in `want`. */
	uint64_t stolen = s->total.stolen_ns;
	/* schedstat may be late by a tick at either end. */
	uint64_t slack = (emulated ? 30 : 9) * MS;
	struct seen_waits seen = count_waits(j);
	char name[64];

	snprintf(name, sizeof(name), "%s, %s", j->w->name, stack_method_name(way));
	if (*j->truth->skip || want < 5 * MS) {
		printf("skip %s: %s\n", name, *j->truth->skip ? j->truth->skip : "it hardly waited");
		return;
	}
	result(name,
	       s->ntotals == 1 && got + stolen + slack >= 0.98 * want &&
		       got <= 1.02 * want + slack + s->total.moved_ns && stacks_right(way, &seen),
	       "%.1f of %.1f ms, %.1f ms stolen, %zu waits, %zu stacks", ms(got), ms(want), ms(stolen), seen.n,
	       seen.walked);
	if (j->w->flags & HAS_HOLDER)
		result(name, seen.held >= ROUNDS - 1 && !seen.misheld,
		       "%zu waits name the holder, %zu another", seen.held, seen.misheld);
	if (j->w->flags & IS_IO)
		result(name, seen.io * 2 >= seen.n, "%zu of %zu waits are for I/O", seen.io, seen.n);
}

static void test_stack_method(enum stack_method way)
{
	struct capture_plan plan = { .interval_ns = 10 * MS, .states = true, .stack_method = way };
	struct job jobs[NWORKLOADS];
	struct truth *truths = mmap(NULL, sizeof(*truths) * NWORKLOADS, PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char name[64];
	struct capture *c;

	for (int i = 0; i < NWORKLOADS; i++) {
		jobs[i] = (struct job){ .w = &workloads[i], .truth = &truths[i], .fd = -1 };
		if (workloads[i].disk)
			jobs[i].fd = disk_file(&truths[i]);
	}
	c = begin(&plan);
	run_jobs(jobs);
	end(c);
	for (int i = 0; i < NWORKLOADS; i++) {
		check_job(&jobs[i], way);
		if (jobs[i].fd >= 0)
			close(jobs[i].fd);
	}
	snprintf(name, sizeof(name), "sums, %s", stack_method_name(way));
	check_exact(name);
	capture_close(c);
	munmap(truths, sizeof(*truths) * NWORKLOADS);
}

/* If waits are traced, a data fault has the touched address: a page of the file. */
static void test_touched(void)
{
	static const struct workload w = { "data fault, traced", ER_OFF_DFAULT, NULL,
					   do_data_fault, IS_IO };
	struct capture_plan plan = { .interval_ns = 10 * MS, .states = true, .trace_ns = TRACE_ALL };
	struct job job = { .w = &w };
	size_t n = 0, pages = 0;
	struct capture *c;

	job.truth = mmap(NULL, sizeof(*job.truth), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	job.fd = disk_file(job.truth);
	c = begin(&plan);
	job.pid = fork();
	if (!job.pid)
		work(&job);
	waitpid(job.pid, NULL, 0);
	end(c);
	for (size_t i = 0; i < waits.len; i++) {
		const struct er_wait *r = &waits.data[i];
		uint64_t at = r->address - job.truth->map;

		if (!is_workload(&job, r) || r->state != ER_OFF_DFAULT || !(r->flags & ER_WAIT_IO))
			continue;
		n++;
		pages += at < (uint64_t)PAGES * PAGE && !(at % PAGE);
	}
	if (n < 3)
		printf("skip data fault, traced: %s, %zu waits\n",
		       *job.truth->skip ? job.truth->skip : "it hardly waited", n);
	else
		result("data fault, traced", pages + 1 >= n, "%zu of %zu waits name a page of the file",
		       pages, n);
	capture_close(c);
	if (job.fd >= 0)
		close(job.fd);
	munmap(job.truth, sizeof(*job.truth));
}

static bool freeze(const char *cgroup, bool on)
{
	return cgroup_put(cgroup, "cgroup.freeze", on ? "1" : "0") ||
	       cgroup_put(cgroup, "freezer.state", on ? "FROZEN" : "THAWED");
}

/* Counts the job's waits that are marked as frozen. */
static size_t count_frozen(const struct job *j)
{
	size_t n = 0;

	for (size_t i = 0; i < waits.len; i++)
		n += is_workload(j, &waits.data[i]) && waits.data[i].flags & ER_WAIT_FROZEN;
	return n;
}

/* A running process is frozen together with its cgroup for a while. */
static void frozen(const struct workload *w, const char *cgroup)
{
	struct capture_plan plan = { .interval_ns = 10 * MS, .states = true };
	struct job job = { .w = w, .fd = -1 };
	struct capture *c;
	char pid[16];

	if (!cgroup) {
		printf("skip %s: none can be made\n", w->name);
		return;
	}
	job.truth = mmap(NULL, sizeof(*job.truth), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	c = begin(&plan);
	job.pid = fork();
	if (!job.pid)
		work(&job);
	snprintf(pid, sizeof(pid), "%d", job.pid);
	sleep_ms(20);
	if (!cgroup_put(cgroup, "cgroup.procs", pid) || !freeze(cgroup, true))
		snprintf(job.truth->skip, sizeof(job.truth->skip), "it cannot be frozen");
	sleep_ms(FROZEN_MS);
	freeze(cgroup, false);
	waitpid(job.pid, NULL, 0);
	end(c);
	rmdir(cgroup);
	check_job(&job, capture_stack_method(c));
	if (!*job.truth->skip && job.truth->waited >= 5 * MS)
		result(w->name, count_frozen(&job), "%zu waits are for being frozen",
		       count_frozen(&job));
	capture_close(c);
	munmap(job.truth, sizeof(*job.truth));
}

/*
 * With either version: version 1 has the kernel's freezer, version 2 stops threads like signals do.
 */
static void test_frozen(void)
{
	static const struct workload second = { "frozen cgroup", ER_OFF_STOP, do_frozen, NULL, 0 };
	static const struct workload first = { "frozen cgroup, v1", ER_OFF_STOP, do_frozen, NULL, 0 };

	frozen(&second, cgroup_make("cgroup.freeze", NULL, NULL));
	frozen(&first, cgroup_make(NULL, "freezer", "freezer.state"));
}

static void test_stack_methods(void)
{
	bool can_exit = ktypes_running_id(STACKS_EXIT_TYPE, BTF_KIND_TYPEDEF);

	for (enum stack_method way = STACKS_EXIT; way <= STACKS_NONE; way++) {
		if (stack_method_allowed(way, can_exit))
			test_stack_method(way);
		else
			printf("skip %s: this kernel does not allow it\n", stack_method_name(way));
	}
}

int main(int argc, char **argv)
{
	static const struct selftest cases[] = { { "ways", test_stack_methods }, { "frozen", test_frozen },
						  { "touched", test_touched } };

	return selftest_main(argc, argv, cases, sizeof(cases) / sizeof(*cases));
}
