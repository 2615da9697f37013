/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loaders/clock_cost.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "loaders/perf_event.h"

enum {
	TRIES = 5,
	TRY_NS = 2000000,
	PERIOD_NS = 250000,
	STEP_NS = 1000,
};

/* CPU time of this thread. The kernel's interrupts are in it, as in any program's. */
static uint64_t own_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* How much work is done in a while. Of several tries the best is the least disturbed. */
static void work(uint64_t *best)
{
	uint64_t end = own_ns() + TRY_NS, n = 0;

	while (own_ns() < end)
		n++;
	*best = n > *best ? n : *best;
}

static int open_clock(void)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(a),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
		.exclude_kernel = 1, /* as everybody may; the timer expires in the kernel, too */
		.exclude_hv = 1,
		.disabled = 1,
	};

	return syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

uint64_t clock_cost_ns(void)
{
	__cleanup(closep) int fd = open_clock();
	uint64_t without = 0, with = 0;

	for (int i = 0; i < TRIES && fd >= 0; i++) {
		work(&without);
		if (perf_event_enable(fd))
			return 0;
		work(&with);
		perf_event_disable(fd);
	}
	return with && with < without ? (without - with) * PERIOD_NS / without : 0;
}

uint64_t clock_cost_least(uint64_t cost_ns)
{
	return (2 * cost_ns + STEP_NS - 1) / STEP_NS * STEP_NS;
}
