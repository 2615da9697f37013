/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/options/unprivileged.h"

#include <limits.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "loaders/perf_event.h"

#define CAPABILITIES "cap_bpf,cap_perfmon,cap_sys_ptrace"

/* The kernel looks at timers of CPU time on its ticks. */
static uint64_t tick_ns(void)
{
	struct timespec t;

	return clock_getres(CLOCK_MONOTONIC_COARSE, &t) ? 10000000 : t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static const char *own_path(void)
{
	static char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n > 0 ? n : 0] = 0;
	return n > 0 ? path : "collect";
}

/* What root has to do once. Above 2, as on Debian, cap_perfmon alone is not enough. */
static const char *remedy(void)
{
	static char *text;

	free(text);
	return text = xasprintf("%ssetcap " CAPABILITIES "+ep %s",
				kernel_sysctl("perf_event_paranoid", 2) > 2 ?
					"sysctl kernel.perf_event_paranoid=2; " : "", own_path());
}

/* The first option that needs privileges, with what it does. NULL: none. */
static const char *privileged_option(const struct plan *p)
{
	return p->targets.len ? "-P: a process that runs already is recorded" :
	       p->counters.len ? "-h: counters are recorded" :
	       p->heap ? "-H: the heap is traced" :
	       p->probes.len ? "--probe: calls are recorded" :
	       p->spans.len ? "--span: calls are recorded" :
	       p->capture.trace_ns ? "-s: waits are traced" :
	       p->capture.io ? "-i: system calls are traced" :
	       p->capture.split ? "--exact-user: system calls are watched" : NULL;
}

/* What the header of the experiment and the user are told. The plan keeps it until the program ends. */
static const char *sentence(void)
{
	static char *text;

	free(text);
	return text = xasprintf("without privileges: CPU time is recorded, with user stacks, of programs that "
				"are linked dynamically; waits and kernel stacks are missing: for these run "
				"as root, or once, as root: %s", remedy());
}

int unprivileged_plan(struct plan *p, struct diag *d)
{
	const char *option = privileged_option(p);
	uint64_t tick = tick_ns();

	if (option)
		return diag_error(d, "%s with privileges only: leave it out, or run as root, or once, as root: %s",
				  option, remedy());
	if (!p->capture.interval_ns)
		return 0;
	if (p->capture.interval_ns < tick) {
		diag_warn(d, "-p: without privileges the clock has no shorter interval than the kernel's tick: "
			     "set to %g milliseconds", tick / 1e6);
		p->capture.interval_ns = tick;
	}
	p->capture.states = false;
	p->timers = true;
	p->unprivileged = sentence();
	return 0;
}

void unprivileged_say(FILE *out)
{
	fprintf(out, "yes  clock profiles of programs that collect starts, without privileges\n"
		     "     without: waits, kernel stacks, counters, probes, -P and -H need privileges\n"
		     "     remedy:  run as root, or once, as root: %s\n", remedy());
}
