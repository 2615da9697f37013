/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spans: calls functions whose times it knows itself. Prints, a line each, in ns:
 *
 *	compute<TAB>duration<TAB>CPU time   of each call, read just inside it
 *	sleeps<TAB>duration                 the same
 *	empty<TAB>duration                  of each call, read just outside it
 *
 * spans stay: calls stay(), which does not return. spans chain: calls fifty functions, each by
 * itself and then each by the one before. spans exec: calls become(), which executes `true`.
 * spans exit: calls leave() in three threads; it ends its thread. spans tested: calls tested(0) to
 * tested(9), which returns 5 less; and opens(2), opens(1), closes(), a nap, closes(), each opens() in a
 * deeper frame. spans calls: opens files, one by a path that is in no page of the process. spans beat
 * FILE: calls beat() until FILE exists and then 20 times more; prints beats<TAB>number. spans deep FILE:
 * waits until FILE exists, and then nests a hundred calls of recurse(), and 400 pairs of opens() and
 * closes(). spans system: calls in_kernel(), which makes the kernel work. spans churn N: calls empty() N
 * times; prints the ns of CPU time, and of time, of a call.
 */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>

#include "tests/synprog/truth.h"

#define FUNCTION __attribute__((noinline))

enum { COMPUTES = 40, SLEEPS = 10, LOCKS = 5, EMPTIES = 2000, JUMPS = 4, DEPTH = 6, DEEP = 100, PAIRS = 400,
       THREADS = 3 };

static int64_t ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void nap(long us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&ts, NULL);
}

FUNCTION void compute(void)
{
	int64_t began = ns(CLOCK_MONOTONIC), cpu = ns(CLOCK_THREAD_CPUTIME_ID), mono;
	uint64_t state = 88172645463325252ULL;

	do {
		TRUTH_TURN(state);
		mono = ns(CLOCK_MONOTONIC) - began;
	} while (mono < 1000000);
	cpu = ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	mono = ns(CLOCK_MONOTONIC) - began;
	printf("compute\t%lld\t%lld\n", (long long)mono, (long long)cpu);
}

FUNCTION void sleeps(void)
{
	int64_t began = ns(CLOCK_MONOTONIC);

	nap(5000);
	printf("sleeps\t%lld\n", (long long)(ns(CLOCK_MONOTONIC) - began));
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t held;

FUNCTION void locks(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void *hold(void *arg)
{
	pthread_mutex_lock(&mutex);
	pthread_barrier_wait(&held);
	nap(5000);
	pthread_mutex_unlock(&mutex);
	return arg;
}

static void lock_all(void)
{
	pthread_t thread;

	pthread_barrier_init(&held, NULL, 2);
	for (int i = 0; i < LOCKS; i++) {
		if (pthread_create(&thread, NULL, hold, NULL))
			truth_die("pthread_create");
		pthread_barrier_wait(&held);
		locks();
		pthread_join(thread, NULL);
	}
}

FUNCTION int empty(int i)
{
	__asm__ volatile("" : "+r"(i));
	return i;
}

FUNCTION long asked(int i, const char *text, long l)
{
	__asm__ volatile("" ::: "memory");
	return text[0] ? i * l : 0;
}

FUNCTION int recurse(int n)
{
	return n ? recurse(n - 1) + 1 : 0;
}

static jmp_buf back;

FUNCTION void inner(void)
{
	longjmp(back, 1);
}

FUNCTION void outer(void)
{
	if (!setjmp(back))
		inner();
}

FUNCTION void first(void) { __asm__ volatile(""); }
FUNCTION void second(void) { __asm__ volatile(""); }

FUNCTION void leave(void)
{
	pthread_exit(NULL);
}

static void *thread_leave(void *arg)
{
	leave();
	return arg;
}

static void exit_all(void)
{
	pthread_t thread;

	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&thread, NULL, thread_leave, NULL))
			truth_die("pthread_create");
		pthread_join(thread, NULL);
	}
}

FUNCTION void become(void)
{
	execlp("true", "true", NULL);
	truth_die("execlp");
}

FUNCTION void stay(void)
{
	for (;;)
		nap(1000000);
}

FUNCTION int tested(int i)
{
	__asm__ volatile("" : "+r"(i));
	return i - 5;
}

FUNCTION void opens(int i) { __asm__ volatile("" :: "r"(i)); }
FUNCTION void closes(void) { __asm__ volatile(""); }

FUNCTION void nest(int i)
{
	opens(i);
	if (i > 1) {
		nest(i - 1);
		nap(2000);
	}
	closes();
}

static void test_all(void)
{
	for (int i = 0; i < 10; i++)
		tested(i);
	nest(2);
}

