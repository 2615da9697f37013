/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * phases SECONDS: two threads that know their own states. The first computes for 300 ms and sleeps
 *for 200 ms, again and again. The second sleeps some 100 us, so its waits are too short to be
 *sampled well. Each notes its CPU time about every 10 ms, and prints all at the end, a line each:
 *
 *	alternate|short	TID	CLOCK_MONOTONIC	CPU TIME
 */
#include <pthread.h>

#include "tests/synprog/truth.h"

enum { NOTES = 100000, NOTE_NS = 10000000 };

struct log {
	const char *name;
	pid_t tid;
	size_t n;
	struct {
		double at, cpu;
	} notes[NOTES];
};

static struct log logs[2] = { { .name = "alternate" }, { .name = "short" } };
static double until;

static void note(struct log *l)
{
	double at = truth_clock(CLOCK_MONOTONIC);

	if (l->n == NOTES || (l->n && at - l->notes[l->n - 1].at < NOTE_NS / 1e9))
		return;
	l->notes[l->n].at = at;
	l->notes[l->n++].cpu = truth_thread_cpu();
}

static void pause_for(double seconds)
{
	const struct timespec ts = { .tv_nsec = (long)(seconds * 1e9) };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
}

static void compute(struct log *l, double seconds)
{
	double start = truth_clock(CLOCK_MONOTONIC);
	uint64_t state = 88172645463325252ULL;

	while (truth_clock(CLOCK_MONOTONIC) - start < seconds) {
		TRUTH_TURN(state);
		note(l);
	}
}

static void *alternate(void *arg)
{
	struct log *l = arg;

	l->tid = syscall(SYS_gettid);
	while (truth_clock(CLOCK_MONOTONIC) < until) {
		compute(l, 0.3);
		pause_for(0.2);
		note(l);
	}
	return NULL;
}

static void *sleep_shortly(void *arg)
{
	struct log *l = arg;

	l->tid = syscall(SYS_gettid);
	while (truth_clock(CLOCK_MONOTONIC) < until) {
		pause_for(0.0001);
		note(l);
	}
	return NULL;
}

static void print(const struct log *l)
{
	for (size_t i = 0; i < l->n; i++)
		printf("%s\t%d\t%.9f\t%.9f\n", l->name, l->tid, l->notes[i].at, l->notes[i].cpu);
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	until = truth_clock(CLOCK_MONOTONIC) + (argc > 1 ? strtod(argv[1], NULL) : 5);
	if (pthread_create(&threads[0], NULL, alternate, &logs[0]) ||
	    pthread_create(&threads[1], NULL, sleep_shortly, &logs[1]))
		truth_die("pthread_create");
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		print(&logs[i]);
	}
	return 0;
}
