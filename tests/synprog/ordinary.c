/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ordinary SECONDS
 *
 * What a profiler inside a program may disturb. Sends itself SIGURG, which it handles, three times
 * while it burns in main_work; burns in small_work, in a thread with the smallest stack; loads libm
 * and burns in its functions; burns in odd_work, in a thread that pthread_create() does not make; sleeps
 * for a millisecond 50 times. Prints how many SIGURG it handled,
 * how often a sleep was cut short, each function's CPU time, and getrusage.
 */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <threads.h>

#include "tests/synprog/truth.h"

TRUTH_BURNER(main_work)
TRUTH_BURNER(small_work)
TRUTH_BURNER(odd_work)

enum { SIGNALS = 3, SLEEPS = 50 };

static double seconds;
static volatile int handled;

static void on_urgent(int sig)
{
	handled += sig == SIGURG;
}

static void *small_thread(void *unused)
{
	double cpu = 0;

	small_work(&cpu, seconds);
	truth_say("small_work", cpu);
	return unused;
}

static void run_small(void)
{
	pthread_attr_t attr;
	pthread_t t;

	if (pthread_attr_init(&attr) || pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN) ||
	    pthread_create(&t, &attr, small_thread, NULL) || pthread_join(t, NULL))
		truth_die("thread");
}

static int odd_thread(void *unused)
{
	double cpu = 0;

	odd_work(&cpu, seconds);
	truth_say("odd_work", cpu);
	return unused != NULL;
}

static void run_odd(void)
{
	thrd_t t;

	if (thrd_create(&t, odd_thread, NULL) != thrd_success || thrd_join(t, NULL) != thrd_success)
		truth_die("thrd_create");
}

static void run_loaded(void)
{
	void *lib = dlopen("libm.so.6", RTLD_NOW);
	double (*gamma)(double) = lib ? (double (*)(double))dlsym(lib, "lgamma") : NULL;
	double start = truth_thread_cpu(), x = 0;

	if (!gamma)
		truth_die("libm.so.6");
	while (truth_thread_cpu() - start < seconds)
		for (int i = 0; i < 1000; i++)
			x += gamma(i + 0.5);
	truth_say("libm", x > 0 ? truth_thread_cpu() - start : 0);
}

static int sleep_often(void)
{
	const struct timespec t = { .tv_nsec = 1000000 };
	int cut = 0;

	for (int i = 0; i < SLEEPS; i++)
		cut += nanosleep(&t, NULL) != 0;
	return cut;
}

int main(int argc, char **argv)
{
	double cpu = 0;

	if (argc != 2)
		return 2;
	seconds = atof(argv[1]);
	signal(SIGURG, on_urgent);
	for (int i = 0; i < SIGNALS; i++) {
		main_work(&cpu, seconds / SIGNALS);
		raise(SIGURG);
	}
	truth_say("main_work", cpu);
	run_small();
	run_loaded();
	run_odd();
	truth_say("cut", sleep_often());
	truth_say("handled", handled);
	truth_say_usage("", RUSAGE_SELF);
	return 0;
}