/* The kernel brings the page when it reads the path; a probe at the call's begin does not. */
static void call_all(void)
{
	static const char path[] = "/dev/zero/late";
	FILE *f = tmpfile();
	char *page;

	if (!f || fwrite(path, sizeof(path), 1, f) != 1 || fflush(f))
		truth_die("tmpfile");
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fileno(f), 0);
	if (page == MAP_FAILED || madvise(page, 4096, MADV_DONTNEED))
		truth_die("mmap");
	open("/dev/null/early", O_WRONLY | O_NOATIME);
	open(page, O_RDONLY | O_NOATIME);
}

FUNCTION void beat(void) { nap(1000); }

static void beat_until(const char *file)
{
	int n = 0, more = 20;

	for (; more; n++) {
		beat();
		more -= !access(file, F_OK);
	}
	printf("beats\t%d\n", n);
}

static void recurse_after(const char *file)
{
	while (access(file, F_OK))
		nap(1000);
	recurse(DEEP - 1);
	nest(PAIRS);
}

FUNCTION void in_kernel(int fd)
{
	static char bytes[8 << 20];

	for (int i = 0; i < 4; i++)
		if (read(fd, bytes, sizeof(bytes)) != sizeof(bytes))
			truth_die("read");
}

static void kernel_all(void)
{
	int fd = open("/dev/zero", O_RDONLY);

	for (int i = 0; i < COMPUTES; i++)
		in_kernel(fd);
}

static void churn(long n)
{
	int64_t cpu = ns(CLOCK_THREAD_CPUTIME_ID), began = ns(CLOCK_MONOTONIC);

	for (long i = 0; i < n; i++)
		empty(i);
	printf("%.1f\t%.1f\n", (double)(ns(CLOCK_THREAD_CPUTIME_ID) - cpu) / n,
	       (double)(ns(CLOCK_MONOTONIC) - began) / n);
}

/* f00 … f49 */
#define CHAIN(row) \
	row(00, 01) row(01, 02) row(02, 03) row(03, 04) row(04, 05) row(05, 06) row(06, 07) row(07, 08) \
	row(08, 09) row(09, 10) row(10, 11) row(11, 12) row(12, 13) row(13, 14) row(14, 15) row(15, 16) \
	row(16, 17) row(17, 18) row(18, 19) row(19, 20) row(20, 21) row(21, 22) row(22, 23) row(23, 24) \
	row(24, 25) row(25, 26) row(26, 27) row(27, 28) row(28, 29) row(29, 30) row(30, 31) row(31, 32) \
	row(32, 33) row(33, 34) row(34, 35) row(35, 36) row(36, 37) row(37, 38) row(38, 39) row(39, 40) \
	row(40, 41) row(41, 42) row(42, 43) row(43, 44) row(44, 45) row(45, 46) row(46, 47) row(47, 48) \
	row(48, 49) row(49, 50)

#define DECLARE(n, next) void f##n(int go_on);
#define DEFINE(n, next) FUNCTION void f##n(int go_on) { if (go_on) f##next(1); __asm__ volatile(""); }
#define CALL(n, next) f##n(0);

CHAIN(DECLARE)
static void f50(int go_on) { (void)go_on; }
CHAIN(DEFINE)

static void time_empties(void)
{
	static int64_t took[EMPTIES];

	for (int i = 0; i < EMPTIES; i++) {
		took[i] = ns(CLOCK_MONOTONIC);
		empty(i);
		took[i] = ns(CLOCK_MONOTONIC) - took[i];
	}
	for (int i = 0; i < EMPTIES; i++)
		printf("empty\t%lld\n", (long long)took[i]);
}

static void all(void)
{
	for (int i = 0; i < COMPUTES; i++)
		compute();
	for (int i = 0; i < SLEEPS; i++)
		sleeps();
	lock_all();
	time_empties();
	recurse(DEPTH - 1);
	asked(1, "select 1", -7);
	asked(2, "select <2>", -8);
	for (int i = 0; i < JUMPS; i++)
		outer();
	first();
	second();
	first(); /* begins again without an end */
	first();
	second();
	second(); /* an end without a begin */
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "all";

	if (!strcmp(what, "stay"))
		stay();
	else if (!strcmp(what, "chain")) {
		CHAIN(CALL)
		f00(1);
	} else if (!strcmp(what, "exec"))
		become();
	else if (!strcmp(what, "exit"))
		exit_all();
	else if (!strcmp(what, "tested"))
		test_all();
	else if (!strcmp(what, "calls"))
		call_all();
	else if (!strcmp(what, "beat"))
		beat_until(argv[2]);
	else if (!strcmp(what, "deep"))
		recurse_after(argv[2]);
	else if (!strcmp(what, "churn"))
		churn(atol(argv[2]));
	else if (!strcmp(what, "system"))
		kernel_all();
	else
		all();
	return 0;
}
