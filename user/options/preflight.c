/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/options/preflight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "loaders/clock_cost.h"
#include "loaders/family_uprobes.h"
#include "loaders/features.h"
#include "loaders/targets.h"
#include "user/record/collector_attach.h"
#include "user/record/load.h"
#include "user/record/status.h"
#include "user/record/statusfile.h"
#include "user/space/procfs.h"

enum { PF_KTHREAD = 0x00200000 }; /* include/linux/sched.h; shown in /proc/PID/stat */

static bool is_kthread(pid_t tid)
{
	struct buf b = { 0 };
	unsigned flags = 0;
	char *p;

	if (!procfs_read(tid, "stat", &b) && b.data && (p = strrchr(b.data, ')')))
		sscanf(p, ") %*c %*d %*d %*d %*d %*d %u", &flags);
	buf_free(&b);
	return flags & PF_KTHREAD;
}

static bool has_thread(pid_t pid, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", pid, tid);
	return !access(path, F_OK);
}

static int check_target(const struct plan *plan, const struct capture_target *t, struct diag *d)
{
	if (!t->pid && !is_kthread(t->tid))
		return diag_error(d, "-T 0/%d: there is no such kernel thread: see ps -e", t->tid);
	if (t->pid && is_kthread(t->pid))
		return diag_error(d, "-%c %d: this is a thread of the kernel: write -T 0/%d",
				  plan->program ? 'P' : 'T', t->pid, t->pid);
	if (t->pid && !has_thread(t->pid, t->pid))
		return diag_error(d, "-%c %d: there is no such process: see ps -e",
				  plan->program ? 'P' : 'T', t->pid);
	if (t->pid && t->tid && !has_thread(t->pid, t->tid))
		return diag_error(d, "-T %d/%d: the process has no such thread: see ps -L -p %d",
				  t->pid, t->tid, t->pid);
	return 0;
}

/* BPF uses PIDs of the initial namespace: others would silently select other processes. */
static int check_numbers(const struct plan *plan, struct diag *d)
{
	if ((!plan->targets.len && !plan->capture.exclude_self) || plan->perf || features_host_numbers())
		return 0;
	return diag_error(d, "%s: process numbers in this container are not those of the host, by "
			     "which the kernel tells processes apart: record outside the container",
			  plan->program ? "-P" : plan->targets.len ? "-T" : "--no-self");
}

void preflight_clock(struct plan *plan, struct diag *d)
{
	uint64_t interval = plan->capture.interval_ns, cost, least;

	if (!interval || interval >= CLOCK_COST_SAFE_NS || plan->timers)
		return;
	cost = clock_cost_ns();
	least = clock_cost_least(cost);
	if (interval >= least)
		return;
	diag_warn(d, "-p: a tick of the clock takes %g microseconds of a CPU here: the interval is set to %g "
		     "microseconds, so that programs get half of it", (double)(cost / 1000), least / 1e3);
	plan->capture.interval_ns = least;
}

struct children {
	pid_t of;
	unsigned n;
};

static void count_child(void *ctx, pid_t pid)
{
	struct children *c = ctx;
	struct procfs_stat st;

	c->n += procfs_stat(pid, &st) && st.ppid == c->of;
}

/* The backends of a database, say: whoever records its first process finds nothing of them. */
static void warn_of_children(const struct plan *plan, struct diag *d)
{
	struct children c = { 0 };

	if (!plan->program || plan->load || plan->follow == FOLLOW_OFF)
		return;
	c.of = plan->targets.data[0].pid;
	procfs_for_each(count_child, &c);
	if (c.n)
		diag_warn(d, "-P: process %d has %u child process%s from before, not recorded: er_kernel -T records several "
			     "processes", (int)c.of, c.n, c.n == 1 ? "" : "es");
}

static int check_status(const char *path, struct diag *d)
{
	struct statusfile *f = statusfile_open(path, d);

	statusfile_close(f);
	return f ? 0 : -1;
}

int preflight_named(const struct plan *plan, struct diag *d)
{
	if (plan->status && check_status(plan->status, d) < 0)
		return -1;
	vec_for_each(t, &plan->targets) {
		if (check_target(plan, t, d) < 0)
			return -1;
	}
	return plan->load ? load_check(plan->load, d) : 0;
}

int preflight(const struct plan *plan, struct diag *d)
{
	int least, most, err;

	if (check_numbers(plan, d) < 0)
		return -1;
	if (!user_stack_limit_valid(&least, &most))
		return diag_error(d, "SP_COLLECTOR_STACKBUFSZ='%s': it is the most frames of a stack: write a number from %d to "
				     "%d, or unset it", getenv("SP_COLLECTOR_STACKBUFSZ"), least, most);
	err = preflight_named(plan, d);
	if (err)
		return err;
	warn_of_children(plan, d);
	if (!plan_profiles(plan))
		diag_warn(d, "-p off: nothing is profiled: only usage samples are recorded");
	return 0;
}

