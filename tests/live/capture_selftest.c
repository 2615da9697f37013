/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Captures of workloads with known CPU time, compared with the kernel's own figures: running
 * threads, short threads, children, losses.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/live/clock_sums.h"

struct spinner {
	pthread_t thread;
	pid_t tid;
	int ms;
	uint64_t before, after; /* its own CPU clock */
};

static pthread_barrier_t barrier;
static atomic_int spun;

static void *spin(void *arg)
{
	struct spinner *s = arg;

	s->tid = gettid();
	pthread_barrier_wait(&barrier); /* known */
	pthread_barrier_wait(&barrier); /* the capture runs */
	spin_ms(s->ms);
	atomic_fetch_add(&spun, 1);
	pthread_barrier_wait(&barrier); /* done; the thread sleeps until the capture has stopped */
	pthread_barrier_wait(&barrier);
	return NULL;
}

/* A moment after the barrier all threads sleep, and the kernel's figures are current. */
static void finish_threads(void)
{
	pthread_barrier_wait(&barrier);
	usleep(20000);
}

static void drain_until(struct capture *c, const atomic_int *done, int n)
{
	while (atomic_load(done) < n)
		capture_drain(c, 50, on_record, NULL);
}

/*
 * Threads older than the recording: compares the weights of each thread with the kernel's figure.
 */
static void test_threads(void)
{
	enum { N = 3 };
	struct spinner s[N] = { { .ms = 900 }, { .ms = 600 }, { .ms = 60 } };
	struct capture_plan plan = { .interval_ns = 997 * 1000 };
	struct capture *c;
	uint64_t lost;

	tally_reset(0);
	pthread_barrier_init(&barrier, NULL, N + 1);
	for (int i = 0; i < N; i++)
		pthread_create(&s[i].thread, NULL, spin, &s[i]);
	finish_threads();
	for (int i = 0; i < N; i++)
		s[i].before = schedstat(getpid(), s[i].tid).run;
	c = begin(&plan);
	pthread_barrier_wait(&barrier);
	drain_until(c, &spun, N);
	finish_threads();
	for (int i = 0; i < N; i++)
		s[i].after = schedstat(getpid(), s[i].tid).run;
	end(c);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < N; i++) {
		uint64_t *got = map_get(&t.by_tid, s[i].tid), want = s[i].after - s[i].before;

		pthread_join(s[i].thread, NULL);
		result("thread time", got && near(*got, want, 0.005, 0), "%llu ns, kernel %llu ns",
		       got ? (unsigned long long)*got : 0, (unsigned long long)want);
	}
	lost = check_counts("counts of records", c);
	result("nothing lost", !lost && !undefined_stacks(), "%llu lost, %zu stacks undefined",
	       (unsigned long long)lost, undefined_stacks());
	if (t.costs_runs < 1000) /* on each CPU only one run in so many is measured */
		printf("skip cost: %llu runs only\n", (unsigned long long)t.costs_runs);
	else
		result("cost", t.costs_ns > 0, "%llu ns a run of %llu",
		       (unsigned long long)(t.costs_ns / t.costs_runs),
		       (unsigned long long)t.costs_runs);
	capture_close(c);
	pthread_barrier_destroy(&barrier);
}

/* CPU time of the process without the calling thread. */
static uint64_t other_threads_ns(void)
{
	return now_ns(CLOCK_PROCESS_CPUTIME_ID) - now_ns(CLOCK_THREAD_CPUTIME_ID);
}

/*
 * A thousand threads of a millisecond each, most of them never sampled. Compares them with the
 * process's own figure.
 */
static void test_short_threads(void)
{
	struct capture_plan plan = { .interval_ns = 10 * MS + 7000 };
	uint64_t before, want, *own;
	struct capture *c;
	double share;

	tally_reset(getpid());
	c = begin(&plan);
	before = other_threads_ns();
	for (int i = 0; i < 1000; i++) {
		pthread_t p;

		pthread_create(&p, NULL, spin_and_go, NULL);
		pthread_join(p, NULL);
		if (i % 100 == 0)
			drain(c);
	}
	want = other_threads_ns() - before;
	end(c);
	own = map_get(&t.by_tid, getpid());
	t.weight -= own ? *own : 0;
	/* Threads of this length that the clock never samples. */
	share = 1 - want / 1000.0 / plan.interval_ns;
	/*
	 * The kernel adds a thread's time to its process before the thread's last microseconds: 2
	 * us each, measured at a load of 20, and more in an emulator.
	 */
	result("short threads",
	       t.weight >= want * (1 - slack()) &&
		       t.weight <= want * (1 + slack()) + 1000 * (emulated ? 500000ull : 20000) &&
		       t.unsampled > share * 1000 / 2,
	       "%llu ns, kernel %llu ns, %llu residuals without sample",
	       (unsigned long long)t.weight, (unsigned long long)want,
	       (unsigned long long)t.unsampled);
	check_counts("short threads, counts of records", c);
	capture_close(c);
}

static uint64_t others_ns;
static pid_t self;

