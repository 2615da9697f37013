/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the selftests of the capture: results, clocks, and the kernel's own figures for
 * comparison. Each case prints "ok name: facts", "not ok name: facts" or "skip name: why". With an
 * argument, only the cases whose name contains it run. With "emulated" all run, and times that are
 * not taken at the same instruction may differ more.
 */
#ifndef SELFTEST_H
#define SELFTEST_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/diag.h"
#include "loaders/features.h"

enum { MS = 1000000 };

static struct diag diag = { .prefix = "selftest" };
static int failures;
static const char *only = "";
static bool emulated;

__attribute__((format(printf, 3, 4))) static inline void result(const char *name, bool ok,
								const char *fmt, ...)
{
	va_list ap;

	printf("%s %s: ", ok ? "ok" : "not ok", name);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	failures += !ok;
}

static inline uint64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static inline double ms(uint64_t ns)
{
	return ns / 1e6;
}

static inline void sleep_ms(unsigned n)
{
	struct timespec ts = { .tv_sec = n / 1000, .tv_nsec = n % 1000 * MS };

	nanosleep(&ts, NULL);
}

static inline void spin_ms(int n)
{
	uint64_t until = now_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)n * MS;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		for (volatile int i = 0; i < 2000; i++)
			;
}

/* True if the value is within this share of the wanted one, or within so many nanoseconds. */
static inline bool near(uint64_t got, uint64_t want, double share, uint64_t ns)
{
	uint64_t apart = got > want ? got - want : want - got;

	return apart <= ns || apart <= share * want;
}

/* The kernel's own figures of a thread. Its run time is accurate to a tick while it runs. */
struct schedstat {
	unsigned long long run, delay;
};

static inline struct schedstat schedstat(pid_t pid, pid_t tid)
{
	struct schedstat s = { 0 };
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, tid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%llu %llu", &s.run, &s.delay) != 2)
		s = (struct schedstat){ 0 };
	if (f)
		fclose(f);
	return s;
}

/*
 * Wait until a child has ended and has left its CPU for good. On a busy machine the child may have
 * to wait for a CPU for its last microseconds; until then the kernel says "running". The child is
 * not reaped, so its figures can be read and do not change.
 */
static inline void wait_dead(pid_t pid)
{
	char path[64], text[8] = "";
	siginfo_t info;
	bool runs;

	waitid(P_PID, pid, &info, WEXITED | WNOWAIT);
	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	do {
		FILE *f = fopen(path, "re");

		sleep_ms(1);
		runs = f && fgets(text, sizeof(text), f) && !strcmp(text, "running");
		if (f)
			fclose(f);
	} while (runs);
	sleep_ms(1); /* it is about to be switched out */
}

struct selftest {
	const char *name;
	void (*run)(void);
};

static inline int selftest_main(int argc, char **argv, const struct selftest *cases, size_t n)
{
	const struct feature *missing = features_missing();

	setvbuf(stdout, NULL, _IOLBF, 0); /* otherwise children would inherit unwritten output */
	if (missing) {
		printf("skip capture: %s: %s\n", missing->name, missing->why);
		return 0;
	}
	emulated = argc > 1 && !strcmp(argv[1], "emulated");
	if (argc > 1 && !emulated)
		only = argv[1];
	for (size_t i = 0; i < n; i++)
		if (strstr(cases[i].name, only))
			cases[i].run();
	return failures != 0;
}

#endif
