/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * contend seconds
 *
 * The demo's load. Some threads for each thing that a system waits for: two compute and contend
 * for a mutex, two pass a byte through a pair of pipes, one writes to the disk and waits for
 * it. The file is created in the working directory and unlinked at once. Prints how many rounds
 * each thread made, and getrusage.
 */
#include <fcntl.h>
#include <pthread.h>

#include "tests/synprog/truth.h"

static double deadline;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ping[2], pong[2];

static int running(void)
{
	return truth_clock(CLOCK_MONOTONIC) < deadline;
}

static __attribute__((noinline)) uint64_t compute(uint64_t state, int turns)
{
	for (int i = 0; i < turns; i++)
		TRUTH_TURN(state);
	return state;
}

static void *fight_for_lock(void *count)
{
	uint64_t state = 1;

	for (; running(); ++*(long *)count) {
		pthread_mutex_lock(&lock);
		state = compute(state, 2);
		pthread_mutex_unlock(&lock);
		state = compute(state, 1);
	}
	return NULL;
}

static void *send_ping(void *count)
{
	char byte = 0;

	for (; running(); ++*(long *)count)
		if (write(ping[1], &byte, 1) != 1 || read(pong[0], &byte, 1) != 1)
			break;
	close(ping[1]);
	return NULL;
}

static void *answer_ping(void *count)
{
	char byte;

	for (; read(ping[0], &byte, 1) == 1; ++*(long *)count)
		if (write(pong[1], &byte, 1) != 1)
			break;
	return NULL;
}

static void *wait_for_disk(void *count)
{
	static char block[256 << 10];
	char name[] = "contend-XXXXXX";
	int fd = mkstemp(name);

	if (fd < 0)
		truth_die("contend: mkstemp");
	unlink(name);
	for (; running(); ++*(long *)count) {
		off_t at = *(long *)count % 64 * sizeof(block);

		if (pwrite(fd, block, sizeof(block), at) < 0 || fsync(fd))
			truth_die("contend: write");
	}
	close(fd);
	return NULL;
}

static struct {
	const char *name;
	void *(*fn)(void *);
	pthread_t thread;
	long count;
} jobs[] = {
	{ .name = "lock", .fn = fight_for_lock }, { .name = "lock", .fn = fight_for_lock },
	{ .name = "pipe", .fn = send_ping },      { .name = "pipe", .fn = answer_ping },
	{ .name = "disk", .fn = wait_for_disk },
};

enum { NJOBS = sizeof(jobs) / sizeof(jobs[0]) };

int main(int argc, char **argv)
{
	deadline = truth_clock(CLOCK_MONOTONIC) + (argc > 1 ? atof(argv[1]) : 1);
	if (pipe(ping) || pipe(pong))
		truth_die("contend: pipe");
	for (int i = 0; i < NJOBS; i++)
		if (pthread_create(&jobs[i].thread, NULL, jobs[i].fn, &jobs[i].count))
			truth_die("contend: pthread_create");
	for (int i = 0; i < NJOBS; i++) {
		pthread_join(jobs[i].thread, NULL);
		truth_say(jobs[i].name, jobs[i].count);
	}
	truth_say_usage("", RUSAGE_SELF);
	return 0;
}
