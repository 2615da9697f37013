/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pipe_pair SLICES OPERATIONS: the same load as "perf bench sched pipe", on CPU 0. Two processes
 * pass a word to each other over two pipes; there and back is one operation. For each slice of
 * OPERATIONS it prints microseconds per operation: the CPU time of both processes, and the elapsed
 * time. One of the two processes always runs, but elapsed time also contains other work of the CPU:
 * other programs, and the hypervisor's.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/synprog/truth.h"

static void hand_over(int from, int to)
{
	int word = 0;

	if (write(to, &word, sizeof(word)) != sizeof(word) ||
	    read(from, &word, sizeof(word)) != sizeof(word))
		truth_die("pipe");
}

static void hand_back(int from, int to)
{
	int word;

	while (read(from, &word, sizeof(word)) == sizeof(word))
		if (write(to, &word, sizeof(word)) != sizeof(word))
			break;
}

static double cpu_seconds(clockid_t others)
{
	return truth_clock(CLOCK_PROCESS_CPUTIME_ID) + truth_clock(others);
}

int main(int argc, char **argv)
{
	int slices = argc == 3 ? atoi(argv[1]) : 0, there[2], back[2];
	long operations = argc == 3 ? atol(argv[2]) : 0;
	cpu_set_t cpu;
	clockid_t others;
	pid_t other;

	if (slices < 1 || operations < 1)
		return 2;
	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	if (sched_setaffinity(0, sizeof(cpu), &cpu) || pipe(there) || pipe(back))
		truth_die("pipe");
	other = fork();
	if (!other) {
		close(there[1]);
		hand_back(there[0], back[1]);
		return 0;
	}
	close(there[0]);
	close(back[1]);
	if (clock_getcpuclockid(other, &others))
		truth_die("clock_getcpuclockid");
	for (int i = 0; i < slices; i++) {
		double start = cpu_seconds(others), begin = truth_clock(CLOCK_MONOTONIC);

		for (long j = 0; j < operations; j++)
			hand_over(back[0], there[1]);
		printf("%.4f %.4f\n", (cpu_seconds(others) - start) * 1e6 / operations,
		       (truth_clock(CLOCK_MONOTONIC) - begin) * 1e6 / operations);
	}
	close(there[1]);
	wait(NULL);
	return 0;
}