static void only_children(void *ctx, int cpu, const void *record, size_t size)
{
	const struct er_clock *r = record;

	on_record(ctx, cpu, record, size);
	if (r->h.kind != ER_KIND_STACK && !strcmp(r->task.comm, "capture-child") &&
	    r->task.tgid != (uint32_t)self)
		others_ns += r->weight;
}

/*
 * Children that are born and die within the recording. Compares them with the parent's getrusage.
 */
static void test_children(void)
{
	struct capture_plan plan = { .interval_ns = 10 * MS + 7000 };
	uint64_t before, want, stop;
	struct capture *c;

	tally_reset(0);
	self = getpid();
	others_ns = 0;
	pthread_setname_np(pthread_self(), "capture-child");
	c = begin(&plan);
	before = rusage_ns(RUSAGE_CHILDREN);
	burn_children(100, 5);
	want = rusage_ns(RUSAGE_CHILDREN) - before;
	capture_stop(c, &stop, &diag);
	while (capture_drain(c, 0, only_children, NULL) > 0)
		;
	pthread_setname_np(pthread_self(), "selftest");
	result("children", near(others_ns, want, slack(), 0),
	       "%llu ns, kernel %llu ns",
	       (unsigned long long)others_ns, (unsigned long long)want);
	capture_close(c);
}

/* Rings of one page lose records. The counts must still balance. */
static void test_losses(void)
{
	struct capture_plan plan = { .interval_ns = 200 * 1000, .ring_bytes = 4096 };
	struct capture *c;
	uint64_t lost;

	tally_reset(0);
	c = begin(&plan);
	burn_children(20, 10);
	end(c);
	lost = check_counts("counts of records with losses", c);
	result("tiny ring loses", lost > 0, "%llu lost", (unsigned long long)lost);
	capture_close(c);
}

enum { SMALL_RING = 16384 };

/* Of test_slow_reader: what a drain took from the ring of each CPU. */
static struct taken {
	size_t bytes[CPUS];
	unsigned n;
} taken;

/* Takes so long that the clock samples this thread meanwhile, at most as often as endless. */
static void on_record_slowly(void *ctx, int cpu, const void *record, size_t size)
{
	const unsigned endless = 20 * SMALL_RING / sizeof(struct er_clock);
	uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + 300 * 1000;

	taken.bytes[cpu % CPUS] += 8 + size;
	if (++taken.n < endless) {
		while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
			continue;
	}
}

/* A drain ends although its reader is slower than the records come. */
static void test_slow_reader(void)
{
	struct capture_plan plan = { .interval_ns = 100 * 1000, .ring_bytes = SMALL_RING };
	struct capture *c;
	size_t most = 0;

	tally_reset(0);
	taken = (struct taken){ 0 };
	c = begin(&plan);
	spin_ms(5);
	capture_drain(c, 0, on_record_slowly, NULL);
	for (int cpu = 0; cpu < CPUS; cpu++)
		most = taken.bytes[cpu] > most ? taken.bytes[cpu] : most;
	end(c);
	result("slow reader", most > 0 && most < SMALL_RING + 4096, "%zu bytes of a ring in one drain", most);
	capture_close(c);
}

static void test_idle(void)
{
	struct capture_plan plan = { .interval_ns = 1 * MS, .idle = true };
	uint64_t *idle, wall = now_ns(CLOCK_MONOTONIC);
	struct capture *c;

	tally_reset(0);
	c = begin(&plan);
	usleep(300000);
	end(c);
	wall = now_ns(CLOCK_MONOTONIC) - wall;
	idle = map_get(&t.by_tid, 0);
	if (!idle)
		printf("skip idle: no CPU was idle\n");
	else
		result("idle", *idle > 0 && *idle < wall * sysconf(_SC_NPROCESSORS_ONLN),
		       "%llu ns of %llu a CPU", (unsigned long long)*idle,
		       (unsigned long long)wall);
	capture_close(c);
}

/*
 * All capabilities are given up after the start. This runs in a child, because they cannot be
 * regained.
 */
static void test_dropped_caps(void)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		struct capture_plan plan = { .interval_ns = 1 * MS };
		struct capture *c = begin(&plan);
		cap_t none = cap_init();

		tally_reset(getpid());
		failures = 0;
		cap_set_proc(none);
		cap_free(none);
		spin_ms(100);
		end(c);
		result("without capabilities", t.weight > 95 * MS, "%llu ns",
		       (unsigned long long)t.weight);
		check_counts("without capabilities, counts of records", c);
		capture_close(c);
		_exit(failures);
	}
	waitpid(pid, &status, 0);
	failures += status != 0;
}

static const struct selftest cases[] = {
	{ "threads", test_threads },	   { "short", test_short_threads },
	{ "children", test_children },	   { "losses", test_losses },
	{ "slow", test_slow_reader },	   { "idle", test_idle },
	{ "caps", test_dropped_caps },
};

int main(int argc, char **argv)
{
	return selftest_main(argc, argv, cases, sizeof(cases) / sizeof(*cases));
}
