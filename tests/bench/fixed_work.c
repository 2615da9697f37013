/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fixed_work THREADS SLICES TURNS: each thread computes SLICES slices of TURNS equal turns.
 * Prints the seconds of CPU time of each slice. The times include interrupts and the BPF
 * programs that run in them.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/synprog/truth.h"

static int slices;
static long turns;

static void *work(void *seconds)
{
	uint64_t state = 1;

	for (int i = 0; i < slices; i++) {
		double start = truth_thread_cpu();

		for (long j = 0; j < turns; j++)
			TRUTH_TURN(state);
		((double *)seconds)[i] = truth_thread_cpu() - start;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	enum { MAX_THREADS = 64, MAX_SLICES = 1000 };
	static double seconds[MAX_THREADS][MAX_SLICES];
	pthread_t thread[MAX_THREADS];
	int n = argc == 4 ? atoi(argv[1]) : 0;

	slices = argc == 4 ? atoi(argv[2]) : 0;
	turns = argc == 4 ? atol(argv[3]) : 0;
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
