// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * renames FIRST SECOND SECONDS: a thread computes and sleeps under one name, then under
 * another. Prints for each name the thread's CPU time and, as NAME-slept, how long it slept: the
 * time of the call without the time that the thread then waited for a CPU.
 */
#include <sys/prctl.h>

#include "tests/synprog/truth.h"

TRUTH_BURNER(burn)

/* The seconds that this thread waited for a CPU, by the kernel's figure. */
static double waited_for_cpu(void)
{
	unsigned long long ran, waited = 0;
	FILE *f = fopen("/proc/thread-self/schedstat", "re");

	if (!f || fscanf(f, "%llu %llu", &ran, &waited) != 2)
		truth_die("schedstat");
	fclose(f);
	return waited / 1e9;
}

/* The clock without the time that this thread waited for a CPU. If it waits now, look again. */
static double clock_with_cpu(void)
{
	double queued, now;

	do {
		queued = waited_for_cpu();
		now = truth_clock(CLOCK_MONOTONIC);
	} while (waited_for_cpu() != queued);
	return now - queued;
}

static void live_as(const char *name, double seconds)
{
	struct timespec half = { .tv_nsec = 1e9 * seconds / 2 };
	double slept, start, computed = 0;
	char label[40];

	if (prctl(PR_SET_NAME, name))
		truth_die("prctl");
	start = truth_thread_cpu();
	burn(&computed, seconds);
	slept = clock_with_cpu();
	nanosleep(&half, NULL);
	slept = clock_with_cpu() - slept;
	truth_say(name, truth_thread_cpu() - start);
	snprintf(label, sizeof(label), "%s-slept", name);
	truth_say(label, slept);
}

int main(int argc, char **argv)
{
	double seconds = argc > 3 ? atof(argv[3]) : 0;

	if (seconds <= 0 || seconds > 1) {
		fprintf(stderr, "usage: renames FIRST SECOND SECONDS (at most 1)\n");
		return 2;
	}
	live_as(argv[1], seconds);
	live_as(argv[2], 2 * seconds > 1 ? 1 : 2 * seconds);
	truth_say("pid", getpid());
	return 0;
}
