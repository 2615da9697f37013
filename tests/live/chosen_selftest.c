/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The choice of waits by sample points and by a threshold, and what a budget sheds from them. */
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/live/child.h"

static struct capture_plan states = { .interval_ns = 10 * MS, .states = true };

static void short_and_long(void)
{
	for (int i = 0; i < 20; i++) {
		uint64_t before = now_ns(CLOCK_MONOTONIC);

		sleep_ms(1);
		report->n += now_ns(CLOCK_MONOTONIC) - before >= 8 * MS; /* the machine is busy */
		sleep_ms(12);
	}
}

/* A threshold: all waits of at least this length are recorded, and no others. */
static void test_threshold(void)
{
	struct capture_plan plan = states;
	size_t n = 0, wrong = 0;
	struct capture *c;
	pid_t pid;

	plan.trace_ns = 8 * MS;
	c = begin(&plan);
	pid = child(short_and_long);
	waitpid(pid, NULL, 0);
	end(c);
	for (size_t i = 0; i < waits.len; i++) {
		const struct er_wait *w = &waits.data[i];
		bool whole = w->blocked_weight == w->blocked_ns && w->runq_weight == w->runq_ns;

		wrong += w->blocked_ns + w->runq_ns < plan.trace_ns ||
			 !(w->flags & ER_WAIT_TRACED) || !whole;
		n += w->task.tid == (uint32_t)pid && w->syscall == SYS_clock_nanosleep;
	}
	result("threshold", n >= 20 && n <= 20 + report->n && !wrong,
	       "%zu waits of 20 and up to %u, %zu of all wrong", n, report->n, wrong);
	check_rest("threshold, rests");
	capture_close(c);
}

/* The time since boot without the time that this thread waited for a CPU. */
static uint64_t not_queued_ns(void)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);

	return now - schedstat(getpid(), gettid()).delay;
}

static void one_to_three(void)
{
	uint64_t until = now_ns(CLOCK_MONOTONIC) + 2000ull * MS, at;

	do {
		at = not_queued_ns();
		sleep_ms(1);
		report->a_ns += not_queued_ns() - at;
		at = not_queued_ns();
		poll(NULL, 0, 3);
		report->b_ns += not_queued_ns() - at;
	} while (now_ns(CLOCK_MONOTONIC) < until);
}

/*
 * Two alternating waits, with times of 1 : 3. The records' weights must have this ratio, too. With
 * a random choice the weights would scatter like those of n independent waits. The bound is 4 sigma
 * of that.
 */
static void test_proportion(void)
{
	struct capture_plan plan = states;
	uint64_t first = 0, all = 0;
	double got, want, sigma;
	struct capture *c;
	size_t n = 0;
	pid_t pid;

	plan.wait_interval_ns = 2 * MS;
	c = begin(&plan);
	pid = child(one_to_three);
	while (!waitpid(pid, NULL, WNOHANG))
		capture_drain(c, 50, take, NULL);
	end(c);
	for (size_t i = 0; i < waits.len; i++) {
		const struct er_wait *w = &waits.data[i];

		if (w->task.tid != (uint32_t)pid || !w->blocked_weight)
			continue;
		n++;
		all += w->blocked_weight;
		first += w->syscall == SYS_clock_nanosleep ? w->blocked_weight : 0;
	}
	got = all ? (double)first / all : 0;
	want = (double)report->a_ns / (report->a_ns + report->b_ns);
	sigma = n ? want * (1 - want) / n : 1; /* variance */
	result("waits of 1 : 3", n > 50 && (got - want) * (got - want) <= 16 * sigma,
	       "%.1f %% of the weight, %.1f %% of the time, %zu waits", 100 * got, 100 * want, n);
	check_rest("waits of 1 : 3, rests");
	capture_close(c);
}

static int ends[2];

static void read_bytes(void)
{
	char byte;

	close(ends[1]);
	while (read(ends[0], &byte, 1) == 1)
		;
}

/* Counts the waits of `tid` in read(2), and how many of them have each detail. */
struct seen {
	size_t n, woken, waker_stack, stack, user;
};

static struct seen count_reads(uint32_t tid)
{
	struct seen ret = { 0 };

	for (size_t i = 0; i < waits.len; i++) {
		const struct er_wait *w = &waits.data[i];
		const uint64_t *frames = map_get(&stacks, w->stack);

		if (w->task.tid != tid || w->syscall != SYS_read || !w->blocked_weight)
			continue;
		ret.n++;
		ret.woken += w->waker_tid == (uint32_t)gettid() && !(w->flags & ER_WAIT_WAKER_IRQ);
		ret.waker_stack += w->waker_stack != 0;
		ret.stack += w->stack != 0;
		ret.user += frames && *frames & 0xffff;
	}
	return ret;
}

/* This thread ends the waits of a child. At each level of shedding the waits have fewer details. */
static void shed_at(enum capture_shedding level, uint64_t distance, struct seen *seen)
{
	enum { N = 5 };
	struct capture_plan plan = states;
	struct capture *c;
	pid_t pid;

	plan.waker_stacks = true;
	c = begin(&plan);
	capture_set_shedding(c, level);
	capture_set_distance(c, distance);
	if (pipe(ends))
		exit(2);
	pid = child(read_bytes);
	close(ends[0]);
	for (int i = 0; i < N; i++) {
		wait_asleep(pid);
		sleep_ms(30);
		if (write(ends[1], "", 1) != 1)
			exit(2);
	}
	wait_asleep(pid);
	sleep_ms(30);
	close(ends[1]);
	waitpid(pid, NULL, 0);
	end(c);
	*seen = count_reads(pid);
	capture_close(c);
}

static void test_shed(void)
{
	struct seen s;

	shed_at(SHED_NOTHING, 10 * MS, &s);
	/* Five waits are long enough to be recorded certainly. Short ones may be recorded, too. */
	result("wakers", s.woken >= 5, "%zu of %zu waits were ended by this thread", s.woken, s.n);
	result("nothing shed", s.waker_stack >= 4 && s.user >= 4,
	       "%zu stacks of wakers and %zu with user frames of %zu", s.waker_stack, s.user, s.n);
	shed_at(SHED_WAKER_STACKS, 10 * MS, &s);
	result("stacks of wakers shed", s.n >= 5 && !s.waker_stack && s.user >= 4,
	       "%zu stacks of wakers and %zu with user frames of %zu", s.waker_stack, s.user, s.n);
	shed_at(SHED_USER_STACKS, 10 * MS, &s);
	result("user stacks shed", s.stack >= 4 && !s.user,
	       "%zu stacks, %zu with user frames of %zu", s.stack, s.user, s.n);
	shed_at(SHED_SHORT_STACKS, 10 * MS, &s);
	result("stacks of long waits kept", s.stack >= 4, "%zu stacks of %zu", s.stack, s.n);
	shed_at(SHED_SHORT_STACKS, 1000 * MS, &s);
	result("stacks of short waits shed", !s.stack, "%zu stacks of %zu", s.stack, s.n);
}

int main(int argc, char **argv)
{
	static const struct selftest cases[] = {
		{ "threshold", test_threshold },
		{ "proportion", test_proportion },
		{ "shed", test_shed },
	};

	child_init();
	return selftest_main(argc, argv, cases, sizeof(cases) / sizeof(*cases));
}
