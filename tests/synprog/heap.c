/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocates and frees, and prints what it did: for each function "NAME.allocs", "NAME.bytes",
 * "NAME.leaks" and "NAME.leaked", tab, number. `heap fork` does the same in a child as well, `heap
 * threads` in four threads, which free each other's blocks. `heap sampled` leaks blocks for -H sampled.
 * `heap attached` prints "ready" and then does each of "all", "threads", "odd", "family" and "relatives" when it reads
 * that word. It prints "done" afterwards, and the numbers when its input ends. "family": three descendants do what "all"
 * is: a child of another thread, its child, and a program that a child of vfork has become. "relatives": a
 * child does what "all" is after its own children have ended, with which it took turns. `heap quiet` does it
 * without printing.
 * `heap churn N` makes N pairs of malloc and free at a depth of 20 calls and prints the CPU time and the
 * elapsed time of a pair in ns.
 */
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
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

enum {
	BEFORE_MAIN, LEAK, CHURN, GROW, ZEROED, ALIGNED, MAP, HAND, SMALL_BLOCKS, LARGE_BLOCKS, REFUSED, LEFT, INNER,
	NAMES
};

static struct count counts[NAMES] = {
	[BEFORE_MAIN] = { "before_main" }, [LEAK] = { "leak" },	      [CHURN] = { "churn" },
	[GROW] = { "grow" },		   [ZEROED] = { "zeroed" },   [ALIGNED] = { "aligned" },
	[MAP] = { "map" },		   [HAND] = { "hand_over" },
	[REFUSED] = { "refused" },	   [LEFT] = { "leave" },      [INNER] = { "after_leaving" },
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

/* What fails is no allocation, and the old block is as before. */
static FUNCTION void refused(void)
{
	volatile size_t huge = ~0ul >> 2, most = ~0ul;
	void *p = malloc(123), *none = NULL;

	note(REFUSED, 123, 1);
	for (int i = 0; i < 10; i++)
		if (malloc(huge) || calloc(huge, 2) || realloc(p, huge) || reallocarray(p, most, 2) ||
		    !posix_memalign(&none, 64, huge) ||
		    mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
			abort();
	free(NULL);
	sink = p;
	sink = NULL;
}

/*
 * posix_memalign cannot write to the address, and the handler of the signal jumps away: this call never
 * returns. It holds no lock then.
 */
static sigjmp_buf out;

static void jump(int sig __attribute__((unused)))
{
	siglongjmp(out, 1);
}

static FUNCTION void after_leaving(int depth)
{
	if (depth) {
		after_leaving(depth - 1);
		__asm__ volatile("" ::: "memory"); /* no tail call */
		return;
	}
	for (int i = 0; i < 10; i++) {
		sink = malloc(55);
		note(INNER, 55, 1);
	}
	sink = NULL;
}

static FUNCTION void leave(void)
{
	void **nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	note(LEFT, 4096, 0);
	signal(SIGSEGV, jump);
	if (!sigsetjmp(out, 1) && !posix_memalign(nowhere, 64, 999))
		abort();
	signal(SIGSEGV, SIG_DFL);
	munmap(nowhere, 4096);
	after_leaving(20);
	after_leaving(0);
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

/* By a thread that is not the first of its process. */
static void *have_children(void *unused)
{
	pid_t pid = fork();

	if (!pid) {
		pid = fork();
		all();
		if (pid)
			waitpid(pid, NULL, 0);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	pid = vfork();
	if (!pid) {
		execl("/proc/self/exe", "heap", "quiet", NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	return unused;
}

static void family(void)
{
	pthread_t t;

	pthread_create(&t, NULL, have_children, NULL);
	pthread_join(t, NULL);
}

/* A process and its child take turns on one CPU, so that it changes from one to the other directly. */
static void take_turns(int to, int from)
{
	char turn = 0;

	for (int i = 0; i < 10; i++)
		if (write(to, &turn, 1) != 1 || read(from, &turn, 1) != 1)
			_exit(1);
}

static void have_relative(void)
{
	int there[2], back[2];
	pid_t pid;

	if (pipe(there) || pipe(back))
		_exit(1);
	pid = fork();
	if (!pid) {
		take_turns(back[1], there[0]);
		_exit(0);
	}
	take_turns(there[1], back[0]);
	waitpid(pid, NULL, 0);
}

/* A child goes on when its own children have ended. */
static void relatives(void)
{
	cpu_set_t one;
	pid_t pid = fork();

	if (pid) {
		waitpid(pid, NULL, 0);
		return;
	}
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		_exit(1);
	for (int i = 0; i < 50; i++)
		have_relative();
	all();
	_exit(0);
}

static int attached(void)
{
	char word[100], *before[100];

	for (int i = 0; i < 100; i++)
		before[i] = malloc(60);
	dprintf(1, "ready\n");
	for (ssize_t n; (n = read(0, word, sizeof(word) - 1)) > 0; dprintf(1, "done\n")) {
		word[n] = 0;
		if (!strcmp(word, "all\n"))
			all();
		else if (!strcmp(word, "threads\n"))
			threads();
		else if (!strcmp(word, "family\n"))
			family();
		else if (!strcmp(word, "relatives\n"))
			relatives();
		else if (!strcmp(word, "odd\n")) {
			refused();
			leave();
			for (int i = 0; i < 100; i++)
				free(before[i]);
		}
	}
	print();
	return 0;
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
	if (!strcmp(what, "attached"))
		return attached();
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
	if (strcmp(what, "quiet"))
		print();
	return 0;
}
