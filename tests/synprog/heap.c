/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocates and frees, and prints what it did: for each function "NAME.allocs", "NAME.bytes",
 * "NAME.leaks" and "NAME.leaked", tab, number. `heap fork` does the same in a child as well, `heap
 * threads` in four threads, which free each other's blocks. `heap sampled` leaks blocks for -H sampled.
 * `heap churn N` makes N pairs of malloc and free at a depth of 20 calls and prints the CPU time and the
 * elapsed time of a pair in ns.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SMALL = 1000, GROWS = 12, CHURNS = 20000, THREADS = 4, HANDED = 5000, MAPPED = 1 << 20, BLOCKS = 200000 };

#define FUNCTION __attribute__((noinline, noclone))

struct count {
	const char *name;
	unsigned long allocs, bytes, leaks, leaked;
};

enum { BEFORE_MAIN, LEAK, CHURN, GROW, ZEROED, ALIGNED, MAP, HAND, SMALL_BLOCKS, LARGE_BLOCKS, NAMES };

static struct count counts[NAMES] = {
	[BEFORE_MAIN] = { "before_main" }, [LEAK] = { "leak" },	      [CHURN] = { "churn" },
	[GROW] = { "grow" },		   [ZEROED] = { "zeroed" },   [ALIGNED] = { "aligned" },
	[MAP] = { "map" },		   [HAND] = { "hand_over" },
	[SMALL_BLOCKS] = { "small_blocks" }, [LARGE_BLOCKS] = { "large_blocks" },
};

static void *volatile sink;
static void *handed[THREADS][HANDED];

static void note(int which, size_t bytes, int leaks)
{
	struct count *c = &counts[which];

	__atomic_fetch_add(&c->allocs, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&c->bytes, bytes, __ATOMIC_RELAXED);
	__atomic_fetch_add(&c->leaks, leaks, __ATOMIC_RELAXED);
	__atomic_fetch_add(&c->leaked, leaks ? bytes : 0, __ATOMIC_RELAXED);
}

static FUNCTION __attribute__((constructor)) void before_main(void)
{
	sink = malloc(777);
	note(BEFORE_MAIN, 777, 1);
	sink = NULL;
}

static FUNCTION void leak(void)
{
	for (int i = 0; i < SMALL; i++) {
		sink = malloc(24 + i);
		note(LEAK, 24 + i, 1);
	}
	sink = NULL;
}

static FUNCTION void churn(void)
{
	for (int i = 0; i < CHURNS; i++) {
		void *p = malloc(32 + i % 64);

		note(CHURN, 32 + i % 64, 0);
		sink = p;
		free(p);
	}
}

static FUNCTION void grow(void)
{
	char *p = NULL, *other;

	for (int i = 0; i < GROWS; i++) {
		p = realloc(p, 100 << i);
		note(GROW, 100 << i, 0);
		other = malloc(50); /* so that it has to move */
		note(GROW, 50, 0);
		sink = other;
		memset(p, 1, 100 << i);
		free(other);
	}
	sink = p;
	free(p);
}

static FUNCTION void zeroed(void)
{
	sink = calloc(10, 333);
	note(ZEROED, 3330, 1);
	sink = reallocarray(NULL, 7, 11);
	note(ZEROED, 77, 1);
	sink = NULL;
}

static FUNCTION void aligned(void)
{
	void *p;

	if (posix_memalign(&p, 256, 1000))
		abort();
	note(ALIGNED, 1000, 0);
	free(p);
	sink = aligned_alloc(64, 640);
	note(ALIGNED, 640, 1);
	sink = memalign(128, 300);
	note(ALIGNED, 300, 1);
	sink = valloc(5000);
	note(ALIGNED, 5000, 1);
	sink = NULL;
}

static FUNCTION void map(void)
{
	void *a = mmap(NULL, MAPPED, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *b = mmap(NULL, MAPPED, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	note(MAP, MAPPED, 1);
	note(MAP, MAPPED, 0);
	sink = a;
	munmap(b, MAPPED);
}

static FUNCTION void *hand_over(void *arg)
{
	void **mine = arg;

	for (int i = 0; i < HANDED; i++) {
		void *p = malloc(40), *old;

		note(HAND, 40, 0);
		old = __atomic_exchange_n(&handed[i % THREADS][i], p, __ATOMIC_ACQ_REL);
		free(old);
	}
	return mine;
}

static void threads(void)
{
	pthread_t t[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, hand_over, handed[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < THREADS; i++)
		for (int k = 0; k < HANDED; k++)
			free(handed[i][k]);
}

static FUNCTION void all(void)
{
	leak();
	churn();
	grow();
	zeroed();
	aligned();
	map();
}

static FUNCTION void small_blocks(void)
{
	for (int i = 0; i < BLOCKS; i++) {
		sink = malloc(100 + i % 100);
		note(SMALL_BLOCKS, 100 + i % 100, 1);
	}
	sink = NULL;
}

static FUNCTION void large_blocks(void)
{
	for (int i = 0; i < SMALL; i++) {
		sink = malloc(200000 + 1000 * i);
		note(LARGE_BLOCKS, 200000 + 1000 * i, 1);
	}
	sink = NULL;
}

static void print(void)
{
	for (int i = 0; i < NAMES; i++) {
		const struct count *c = &counts[i];

		dprintf(1, "%s.allocs\t%lu\n%s.bytes\t%lu\n%s.leaks\t%lu\n%s.leaked\t%lu\n", c->name,
			c->allocs, c->name, c->bytes, c->name, c->leaks, c->name, c->leaked);
	}
}

static double ns_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static FUNCTION void pairs(int depth, long n)
{
	if (depth) {
		pairs(depth - 1, n);
		__asm__ volatile("" ::: "memory"); /* no tail call */
		return;
	}
	for (long i = 0; i < n; i++) {
		sink = malloc(40);
		free(sink);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "churn")) {
		long n = argc > 2 ? atol(argv[2]) : 1000000;
		double cpu = ns_of(CLOCK_PROCESS_CPUTIME_ID), elapsed = ns_of(CLOCK_MONOTONIC);

		pairs(20, n);
		printf("cpu_ns\t%.1f\nelapsed_ns\t%.1f\n", (ns_of(CLOCK_PROCESS_CPUTIME_ID) - cpu) / n,
		       (ns_of(CLOCK_MONOTONIC) - elapsed) / n);
		return 0;
	}
	if (!strcmp(what, "fork")) {
		pid_t pid = fork();

		if (!pid) {
			all();
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	if (!strcmp(what, "sampled")) {
		small_blocks();
		large_blocks();
	} else {
		all();
	}
	if (!strcmp(what, "threads"))
		threads();
	print();
	return 0;
}
