/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by all workloads: functions that burn a known amount of CPU time, and print the
 * amounts, one `name<TAB>seconds` per line on standard output. Tests compare recordings with
 * these figures, so they come from the kernel's own clocks, never from counting.
 */
#ifndef SYNPROG_TRUTH_H
#define SYNPROG_TRUTH_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static inline double truth_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static inline double truth_thread_cpu(void)
{
	return truth_clock(CLOCK_THREAD_CPUTIME_ID);
}

/*
 * One turn of pure user time, some hundred microseconds. The system call that reads the
 * thread's clock between two turns is negligible beside it.
 */
#define TRUTH_TURN(state)                                                       \
	do {                                                                    \
		for (int turn_ = 0; turn_ < 200000; turn_++)                    \
			(state) = (state) * 6364136223846793005ULL + 1442695040888963407ULL; \
		__asm__ volatile("" : "+r"(state));                             \
	} while (0)

/*
 * Define void name(double *acc, double seconds): burns CPU time in this function and adds the
 * time to *acc.
 */
#define TRUTH_BURNER(name)                                                      \
	static __attribute__((noinline)) void name(double *acc, double seconds) \
	{                                                                       \
		double start = truth_thread_cpu(), now;                         \
		uint64_t state = 88172645463325252ULL;                          \
                                                                                \
		do {                                                            \
			TRUTH_TURN(state);                                      \
			now = truth_thread_cpu();                               \
		} while (now - start < seconds);                                \
		*acc += now - start;                                            \
	}

/* One write per line, so that processes that share a pipe do not mix their lines. */
static inline void truth_say(const char *name, double seconds)
{
	char line[160];
	int n = snprintf(line, sizeof(line), "%s\t%.6f\n", name, seconds);

	if (write(STDOUT_FILENO, line, n) != n)
		_exit(1);
}

static inline void truth_say_id(const char *name, long id, double seconds)
{
	char full[80];

	snprintf(full, sizeof(full), "%s:%ld", name, id);
	truth_say(full, seconds);
}

static inline double truth_seconds(struct timeval tv)
{
	return tv.tv_sec + tv.tv_usec / 1e6;
}

/*
 * Print user and system time and their sum for `who`, by getrusage; the prefix is "" or
 * "children-". For the process itself also print its `pid`.
 */
static inline void truth_say_usage(const char *prefix, int who)
{
	struct rusage ru;
	char name[40];

	getrusage(who, &ru);
	snprintf(name, sizeof(name), "%suser", prefix);
	truth_say(name, truth_seconds(ru.ru_utime));
	snprintf(name, sizeof(name), "%ssystem", prefix);
	truth_say(name, truth_seconds(ru.ru_stime));
	snprintf(name, sizeof(name), "%scpu", prefix);
	truth_say(name, truth_seconds(ru.ru_utime) + truth_seconds(ru.ru_stime));
	if (who == RUSAGE_SELF)
		truth_say("pid", getpid());
}

/*
 * The system call instruction itself, inlined into the workload's function. libc's wrappers
 * keep no frame pointer, so an unwinder that follows frame pointers would miss their caller.
 */
static inline __attribute__((always_inline)) long raw_call4(long nr, long a, long b, long c, long d)
{
#ifdef __x86_64__
	register long r10 __asm__("r10") = d;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return ret;
#else
	return syscall(nr, a, b, c, d);
#endif
}

static inline __attribute__((always_inline)) long raw_call(long nr, long a, long b, long c)
{
	return raw_call4(nr, a, b, c, 0);
}

static inline __attribute__((noreturn)) void truth_die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/* fork, or end the program. */
static inline pid_t truth_fork(void)
{
	pid_t pid = fork();

	if (pid < 0)
		truth_die("fork");
	return pid;
}

#endif
