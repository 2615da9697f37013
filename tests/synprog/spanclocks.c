/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spanclocks: calls functions whose spans are compared with clocks.
 *
 * spanclocks mixed N: two threads call mixed() N times in all. Of 64 calls most do next to nothing;
 * the others compute, sleep, give the CPU away, or wait for a lock that the other thread holds.
 * spanclocks cpu N: N times calls pair(), which reads CLOCK_THREAD_CPUTIME_ID twice, and cpu(),
 * which computes between two such reads. Prints a line for each call, in ns: the function's
 * name<TAB>what was read between. spanclocks wide N: calls one() for 1 ms each, few() for 10, 100
 * or 1000 us, two() for 2 us or, once in five, 2 ms, and wide() for 100 ns to 1 s, of which each
 * power of two is as frequent as the next; N times each, but of the calls of wide() that take more
 * than 16 ms only every 16th is made.
 */
#include <pthread.h>
#include <sys/prctl.h>

#include "tests/synprog/truth.h"

#define FUNCTION __attribute__((noinline))

enum { THREADS = 2 };

static int64_t ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void turn(long n)
{
	uint64_t state = n;

	for (long i = 0; i < n; i++) {
		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		__asm__ volatile("" : "+r"(state));
	}
}

/* --- mixed --- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

FUNCTION void mixed(long i)
{
	const struct timespec us = { 0, 10000 }, ms = { 0, 1000000 };

	switch (i % 64) {
	case 0:
	case 16:
	case 32:
		nanosleep(i % 4096 ? &us : &ms, NULL);
		break;
	case 8:
		turn(i % 4096 == 8 ? 1000000 : 20000);
		break;
	case 24:
		sched_yield();
		break;
	case 40:
		pthread_mutex_lock(&mutex);
		turn(10000);
		pthread_mutex_unlock(&mutex);
		break;
	case 48:
		turn(5000);
		nanosleep(&us, NULL);
		turn(5000);
		break;
	default:
		__asm__ volatile("");
	}
}

static void *call_mixed(void *n)
{
	prctl(PR_SET_TIMERSLACK, 1);
	for (long i = 0; i < *(long *)n; i++)
		mixed(i);
	return NULL;
}

static void mixed_all(long n)
{
	pthread_t threads[THREADS];

	n /= THREADS;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, call_mixed, &n))
			truth_die("pthread_create");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* --- cpu --- */

FUNCTION int64_t pair(void)
{
	int64_t began = ns(CLOCK_THREAD_CPUTIME_ID);

	return ns(CLOCK_THREAD_CPUTIME_ID) - began;
}

FUNCTION int64_t cpu(long n)
{
	int64_t began = ns(CLOCK_THREAD_CPUTIME_ID);

	turn(n);
	return ns(CLOCK_THREAD_CPUTIME_ID) - began;
}

static void cpu_all(long n)
{
	int64_t *pairs = calloc(n, sizeof(*pairs)), *cpus = calloc(n, sizeof(*cpus));

	if (!pairs || !cpus)
		truth_die("calloc");
	for (long i = 0; i < n; i++) {
		pairs[i] = pair();
		cpus[i] = cpu(10000 + i % 100 * 1000);
	}
	for (long i = 0; i < n; i++)
		printf("pair\t%lld\ncpu\t%lld\n", (long long)pairs[i], (long long)cpus[i]);
	free(pairs);
	free(cpus);
}

/* --- wide --- */

static void until(int64_t end)
{
	struct timespec ts = { end / 1000000000, end % 1000000000 };

	if (end - ns(CLOCK_MONOTONIC) > 1000000)
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
	while (ns(CLOCK_MONOTONIC) < end)
		;
}

FUNCTION void one(int64_t length)
{
	until(ns(CLOCK_MONOTONIC) + length);
}
FUNCTION void few(int64_t length)
{
	until(ns(CLOCK_MONOTONIC) + length);
}
FUNCTION void two(int64_t length)
{
	until(ns(CLOCK_MONOTONIC) + length);
}
FUNCTION void wide(int64_t length)
{
	until(ns(CLOCK_MONOTONIC) + length);
}

static void wide_all(long n)
{
	static const int64_t lengths[] = { 10000, 100000, 1000000 };

	for (long i = 0; i < n; i++) {
		int64_t length = 100LL << i % 24;

		one(1000000);
		few(lengths[i % 3]);
		two(i % 5 ? 2000 : 2000000);
		if (length < 16000000 || i / 24 % 16 == 0)
			wide(length + length * (i * 37 % 64) / 64);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	if (!strcmp(what, "mixed"))
		mixed_all(atol(argv[2]));
	else if (!strcmp(what, "cpu"))
		cpu_all(atol(argv[2]));
	else if (!strcmp(what, "wide"))
		wide_all(atol(argv[2]));
	else
		return 2;
	return 0;
}
