/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locktaken [HOW [NUMBER]]: takes locks of each kind, nearly all of them without a wait, and prints how
 * often each of its functions took one: "FUNCTION", tab, number.
 *
 * HOW: `fork`: a child takes them as well; `exec`: it goes on as another `locktaken`; `kill`: it ends by
 * SIGKILL; `many NUMBER`: so many mutexes, each taken twice in `at_each`; `turns NUMBER TURNS IN OUT [fork]`: in
 * each turn waits for a byte from IN, takes one mutex so often, in a child with `fork`, prints the ns of CPU time that
 * taking and releasing it needed, and writes a byte to OUT.
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>

#include "tests/synprog/truth.h"

enum { THREADS = 4 };

#define FUNCTION __attribute__((noinline, noclone))

static pthread_mutex_t a_mutex = PTHREAD_MUTEX_INITIALIZER, busy = PTHREAD_MUTEX_INITIALIZER,
		       shared = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t a_rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t a_spinlock;
static pthread_cond_t a_condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t a_barrier;
static sem_t a_semaphore;
static atomic_long in_shared;

static void say(const char *name, long n)
{
	printf("%s\t%ld\n", name, n);
	fflush(stdout);
}

static FUNCTION void alone(long n)
{
	for (long i = 0; i < n; i++) {
		pthread_mutex_lock(&a_mutex);
		pthread_mutex_unlock(&a_mutex);
	}
	say("alone", n);
}

static FUNCTION void reads(long n)
{
	for (long i = 0; i < n; i++) {
		pthread_rwlock_rdlock(&a_rwlock);
		pthread_rwlock_unlock(&a_rwlock);
	}
	say("reads", n);
}

static FUNCTION void writes(long n)
{
	for (long i = 0; i < n; i++) {
		pthread_rwlock_wrlock(&a_rwlock);
		pthread_rwlock_unlock(&a_rwlock);
	}
	say("writes", n);
}

static FUNCTION void spins(long n)
{
	for (long i = 0; i < n; i++) {
		pthread_spin_lock(&a_spinlock);
		pthread_spin_unlock(&a_spinlock);
	}
	say("spins", n);
}

static FUNCTION void counts_down(long n)
{
	for (long i = 0; i < n; i++) {
		sem_post(&a_semaphore);
		sem_wait(&a_semaphore);
	}
	say("counts_down", n);
}

/* Only those that succeed count. */
static FUNCTION void tries(long n)
{
	long taken = 0;

	for (long i = 0; i < n; i++) {
		pthread_mutex_t *m = i % 3 ? &a_mutex : &busy;

		if (pthread_mutex_trylock(m))
			continue;
		taken++;
		pthread_mutex_unlock(m);
	}
	say("tries", taken);
}

/* The time limit of each is over. The mutex is taken once here; the condition takes it again by itself. */
static FUNCTION void waits(long n)
{
	static const struct timespec past = { .tv_sec = 1 };

	pthread_mutex_lock(&a_mutex);
	for (long i = 0; i < n; i++)
		pthread_cond_timedwait(&a_condition, &a_mutex, &past);
	pthread_mutex_unlock(&a_mutex);
	say("waits", n + 1);
}

static FUNCTION void *together(void *number)
{
	long n = (long)number;

	pthread_barrier_wait(&a_barrier);
	for (long i = 0; i < n; i++) {
		pthread_mutex_lock(&shared);
		pthread_mutex_unlock(&shared);
	}
	atomic_fetch_add(&in_shared, n + 1);
	return NULL;
}

static FUNCTION void joins(long n)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&a_barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, together, (void *)n))
			truth_die("thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	say("together", in_shared);
	say("joins", THREADS);
}

static FUNCTION void at_each(long n)
{
	pthread_mutex_t *all = calloc(n, sizeof(*all));

	for (long i = 0; i < 2 * n; i++) {
		pthread_mutex_lock(&all[i % n]);
		pthread_mutex_unlock(&all[i % n]);
	}
	say("at_each", 2 * n);
	free(all);
}

static void all(void)
{
	alone(1000000);
	reads(30000);
	writes(20000);
	spins(5000);
	counts_down(7000);
	tries(900);
	waits(3);
	joins(50000);
	at_each(1000);
}

static FUNCTION double turn(long n)
{
	double begin = truth_thread_cpu();

	for (long i = 0; i < n; i++) {
		pthread_mutex_lock(&a_mutex);
		pthread_mutex_unlock(&a_mutex);
	}
	return (truth_thread_cpu() - begin) / n * 1e9;
}

static void say_turn(long n)
{
	printf("%.4f\n", turn(n));
	fflush(stdout);
}

/* Another process has the other turns, so that both see the same changes of the CPU's speed. */
static int turns(long n, int nturns, const char *in, const char *out, bool forks)
{
	int from = open(in, O_RDWR | O_CLOEXEC), to = open(out, O_RDWR | O_CLOEXEC);
	char byte;

	for (int i = 0; i < nturns; i++) {
		if (read(from, &byte, 1) != 1)
			truth_die(in);
		if (!forks) {
			say_turn(n);
		} else if (!fork()) {
			say_turn(n);
			_exit(0);
		}
		while (wait(NULL) > 0)
			continue;
		if (write(to, &byte, 1) != 1)
			truth_die(out);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? atol(argv[2]) : 1000000;

	pthread_spin_init(&a_spinlock, 0);
	sem_init(&a_semaphore, 0, 0);
	pthread_mutex_lock(&busy);
	if (!strcmp(how, "many")) {
		at_each(n);
	} else if (!strcmp(how, "turns") && argc >= 6) {
		return turns(n, atoi(argv[3]), argv[4], argv[5], argc > 6);
	} else if (!strcmp(how, "fork")) {
		alone(10);
		if (!fork()) {
			all();
			_exit(0);
		}
		wait(NULL);
	} else if (!strcmp(how, "exec")) {
		alone(10);
		execl("/proc/self/exe", "locktaken", (char *)NULL);
	} else {
		all();
		if (!strcmp(how, "kill"))
			raise(SIGKILL);
	}
	return 0;
}
