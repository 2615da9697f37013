/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forces a sleeper that the scheduler counts as queued (bpf/edge.bpf.h, edge_woken). A thread that
 * has used more than its share when it blocks stays in the run queue (6.12). If it is moved to
 * another CPU there, the scheduler notes it as queued at that time, and counts its sleep as waiting
 * for a CPU. So the thread here runs against two others on its CPU, sleeps, and is told at once to
 * move to another CPU.
 */
#ifndef DELAYED_H
#define DELAYED_H

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/live/selftest.h"

enum { DELAYED_ROUNDS = 20, DELAYED_MS = 20, DELAYED_SPINNERS = 2 };

/* Shared by the sleeper and the mover, the thread that moves it. */
struct delayed {
	atomic_int sleeps;  /* how many sleeps have begun */
	unsigned forced;    /* sleeps that the kernel counted as waits for a CPU */
	uint64_t kernel_ns; /* time waited for a CPU, by the kernel's figure */
	uint64_t slept_ns;  /* least time slept: the time requested */
};

static inline bool delayed_pin(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return !sched_setaffinity(pid, sizeof(set), &set);
}

/* How often another thread took the CPU from this one. */
static inline long delayed_preempted(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_nivcsw;
}

static inline void delayed_sleep(struct delayed *d)
{
	struct schedstat before, after;
	uint64_t from, wall, queued;
	long preempted;

	delayed_pin(0, 0);
	spin_ms(2);
	/* Waits before or after the kernel's figure is read are in `wall`, not in `queued`. */
	preempted = delayed_preempted();
	from = now_ns(CLOCK_MONOTONIC);
	before = schedstat(getpid(), getpid());
	atomic_fetch_add(&d->sleeps, 1);
	sleep_ms(DELAYED_MS);
	after = schedstat(getpid(), getpid());
	wall = now_ns(CLOCK_MONOTONIC) - from;
	queued = after.delay - before.delay;
	/* On a busy machine it may have waited for a CPU when its timer ran already. */
	if (delayed_preempted() != preempted)
		return;
	d->slept_ns += DELAYED_MS * MS;
	/* It slept for so much of the time, and cannot have waited for a CPU meanwhile. */
	d->forced += queued > wall - DELAYED_MS * MS + DELAYED_MS * MS / 2;
}

/* Move each sleep as soon as it has begun. The mover must not wait for a CPU itself. */
static inline void delayed_move(struct delayed *d, pid_t pid)
{
	struct sched_param high = { .sched_priority = 1 };
	const struct timespec moment = { .tv_nsec = 200000 };
	int seen = 0;

	delayed_pin(0, 1);
	sched_setscheduler(0, SCHED_FIFO, &high);
	while (!kill(pid, 0) && seen < DELAYED_ROUNDS) {
		nanosleep(&moment, NULL);
		if (atomic_load(&d->sleeps) == seen)
			continue;
		seen = atomic_load(&d->sleeps);
		delayed_pin(pid, 1);
	}
}

static inline pid_t delayed_spinner(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	delayed_pin(0, 0);
	for (;;)
		spin_ms(1000);
}

/*
 * Run all of this in separate processes. Returns the sleeper's PID, or -1 if there are not two
 * CPUs.
 */
static inline pid_t delayed_run(struct delayed *d)
{
	pid_t spinners[DELAYED_SPINNERS], mover, pid;

	if (!delayed_pin(0, 1) || !delayed_pin(0, 0))
		return -1;
	for (int i = 0; i < DELAYED_SPINNERS; i++)
		spinners[i] = delayed_spinner();
	pid = fork();
	if (!pid) {
		for (int i = 0; i < DELAYED_ROUNDS; i++)
			delayed_sleep(d);
		_exit(0);
	}
	mover = fork();
	if (!mover) {
		delayed_move(d, pid);
		_exit(0);
	}
	/* The figure of a dead thread has the waits of its end, too. */
	wait_dead(pid);
	d->kernel_ns = schedstat(pid, pid).delay;
	waitpid(pid, NULL, 0);
	kill(mover, SIGKILL);
	waitpid(mover, NULL, 0);
	for (int i = 0; i < DELAYED_SPINNERS; i++) {
		kill(spinners[i], SIGKILL);
		waitpid(spinners[i], NULL, 0);
	}
	return pid;
}

#endif
