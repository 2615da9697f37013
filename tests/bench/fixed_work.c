/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fixed_work THREADS TURNS: the same amount of computation each time it runs;
 * prints the seconds that it took. What a recorder costs shows in them.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/synprog/truth.h"

static void *work(void *arg)
{
	uint64_t state = 1;

	for (long i = 0; i < *(long *)arg; i++)
		TRUTH_TURN(state);
	return NULL;
}

int main(int argc, char **argv)
{
	enum { MAX_THREADS = 64 };
	pthread_t thread[MAX_THREADS];
	int n = argc > 1 ? atoi(argv[1]) : 1;
	long turns = argc > 2 ? atol(argv[2]) : 1000;
	double start = truth_clock(CLOCK_MONOTONIC);

	if (n < 1 || n > MAX_THREADS)
		return 2;
	for (int i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, work, &turns))
			truth_die("pthread_create");
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	printf("%.5f\n", truth_clock(CLOCK_MONOTONIC) - start);
	return 0;
}