/* The recorded processes, which the caller frees. */
static pid_t *processes(const struct plan *plan, size_t *n)
{
	pid_t *pids = xcalloc(plan->targets.len + 1, sizeof(*pids));

	*n = 0;
	vec_for_each(t, &plan->targets) {
		if (t->pid)
			pids[(*n)++] = t->pid;
	}
	return pids;
}

int preflight_probes(struct plan *plan, struct diag *d)
{
	size_t n;
	__cleanup(freep) pid_t *pids = processes(plan, &n);

	plan->capture.nprobes = plan->probes.len;
	return probes_find(&plan->probes, pids, n, d);
}

void preflight_locks(struct plan *plan)
{
	if (plan->locks && !plan->load)
		plan->locks = lock_attach_possible(plan->targets.data[0].pid);
}

int preflight_heap(struct plan *plan, struct diag *d)
{
	size_t n;
	__cleanup(freep) pid_t *pids = processes(plan, &n);
	__cleanup(freep) char *path = plan->heap && plan->load ? load_path(plan->load) : NULL;
	int err = 0;

	if (path)
		err = heap_sites_of_program(path, d, &plan->heap_sites);
	else if (plan->heap && n)
		err = heap_sites_of_processes(pids, n, d, &plan->heap_sites);
	if (path && !err && plan->perf && plan->heap_sites.sites.len)
		return diag_error(d, "-H: %s is linked statically or set-user-id, and the heap of such a program is traced with "
				     "privileges only: leave -H out, or run as root", path);
	plan->heap_sites.inherit = plan->heap_sites.shared &&
				   (plan->load ? heap_sites_can_trap() :
				    plan->program && plan->follow != FOLLOW_OFF && family_uprobes_possible());
	return err;
}

static void preview_trace(const struct plan *plan, FILE *out)
{
	const char *waits = plan->capture.only_locks ? "waits for locks" : "waits";

	if (plan->capture.trace_ns == TRACE_CALIBRATED)
		fprintf(out, "traced waits:   %s above a calibrated threshold\n", waits);
	else if (plan->capture.trace_ns == TRACE_ALL)
		fprintf(out, "traced waits:   all %s%s\n", waits, plan->locks ? "; each lock that is taken is counted" : "");
	else if (plan->capture.trace_ns)
		fprintf(out, "traced waits:   %s from %.3f ms on\n", waits, plan->capture.trace_ns / 1e6);
}

static void preview_states(const struct plan *plan, FILE *out)
{
	if (plan->capture.interval_ns)
		fprintf(out, "microstates:    %s%s\n", plan->capture.states ? "all ten" : "only those on a CPU",
			plan->capture.split ? ", user and system time by each system call" : "");
	preview_trace(plan, out);
	if (plan->capture.interval_ns && plan->budget)
		fprintf(out, "budget:         %g %% of all CPU time\n", 100 * plan->budget);
}

static const char *ends_with(const struct plan *plan)
{
	if (!plan->program)
		return plan->load ? "with the load" : "by Ctrl-C";
	if (!plan->load)
		return "with the process, or by Ctrl-C";
	return plan->follow == FOLLOW_OFF ? "with the program" : "with the program's last descendant";
}

static void preview_times(const struct plan *plan, FILE *out)
{
	if (plan->capture.interval_ns)
		fprintf(out, "clock interval: %.3f ms on each CPU%s\n", plan->capture.interval_ns / 1e6,
		       plan->capture.idle ? ", idle ones too" : "");
	else
		fprintf(out, "clock interval: none\n");
	preview_states(plan, out);
	vec_for_each(c, &plan->counters)
		fprintf(out, "counter:        %s, every %llu\n", c->name,
			(unsigned long long)c->event.interval);
	if (plan->heap)
		fprintf(out, "heap:           %s\n", plan->heap == HEAP_SAMPLED ?
			"a sample, one allocation in 512 KiB" : "each allocation and free");
	if (plan->capture.io)
		fprintf(out, "I/O:            each system call that does I/O\n");
	vec_for_each(p, &plan->probes)
		fprintf(out, "probe:          %s, %zu place%s%s\n", p->spec.name, probe_nplaces(p),
			probe_nplaces(p) == 1 ? "" : "s", p->counts_only ? ", counted only" : "");
	vec_for_each(p, &plan->spans)
		diag_say(out, "span:           %s", p->text);
	if (plan->sample_s)
		fprintf(out, "usage samples:  every %u s\n", plan->sample_s);
	else
		fprintf(out, "usage samples:  at the start and the end\n");
	if (plan->sample_signal)
		fprintf(out, "sample signal:  %s\n", strsignal(plan->sample_signal));
	if (plan->pause_signal)
		fprintf(out, "pause signal:   %s%s\n", strsignal(plan->pause_signal),
			plan->begin_paused ? ", begins paused" : "");
	if (plan->begin_ns)
		fprintf(out, "begins:         after %.3f s\n", plan->begin_ns / 1e9);
	if (plan->end_ns)
		fprintf(out, "ends:           after %.3f s\n", plan->end_ns / 1e9);
	else
		fprintf(out, "ends:           %s\n", ends_with(plan));
	if (plan->load && !plan->program)
		fprintf(out, "quiet periods:  %.3f s\n", plan->quiet_ns / 1e9);
}

