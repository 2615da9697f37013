/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/options/unprivileged.h"

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "loaders/perf_event.h"
#include "loaders/task_perf.h"

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
	return p->heap && !p->load ? "-H with -P: the heap is traced" :
	       p->probes.len ? "--probe: calls are recorded" :
	       p->spans.len ? "--span: calls are recorded" :
	       p->capture.trace_ns ? "-s: waits are traced" :
	       p->capture.io ? "-i: system calls are traced" :
	       p->capture.split ? "--exact-user: system calls are watched" : NULL;
}

/* What the header of the experiment and the user are told. The plan keeps it until the program ends. */
static const char *sentence(const struct plan *p)
{
	static char *text;

	free(text);
	return text = xasprintf("without privileges: %swaits and kernel stacks are missing: for these run as root, or once, "
				"as root: %s", !p->capture.interval_ns ? "" :
				p->perf ? "CPU time is recorded, with user stacks of user mode; " :
				"CPU time is recorded, with user stacks, of programs that are linked dynamically; ", remedy());
}

/* Why the process's perf events may not be used; 0 or -1. A process that is not there is for later. */
static int check_perf(const char *option, pid_t pid, struct diag *d)
{
	long paranoid = kernel_sysctl("perf_event_paranoid", 2);
	int err = task_perf_try(pid);

	if (!err || err == -ESRCH)
		return 0;
	if (paranoid > 2)
		return diag_error(d, "%s: perf events need privileges here, because kernel.perf_event_paranoid is "
				     "%ld: as root: sysctl kernel.perf_event_paranoid=2, or: setcap "
				     CAPABILITIES "+ep %s", option, paranoid, own_path());
	if (err == -EACCES || err == -EPERM)
		return diag_error(d, "%s: process %d: only a process of your own can be recorded without "
				     "privileges, and not one that is set-user-id or has hidden its memory: run "
				     "as root, or once, as root: %s", option, pid, remedy());
	return diag_errno(d, -err, "%s: the kernel does not allow perf events: run as root", option);
}

/* The kernel counts these events in kernel mode only, even if a program causes them. */
static bool is_kernels(const struct capture_counter *c)
{
	if (c->type != PERF_TYPE_SOFTWARE)
		return c->type == PERF_TYPE_TRACEPOINT || c->no_user;
	switch (c->config) {
	case PERF_COUNT_SW_PAGE_FAULTS:
	case PERF_COUNT_SW_PAGE_FAULTS_MIN:
	case PERF_COUNT_SW_PAGE_FAULTS_MAJ:
	case PERF_COUNT_SW_ALIGNMENT_FAULTS:
	case PERF_COUNT_SW_EMULATION_FAULTS:
	case PERF_COUNT_SW_CPU_CLOCK:
	case PERF_COUNT_SW_TASK_CLOCK:
		return c->no_user;
	}
	return true;
}

static int check_counters(const struct plan *p, struct diag *d)
{
	vec_for_each(c, &p->counters) {
		if (is_kernels(&c->event))
			return diag_error(d, "-h %s: its events happen in the kernel, which is counted with "
					     "privileges only: leave it out, or run as root, or once, as root: %s",
					  c->name, remedy());
	}
	return 0;
}

static int plan_perf(struct plan *p, struct diag *d)
{
	if (check_perf(p->targets.len ? "-P" : p->counters.len ? "-h" : p->heap ? "-H" : "-p",
		       p->targets.len ? p->targets.data[0].pid : 0, d) < 0 || check_counters(p, d) < 0)
		return -1;
	counters_user_only(&p->counters);
	p->capture.states = false;
	p->perf = true;
	p->unprivileged = sentence(p);
	return 0;
}

int unprivileged_plan(struct plan *p, struct diag *d)
{
	const char *option = privileged_option(p);
	uint64_t tick = tick_ns();

	if (option)
		return diag_error(d, "%s with privileges only: leave it out, or run as root, or once, as root: %s",
				  option, remedy());
	if (p->targets.len || p->counters.len || p->heap)
		return plan_perf(p, d);
	if (!p->capture.interval_ns)
		return 0;
	if (p->capture.interval_ns < tick && !task_perf_try(0))
		return plan_perf(p, d);
	if (p->capture.interval_ns < tick) {
		diag_warn(d, "-p: without privileges the clock has no shorter interval than the kernel's tick: "
			     "set to %g milliseconds", tick / 1e6);
		p->capture.interval_ns = tick;
	}
	p->capture.states = false;
	p->timers = true;
	p->unprivileged = sentence(p);
	return 0;
}

void unprivileged_say(FILE *out)
{
	bool perf = !task_perf_try(0);

	fprintf(out, "yes  clock profiles of programs that collect starts, without privileges\n"
		     "     without: waits, kernel stacks and probes need privileges\n"
		     "     remedy:  run as root, or once, as root: %s\n", remedy());
	fprintf(out, "%s  -P of your own processes, counters of user mode, intervals below a tick, -H of programs that "
			 "collect starts, without privileges\n",
		perf ? "yes" : "no ");
	if (!perf)
		fprintf(out, "     why:     kernel.perf_event_paranoid is %ld\n"
			     "     remedy:  as root: sysctl kernel.perf_event_paranoid=2\n",
			kernel_sysctl("perf_event_paranoid", 2));
}
