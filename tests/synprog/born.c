/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * born SECONDS: begins a thread every millisecond. Each touches a fresh page every 10 ms, in touch(), for
 * a second. When the last has ended, it prints what the kernel counted for each thread:
 *
 *	TID MINFLT
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/synprog/truth.h"

enum { PAGE = 4096, ROUNDS = 100, THREADS_MAX = 20000 };

static struct {
	pid_t tid;
	long faults;
} lives[THREADS_MAX];

static void touch(volatile char *p)
{
	*p = 1;
}

static void *live(void *arg)
{
	const size_t i = (size_t)arg;
	char *p = mmap(NULL, ROUNDS * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rusage ru;

	if (p == MAP_FAILED)
		exit(2);
	madvise(p, ROUNDS * PAGE, MADV_NOHUGEPAGE);
	for (int round = 0; round < ROUNDS; round++) {
		touch(p + round * PAGE);
		usleep(10000);
	}
	munmap(p, ROUNDS * PAGE);
	getrusage(RUSAGE_THREAD, &ru);
	lives[i].tid = gettid();
	lives[i].faults = ru.ru_minflt;
	return NULL;
}

int main(int argc, char **argv)
{
	double end = truth_clock(CLOCK_MONOTONIC) + (argc > 1 ? atof(argv[1]) : 1);
	static pthread_t threads[THREADS_MAX];
	size_t n = 0;

	while (n < THREADS_MAX && truth_clock(CLOCK_MONOTONIC) < end) {
		if (pthread_create(&threads[n], NULL, live, (void *)n))
			exit(2);
		n++;
		usleep(1000);
	}
	for (size_t i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < n; i++)
		printf("%d\t%ld\n", lives[i].tid, lives[i].faults);
	return 0;
}