static void preview_roll(const struct plan *plan, FILE *out)
{
	char size[32];

	fprintf(out, "segments:       the next one ");
	if (plan->roll_ns)
		fprintf(out, "after %g s", plan->roll_ns / 1e9);
	if (plan->roll_bytes) {
		status_bytes(plan->roll_bytes, size, sizeof(size));
		fprintf(out, "%sat %s", plan->roll_ns ? ", or " : "", size);
	}
	fprintf(out, "\n");
}

static void preview_keep(const struct plan *plan, FILE *out)
{
	char size[32];

	if (!plan->keep_bytes)
		return;
	status_bytes(plan->keep_bytes, size, sizeof(size));
	fprintf(out, "kept:           %s of %s; the oldest go\n", size, plan->flight_ns ? "dumps" : "segments");
}

static void preview_flight(const struct plan *plan, const struct expname *name, FILE *out)
{
	__cleanup(freep) char *dumps = expname_dumps(name);
	char size[32];

	diag_say(out, "dumps:          %s, by er_kernel --ctl dump", dumps);
	status_bytes(plan->flight_bytes, size, sizeof(size));
	fprintf(out, "in memory:      the last %g s, at most %s\n", plan->flight_ns / 1e9, size);
	if (plan->dump_signal)
		fprintf(out, "dump signal:    %s\n", strsignal(plan->dump_signal));
	for (int i = 0; i < PRESSURE_COUNT; i++) {
		const struct pressure_limit *l = &plan->pressure[i];

		if (l->percent > 0)
			fprintf(out, "dump pressure:  %s above %g %% of %g s, then not for %g s\n",
				pressure_name(i), l->percent, l->window_ns / 1e9,
				plan->cooldown_ns / 1e9);
	}
	if (plan->dump_at_end)
		fprintf(out, "dump at end:    yes\n");
}

void preflight_preview(const struct plan *plan, const struct expname *name, FILE *out)
{
	static const char *const follow[] = {
		[FOLLOW_OFF] = "none", [FOLLOW_SHARED] = "all, with one experiment for each program",
		[FOLLOW_ALL] = "all", [FOLLOW_MATCHING] = "those that match ",
	};
	static const char *const descendants[] = {
		[FOLLOW_OFF] = "only the program itself", [FOLLOW_SHARED] = "all descendants",
		[FOLLOW_ALL] = "all descendants", [FOLLOW_MATCHING] = "descendants that match ",
	};
	static const char *const archiving[] = { "no", "what names need", "whole binaries" };

	if (plan->flight_ns)
		preview_flight(plan, name, out);
	else
		diag_say(out, "experiment:     %s", name->path);
	if (name->group)
		diag_say(out, "group:          %s", name->group);
	if (plan->status)
		diag_say(out, "status file:    %s", plan->status);
	if (plan_rolls(plan) && !plan->flight_ns)
		preview_roll(plan, out);
	preview_keep(plan, out);
	preview_times(plan, out);
	diag_say(out, "followed:       %s%s", (plan->program ? descendants : follow)[plan->follow],
		 plan->follow == FOLLOW_MATCHING ? plan->follow_regexp : "");
	vec_for_each(t, &plan->targets) {
		if (t->tid)
			fprintf(out, "target:         %d/%d\n", t->pid, t->tid);
		else
			fprintf(out, "target:         %d\n", t->pid);
	}
	fprintf(out, "archives:       %s\n", archiving[plan->archiving]);
	if (plan->archiving != ARCHIVE_NOTHING && plan->archive_bytes)
		fprintf(out, "archive limit:  %llu MB\n",
			(unsigned long long)plan->archive_bytes >> 20);
	if (plan->limit_bytes)
		fprintf(out, "size limit:     %llu MB\n", (unsigned long long)plan->limit_bytes >> 20);
	if (plan->load) {
		struct buf words = { 0 };

		for (char **a = plan->load; *a; a++)
			buf_printf(&words, " %s", *a);
		diag_say(out, plan->program ? "program:       %s" : "load:          %s", words.data);
		buf_free(&words);
	}
}

int preflight_check(void)
{
	size_t n;
	const struct feature *f = features_probe(&n);

	for (size_t i = 0; i < n; i++) {
		printf("%-3s  %s%s\n", f[i].ok ? "yes" : "no", f[i].name,
		       f[i].required ? " (required)" : "");
		if (!f[i].ok)
			printf("     why:     %s\n     without: %s\n     remedy:  %s\n", f[i].why,
			       f[i].cost, f[i].remedy);
	}
	return features_missing() ? 1 : 0;
}
