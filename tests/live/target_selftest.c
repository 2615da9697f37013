/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Captures of one thread, of one process, and of all processes but our own. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/live/clock_sums.h"

/*
 * The first thread of a process, which has the process's number. Its children and the other threads
 * are not captured.
 */
static void test_target_thread(void)
{
	struct capture_target target = { .pid = getpid(), .tid = gettid() };
	struct capture_plan plan = { .interval_ns = 1 * MS, .targets = &target, .ntargets = 1 };
	struct capture *c;
	pthread_t other;

	tally_reset(getpid());
	c = begin(&plan);
	burn_children(5, 10);
	pthread_create(&other, NULL, spin_and_go, NULL);
	pthread_join(other, NULL);
	spin_ms(100);
	end(c);
	result("target thread", t.weight > 95 * MS && !t.foreign && t.by_tid.len == 1,
	       "%llu ns, %llu records of others", (unsigned long long)t.weight,
	       (unsigned long long)t.foreign);
	capture_close(c);
}

static void test_target_process(void)
{
	struct capture_target target = { 0 };
	struct capture_plan plan = { .interval_ns = 1 * MS, .targets = &target, .ntargets = 1 };
	uint64_t want = rusage_ns(RUSAGE_CHILDREN);
	struct capture *c;
	clockid_t clock;
	uint64_t used;
	int go[2];
	char byte;

	if (pipe(go))
		exit(2);
	target.pid = fork();
	if (!target.pid) {
		close(go[1]);
		if (read(go[0], &byte, 1) == 0)
			spin_ms(200);
		_exit(0);
	}
	/* Sleeps in read() from before the recording; its CPU time until then does not count. */
	clock_getcpuclockid(target.pid, &clock);
	do {
		used = now_ns(clock);
		usleep(100000);
	} while (now_ns(clock) != used);
	want += used;
	tally_reset(target.pid);
	c = begin(&plan);
	close(go[0]);
	close(go[1]);
	spin_ms(50);
	reap(target.pid);
	want = rusage_ns(RUSAGE_CHILDREN) - want;
	end(c);
	result("target process", near(t.weight, want, 0.01, 0) && !t.foreign,
	       "%llu ns, kernel %llu ns, %llu records of others", (unsigned long long)t.weight,
	       (unsigned long long)want, (unsigned long long)t.foreign);
	capture_close(c);
}

static void test_exclude_self(void)
{
	struct capture_plan plan = { .interval_ns = 1 * MS,
				     .exclude_self = true,
				     .self = getpid() };
	struct capture *c;

	tally_reset(getpid());
	c = begin(&plan);
	spin_ms(100);
	end(c);
	result("self left out", !t.weight, "%llu ns", (unsigned long long)t.weight);
	capture_close(c);
}

static const struct selftest cases[] = {
	{ "thread", test_target_thread },
	{ "process", test_target_process },
	{ "self", test_exclude_self },
};

int main(int argc, char **argv)
{
	return selftest_main(argc, argv, cases, sizeof(cases) / sizeof(*cases));
}
