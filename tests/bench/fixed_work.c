/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fixed_work THREADS SLICES TURNS [DEPTH]: each thread computes SLICES slices of TURNS equal turns,
 * below DEPTH calls. Prints the seconds of CPU time of each slice. The times include interrupts and the BPF
 * programs that run in them.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/synprog/truth.h"

static int slices;
static long turns, depth;

static void compute(double *seconds)
{
	uint64_t state = 1;

	for (int i = 0; i < slices; i++) {
		double start = truth_thread_cpu();

		for (long j = 0; j < turns; j++)
			TRUTH_TURN(state);
		seconds[i] = truth_thread_cpu() - start;
	}
}

/* The barrier after the call keeps it from being a jump. */
__attribute__((noinline)) static void descend(long n, double *seconds)
{
	if (n > 0)
		descend(n - 1, seconds);
	else
		compute(seconds);
	__asm__ volatile("" ::: "memory");
}

static void *work(void *seconds)
{
	descend(depth, seconds);
	return NULL;
}

int main(int argc, char **argv)
{
	enum { MAX_THREADS = 64, MAX_SLICES = 1000 };
	static double seconds[MAX_THREADS][MAX_SLICES];
	pthread_t thread[MAX_THREADS];
	bool sound = argc == 4 || argc == 5;
	int n = sound ? atoi(argv[1]) : 0;

	slices = sound ? atoi(argv[2]) : 0;
	turns = sound ? atol(argv[3]) : 0;
	depth = argc == 5 ? atol(argv[4]) : 0;
	if (n < 1 || n > MAX_THREADS || slices < 1 || slices > MAX_SLICES || turns < 1)
		return 2;
	for (int i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, work, seconds[i]))
			truth_die("pthread_create");
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < slices; j++)
			printf("%.6f\n", seconds[i][j]);
	return 0;
}
