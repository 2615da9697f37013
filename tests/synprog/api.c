/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Uses the collector API, and prints its "pid" and what a recording must have: "NAME", tab, number.
 * `api [SECONDS]` computes in `shown` while it is recorded, in `hidden` in a pause and in `after` when
 * it has ended the recording. "shown" is the CPU time of the first, and "visible" that of all but the
 * other two, in seconds. `api samples N` makes N samples in each of four threads. `api pauses N` pauses
 * and resumes N times. `api wrong` calls as no program should. `api cost N` prints the time of a call in
 * ns. `api exec` goes on as another `api samples 1`, and `api fork` has a child that makes a sample.
 * `api jit` runs two functions that it has generated, `generated one` and `generated_two`, at one place in
 * turn, and removes each; then the same code runs without a name. The loop of the first is line 2 of
 * generated.src, that of the other line 4. `api wait HOW…` first waits for a byte
 * from its input.
 */
#define NEED_COLLECTOR_MODULE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collectorAPI.h"

enum { THREADS = 4, LONG_NAME = 65536 };

#define FUNCTION __attribute__((noinline, noclone))

static volatile unsigned long sink;

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static double cpu(void)
{
	return seconds(CLOCK_THREAD_CPUTIME_ID);
}

/* Each computes for some seconds of CPU time. */
static FUNCTION void shown(double s)
{
	for (double end = cpu() + s; cpu() < end;)
		for (int i = 0; i < 10000; i++)
			sink += i;
}

static FUNCTION void hidden(double s)
{
	for (double end = cpu() + s; cpu() < end;)
		for (int i = 0; i < 10000; i++)
			sink += i;
}

static FUNCTION void after(double s)
{
	for (double end = cpu() + s; cpu() < end;)
		for (int i = 0; i < 10000; i++)
			sink += i;
}

/* In a pause. Returns its CPU time. */
static double measured_hidden(double s)
{
	double begin = cpu();

	hidden(s);
	return cpu() - begin;
}

static double measured(double s)
{
	double begin = cpu();

	shown(s);
	return cpu() - begin;
}

static int phases(double s)
{
	double sum = measured(s), unseen;

	collector_sample("first & <last>");
	collector_pause();
	unseen = measured_hidden(s);
	collector_pause();
	collector_sample("paused");
	unseen += measured_hidden(s);
	collector_resume();
	collector_resume();
	sum += measured(s);
	collector_terminate_expt();
	printf("visible\t%.6f\n", cpu() - unseen);
	after(s);
	collector_sample("too late");
	collector_resume();
	collector_terminate_expt();
	printf("shown\t%.6f\n", sum);
	return 7;
}

static void *take_samples(void *n)
{
	for (long i = 0; i < *(long *)n; i++)
		collector_sample("four");
	return NULL;
}

static int samples(long n)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, take_samples, &n))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("samples\t%ld\n", n * THREADS);
	return 0;
}

static int pauses(long n)
{
	double sum = 0, unseen = 0;

	for (long i = 0; i < n; i++) {
		collector_pause();
		unseen += measured_hidden(0.002);
		collector_resume();
		sum += measured(0.002);
	}
	printf("shown\t%.6f\nvisible\t%.6f\n", sum, cpu() - unseen);
	return 0;
}

static int wrong(void)
{
	char *name = malloc(LONG_NAME);

	memset(name, 'x', LONG_NAME - 1);
	name[LONG_NAME - 1] = 0;
	errno = 12345;
	collector_resume();
	collector_sample(name);
	collector_sample(NULL);
	collector_sample("");
	collector_sample("\x1b[31m\n\xff\xfe\"'</event>");
	collector_thread_pause(pthread_self());
	collector_thread_resume(pthread_self());
	collector_module_load("m", NULL);
	collector_module_unload(NULL);
	close_range(3, ~0U, 0);
	collector_sample("closed");
	printf("errno\t%d\n", errno);
	free(name);
	return 0;
}

static int cost(long n)
{
	double begin = seconds(CLOCK_MONOTONIC);

	for (long i = 0; i < n; i++)
		collector_sample("cost");
	printf("cost\t%.2f\n", (seconds(CLOCK_MONOTONIC) - begin) / n * 1e9);
	return 0;
}

static int in_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		collector_sample("child");
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	collector_sample("parent");
	return 0;
}

static void run_loop(void *at, double s)
{
	void (*loop)(unsigned long) = (void (*)(unsigned long))(uintptr_t)at;

	for (double end = cpu() + s; cpu() < end;)
		loop(1000000);
}

/* A loop that counts down. */
static int jit(double s)
{
	static const unsigned char code[] = { 0x48, 0x89, 0xf9, 0x48, 0xff, 0xc9, 0x75, 0xfb, 0xc3 };
	static const char *const names[] = { "generated one", "generated_two" };
	Lineno lines[][2] = { { { 0, 1 }, { 3, 2 } }, { { 1, 3 }, { 3, 4 } } };
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	collector_func_unload(NULL);
	collector_func_unload(page);
	collector_func_load(NULL, NULL, NULL, page, 1, 0, NULL);
	collector_func_load("negative", NULL, NULL, page, -1, 0, NULL);
	collector_func_load("none", NULL, NULL, NULL, 1, 0, NULL);
	memcpy(page, code, sizeof(code));
	for (int i = 0; i < 2; i++) {
		collector_func_load(names[i], i ? NULL : "the first", "generated.src", page, sizeof(code), 2, lines[i]);
		run_loop(page, s);
		collector_func_unload(page);
	}
	run_loop(page, s);
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "0.2";
	long n = argc > 2 ? atol(argv[2]) : 1;
	char go;

	printf("pid\t%d\n", getpid());
	fflush(stdout);
	if (!strcmp(how, "wait")) {
		if (argc < 3 || read(STDIN_FILENO, &go, 1) != 1)
			return 1;
		how = argv[2];
		n = argc > 3 ? atol(argv[3]) : 1;
	}
	if (!strcmp(how, "samples"))
		return samples(n);
	if (!strcmp(how, "pauses"))
		return pauses(n);
	if (!strcmp(how, "wrong"))
		return wrong();
	if (!strcmp(how, "cost"))
		return cost(n);
	if (!strcmp(how, "jit"))
		return jit(0.3);
	if (!strcmp(how, "fork"))
		return in_child();
	if (!strcmp(how, "exec"))
		return execl("/proc/self/exe", "api", "samples", "1", NULL);
	return phases(atof(how));
}
