/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/calibrate.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "user/record/schedule.h"

enum { FACTOR = 6, BATCHES = 5, ROUNDS = 100, USUAL_NS = 5000 };

/* Send back each byte, until the other end closes. */
static void echo(int in, int out)
{
	char c;

	while (read(in, &c, 1) == 1 && write(out, &c, 1) == 1)
		continue;
	_exit(0);
}

/* Take the shortest of several batches: other programs that run make a batch longer. */
static uint64_t round_ns(int to, int from)
{
	uint64_t best = UINT64_MAX, t;
	char c = 0;

	for (int b = 0; b < BATCHES; b++) {
		t = now_ns();
		for (int i = 0; i < ROUNDS; i++) {
			if (write(to, &c, 1) != 1 || read(from, &c, 1) != 1)
				return 0;
		}
		t = now_ns() - t;
		best = t < best ? t : best;
	}
	return best / ROUNDS;
}

static uint64_t measure(void)
{
	__cleanup(closep) int to = -1;
	__cleanup(closep) int from = -1;
	int there[2], back[2];
	uint64_t ns;
	pid_t pid;

	if (pipe(there) < 0)
		return 0;
	to = there[1];
	if (pipe(back) < 0) {
		close(there[0]);
		return 0;
	}
	from = back[0];
	pid = fork();
	if (!pid) {
		close(to);
		echo(there[0], back[1]);
	}
	close(there[0]);
	close(back[1]);
	if (pid < 0)
		return 0;
	ns = round_ns(to, from);
	closep(&to);
	to = -1;
	waitpid(pid, NULL, 0);
	return ns;
}

static uint64_t cost_here(void)
{
	cpu_set_t old, one;
	uint64_t ns;

	/* Run both on one CPU, to measure a switch and not the wakeup of an idle CPU. */
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_getaffinity(0, sizeof(old), &old) < 0 || sched_setaffinity(0, sizeof(one), &one) < 0)
		return 0;
	ns = measure();
	sched_setaffinity(0, sizeof(old), &old);
	return ns;
}

uint64_t calibrate_threshold_of(uint64_t cost_ns)
{
	return FACTOR * (cost_ns ? cost_ns : USUAL_NS);
}

uint64_t calibrate_threshold(void)
{
	return calibrate_threshold_of(cost_here());
}
