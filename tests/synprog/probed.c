/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probed CALLS THREADS FORKS: calls functions a known number of times, for probes on them.
 *
 * Each of THREADS threads, and of FORKS children that run one after another, calls target CALLS
 * times, each fourth time from caller_b, else from caller_a, with the arguments 0, 1, 2 … Each
 * call of target passes the USDT probe probed:passed (which has a semaphore). Each thread
 * allocates memory CALLS times. At the end main passes probed:absent once, whose argument is in memory
 * that nobody has touched. Prints what was called: NAME COUNT, a line each.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user/api/usdt.h"

USDT_SEMAPHORE(probed, passed);
USDT_SEMAPHORE(probed, absent);

/* In memory that the children share. */
struct counts {
	atomic_long target, caller_a, caller_b, above, watched, allocations;
};

static struct counts *counts;
static long ncalls;
static volatile long total;

long target(long n, int thread)
{
	atomic_fetch_add(&counts->target, 1);
	if (n > 100)
		atomic_fetch_add(&counts->above, 1);
	if (probed_passed_semaphore)
		atomic_fetch_add(&counts->watched, 1);
	USDT_PROBE(probed, passed, &n, (int)n);
	return n + thread;
}

static __attribute__((always_inline)) inline void inlined(long n)
{
	total += n;
}

void caller_a(long n, int thread)
{
	atomic_fetch_add(&counts->caller_a, 1);
	inlined(target(n, thread));
}

void caller_b(long n, int thread)
{
	atomic_fetch_add(&counts->caller_b, 1);
	inlined(target(n, thread));
}

void allocate(void)
{
	void *volatile p = malloc(40);

	atomic_fetch_add(&counts->allocations, 1);
	free(p);
}

static void work(int thread)
{
	for (long i = 0; i < ncalls; i++) {
		if (i % 4 == 3)
			caller_b(i, thread);
		else
			caller_a(i, thread);
		allocate();
	}
}

static void *run(void *arg)
{
	work((int)(long)arg);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	long nthreads, nforks;
	void *untouched;

	if (argc != 4)
		return 2;
	ncalls = atol(argv[1]);
	nthreads = atol(argv[2]);
	nforks = atol(argv[3]);
	if (nthreads < 0 || nthreads > 64)
		return 2;
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (counts == MAP_FAILED)
		return 1;
	for (long i = 0; i < nthreads; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)i))
			return 1;
	for (long i = 0; i < nthreads; i++)
		pthread_join(threads[i], NULL);
	for (long i = 0; i < nforks; i++) {
		pid_t child = fork();

		if (!child) {
			work(i);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	untouched = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	USDT_POINTED(probed, absent, untouched);
	printf("target %ld\ncaller_a %ld\ncaller_b %ld\nabove %ld\nwatched %ld\nallocations %ld\nforks %ld\n",
	       counts->target, counts->caller_a, counts->caller_b, counts->above, counts->watched,
	       counts->allocations, nforks);
	return 0;
}
