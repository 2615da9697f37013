/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * turns threads seconds
 *
 * Threads that compute for some 50 us, sleep for 5 ms, and so on, until the time is over. Each uses
 * less CPU time than lies between two samples. Prints the CPU time of all.
 */
#include <pthread.h>
#include <time.h>

#include "tests/synprog/truth.h"

static void *turns(void *arg)
{
	const struct timespec pause = { .tv_nsec = 5000000 };

	for (volatile int n = 0;;) {
		for (int i = 0; i < 20000; i++)
			n += i;
		nanosleep(&pause, NULL);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_attr_t attr;
	struct timespec cpu;
	pthread_t thread;

	if (argc < 3)
		return 2;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (int i = atoi(argv[1]); i > 0; i--) {
		if (pthread_create(&thread, &attr, turns, NULL))
			truth_die("pthread_create");
	}
	sleep(atoi(argv[2]));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	truth_say("cpu", (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9);
	return 0;
}
