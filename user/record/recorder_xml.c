/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/recorder_xml.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "analysis/experiment/usage.h"
#include "analysis/experiment/xml.h"
#include "user/record/counter_log.h"
#include "user/record/probe_log.h"
#include "user/record/recorder_base.h"
#include "user/record/schedule.h"

enum { MOMENT_NS = 10000000 };

static void number(struct buf *b, const char *name, uint64_t v)
{
	buf_printf(b, " %s=\"%" PRIu64 "\"", name, v);
}

/* Written as a text for people and as single attributes for programs. */
static void write_how(const struct recorder_xml *a, struct buf *b)
{
	const char *waits = a->plan->capture.only_locks ? "waits for locks" : "waits";
	struct buf how = { 0 };

	buf_puts(&how, a->plan->timers ? "a timer of CPU time in each thread" :
		       a->plan->perf && a->plan->capture.interval_ns ? "task-clock event of each thread" :
		       a->plan->capture.interval_ns ? "cpu-clock event on each CPU" :
		       a->capture ? "no clock" : "none");
	if (a->plan->counters.len)
		buf_printf(&how, ", %zu counter%s", a->plan->counters.len,
			   a->plan->counters.len == 1 ? "" : "s");
	if (a->capture && (a->plan->capture.states || a->plan->capture.only_locks))
		buf_printf(&how, ", stacks of waits by %s", stack_method_name(capture_stack_method(a->capture)));
	if (a->control->trace_ns > TRACE_ALL)
		buf_printf(&how, ", %s from %.3f ms traced", waits, (double)a->control->trace_ns / 1e6);
	else if (a->control->trace_ns)
		buf_printf(&how, ", all %s traced", waits);
	if (a->plan->capture.split)
		buf_puts(&how, ", user and system time by system calls");
	xml_attr(b, "how", how.data);
	buf_free(&how);
}

/* Up to the end of the capture, or up to now. */
static void write_pauses(const struct recorder_xml *a, struct buf *b)
{
	if (!a->pauses.n)
		return;
	buf_puts(b, "<paused");
	number(b, "count", a->pauses.n);
	number(b, "ns", pauses_until(&a->pauses, a->stop_ns ? a->stop_ns : now_ns()));
	buf_puts(b, "/>\n");
}

static void write_capture(const struct recorder_xml *a, struct buf *b)
{
	bool states = a->capture && a->plan->capture.states;

	buf_puts(b, "<capture");
	write_how(a, b);
	number(b, "states", states);
	if (a->began_ns && a->stop_ns > a->began_ns) {
		number(b, "began_ns", a->began_ns - a->start_ns);
		number(b, "ended_ns", a->stop_ns - a->start_ns);
	}
	number(b, "only_locks", a->capture && a->plan->capture.only_locks);
	if (states || a->plan->capture.only_locks) {
		xml_attr(b, "way", stack_method_name(capture_stack_method(a->capture)));
		number(b, "trace_ns", a->control->trace_ns);
		number(b, "distance_ns", a->control->pace.distance_ns);
		number(b, "widest_ns", a->control->pace.widest_ns);
		number(b, "split", a->plan->capture.split);
	}
	buf_puts(b, "/>\n");
	vec_for_each(t, &a->plan->targets) {
		buf_puts(b, "<target");
		number(b, "pid", t->pid);
		number(b, "tid", t->tid);
		buf_puts(b, "/>\n");
	}
	governor_write(&a->control->governor, a->start_ns, b);
}

/*
 * Fields of usage samples that are 0 because nothing counts them, named as in struct exp_usage.
 * Without states all switches count as voluntary.
 */
static void write_uncounted(const struct recorder_xml *a, struct buf *b)
{
	struct buf fields = { 0 };

	buf_puts(&fields, "ioch");
	if (!a->capture || !a->plan->capture.split)
		buf_puts(&fields, " syscalls");
	if (!a->capture || !a->plan->capture.states) {
		buf_puts(&fields, " ictx nsignals");
		for (int i = 0; i < MS_COUNT; i++)
			if (!mstate_descs[i].on_cpu)
				buf_printf(&fields, " %s", mstate_descs[i].attr);
	}
	buf_puts(b, "<usage");
	xml_attr(b, "uncounted", fields.data);
	buf_puts(b, "/>\n");
	buf_free(&fields);
}

uint64_t recorder_xml_asleep_ns(void)
{
	struct timespec all, awake;

	clock_gettime(CLOCK_MONOTONIC, &awake);
	clock_gettime(CLOCK_BOOTTIME, &all);
	return (all.tv_sec - awake.tv_sec) * 1000000000ULL + all.tv_nsec - awake.tv_nsec;
}

/* Events of the machine during the recording: suspends, CPUs that came online or went offline. */
static void write_machine(const struct recorder_xml *a, struct buf *b)
{
	int64_t asleep = recorder_xml_asleep_ns() - a->start_asleep_ns; /* may be just below 0 */
	struct er_counts c;

	if (asleep > MOMENT_NS) { /* more than the time between two readings */
		buf_puts(b, "<suspended");
		number(b, "ns", asleep);
		buf_puts(b, "/>\n");
	}
	for (int cpu = 0; a->capture && cpu < capture_ncpus(a->capture); cpu++) {
		recorder_xml_cpu(a, cpu, &c);
		if (!c.hotplugs)
			continue;
		buf_puts(b, "<hotplug");
		number(b, "cpu", cpu);
		number(b, "count", c.hotplugs);
		buf_puts(b, "/>\n");
	}
}

/* What ended the packets before the end of the recording: -L, or a failed write. */
static void write_ends(const struct recorder_xml *a, struct buf *b)
{
	if (a->drops->limit_ns) {
		buf_puts(b, "<limit");
		number(b, "bytes", a->plan->limit_bytes);
		number(b, "reached_ns", a->drops->limit_ns > a->start_ns ?
					a->drops->limit_ns - a->start_ns : 0);
		buf_puts(b, "/>\n");
	}
	if (a->unwritten) {
		buf_puts(b, "<unwritten");
		xml_attr(b, "error", strerror(a->unwritten));
		buf_puts(b, "/>\n");
	}
}

static void write_archives(const struct recorder_xml *a, struct buf *b)
{
	static const char *const states[] = {
		[ARCHIVES_RUNNING] = "running", [ARCHIVES_COMPLETE] = "complete",
		[ARCHIVES_INTERRUPTED] = "interrupted", [ARCHIVES_NO_ROOM] = "no room",
		[ARCHIVES_FAILED] = "failed",
	};

	if (a->archives == ARCHIVES_NONE)
		return;
	buf_puts(b, "<archives");
	xml_attr(b, "state", states[a->archives]);
	number(b, "left", a->unarchived);
	buf_puts(b, "/>\n");
}

static void write_recorder(const struct recorder_xml *a, struct buf *b)
{
	static const char *const follow[] = {
		[FOLLOW_OFF] = "off", [FOLLOW_SHARED] = "on", [FOLLOW_ALL] = "all",
		[FOLLOW_MATCHING] = "=",
	};
	struct buf word = { 0 };

	buf_puts(b, "<recorder");
	xml_attr(b, "version", ER_VERSION);
	xml_attr(b, "scope", a->plan->program ? "program" : "system");
	number(b, "pid", getpid());
	number(b, "first_ns", a->first_ns);
	xml_attr(b, "state", a->closed ? "closed" : "running");
	number(b, "interval_ns", a->plan->capture.interval_ns);
	buf_puts(&word, follow[a->plan->follow]);
	buf_puts(&word, a->plan->follow == FOLLOW_MATCHING ? a->plan->follow_regexp : "");
	xml_attr(b, "follow", word.data);
	buf_free(&word);
	number(b, "archive", a->plan->archiving != ARCHIVE_NOTHING);
	buf_puts(b, "/>\n");
	write_capture(a, b);
	write_pauses(a, b);
	write_uncounted(a, b);
}

static void write_ring(const struct recorder_xml *a, int cpu, const struct er_counts *c,
		       enum er_kind kind, struct buf *b)
{
	const struct ring_desc *ring = data_kind(kind)->ring;

	if (!ring || !c->produced[kind])
		return;
	buf_printf(b, "<%s", ring->element);
	number(b, "cpu", cpu);
	number(b, "produced", c->produced[kind]);
	number(b, "recorded", drain_ring(a->drain, cpu)->recorded[kind]);
	if (kind == ER_KIND_CLOCK && drain_ring(a->drain, cpu)->folded)
		number(b, "folded", drain_ring(a->drain, cpu)->folded);
	number(b, "lost", c->lost[kind]);
	buf_puts(b, "/>\n");
}

static void write_rings(const struct recorder_xml *a, struct buf *b)
{
	struct er_counts c, sum = { 0 };
	uint64_t mended = drain_mended(a->drain);

	for (int cpu = 0; cpu < capture_ncpus(a->capture); cpu++) {
		recorder_xml_cpu(a, cpu, &c);
		for (int k = 0; k < ER_KIND_COUNT; k++)
			sum.lost[k] += c.lost[k];
		sum.stack_kernel_truncated += c.stack_kernel_truncated;
		sum.stack_user_truncated += c.stack_user_truncated;
		sum.stack_kernel_failed += c.stack_kernel_failed;
		sum.stack_user_failed += c.stack_user_failed;
		sum.copies_refused += c.copies_refused;
		sum.copies_unfitted += c.copies_unfitted;
		sum.python_lost += c.python_lost;
		sum.python_unnamed += c.python_unnamed;
		sum.no_storage += c.no_storage;
		sum.loss_unattributed += c.loss_unattributed;
		sum.nmissed += c.nmissed;
		for (int kind = 0; kind < ER_KIND_COUNT; kind++)
			write_ring(a, cpu, &c, kind, b);
	}
	buf_puts(b, "<stacks");
	number(b, "defined", drain_stacks(a->drain));
	number(b, "lost", sum.lost[ER_KIND_STACK]);
	number(b, "kernel_truncated", sum.stack_kernel_truncated);
	number(b, "user_truncated", sum.stack_user_truncated);
	number(b, "kernel_failed", sum.stack_kernel_failed);
	number(b, "user_failed", sum.stack_user_failed > mended ? sum.stack_user_failed - mended : 0);
	number(b, "copies_refused", sum.copies_refused);
	number(b, "copies_unfitted", sum.copies_unfitted);
	number(b, "python_lost", sum.python_lost);
	number(b, "python_unnamed", sum.python_unnamed);
	number(b, "no_storage", sum.no_storage);
	number(b, "loss_unattributed", sum.loss_unattributed);
	number(b, "missed", sum.nmissed);
	buf_puts(b, "/>\n");
}

struct loss_ctx {
	struct buf *b;
	uint64_t start_ns, stop_ns; /* stop_ns 0: not yet */
};

/*
 * The second of the recording. BPF counts losses by seconds of CLOCK_MONOTONIC, which do not begin
 * at the same moment as the recording's. A record may also be lost while the recording ends.
 */
static uint64_t loss_second(const struct loss_ctx *l, uint64_t clock_second)
{
	uint64_t ns = clock_second * 1000000000ULL;

	if (l->stop_ns && ns > l->stop_ns)
		ns = l->stop_ns;
	return ns > l->start_ns ? (ns - l->start_ns) / 1000000000 : 0;
}

static void write_loss(void *ctx, const struct er_loss_key *k, uint64_t n)
{
	const struct data_kind *kind = data_kind(k->kind);
	struct loss_ctx *l = ctx;

	if ((k->second + 1) * 1000000000ULL <= l->start_ns)
		return; /* an earlier segment has it */
	buf_puts(l->b, "<loss");
	number(l->b, "second", loss_second(l, k->second));
	number(l->b, "pid", k->tgid);
	number(l->b, "tid", k->tid);
	xml_attr(l->b, "kind", kind ? kind->word : "unknown");
	number(l->b, "count", n);
	buf_puts(l->b, "/>\n");
}

static void write_costs(const struct recorder_xml *a, struct buf *b)
{
	struct capture_cost rows[ER_PROG_COUNT];
	size_t n = recorder_costs(a, rows);

	for (size_t i = 0; i < n; i++) {
		buf_puts(b, "<cost");
		xml_attr(b, "program", rows[i].program);
		number(b, "runs", rows[i].runs);
		number(b, "ns", rows[i].ns);
		buf_puts(b, "/>\n");
	}
}

static void write_self(const struct recorder_xml *a, struct buf *b)
{
	uint64_t user_ns, system_ns;
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	recorder_self(&user_ns, &system_ns);
	buf_puts(b, "<self");
	number(b, "user_ns", user_ns - a->base.user_ns);
	number(b, "system_ns", system_ns - a->base.system_ns);
	number(b, "maxrss_kb", ru.ru_maxrss);
	buf_puts(b, "/>\n");
}

static void write_drop(struct buf *b, const char *kind, const char *what, uint64_t n)
{
	if (!n)
		return;
	buf_puts(b, "<dropped");
	xml_attr(b, "kind", kind);
	xml_attr(b, "what", what);
	number(b, "count", n);
	buf_puts(b, "/>\n");
}

static void write_drops(const struct recorder_xml *a, struct buf *b)
{
	for (int i = 0; i < DROP_COUNT; i++)
		write_drop(b, drop_descs[i].kind, drop_descs[i].what, a->drops->n[i]);
	if (a->closed && !a->followed && a->capture)
		write_drop(b, "unfinished", "threads that ended at the stop, their last CPU time is missing",
			   capture_unfinished(a->capture));
}

static void write_calls(const struct recorder_xml *a, struct buf *b)
{
	struct er_calls calls[ER_MAX_SYSCALLS] = { 0 };

	if (!a->closed)
		return;
	recorder_calls(a, calls);
	for (int i = 0; i < ER_MAX_SYSCALLS; i++) {
		if (!calls[i].calls)
			continue;
		buf_puts(b, "<syscall");
		number(b, "number", i);
		number(b, "calls", calls[i].calls);
		number(b, "errors", calls[i].errors);
		buf_puts(b, "/>\n");
	}
}

/* With these build ids the kernel's files can be found on other machines. */
static void write_kernel(const struct recorder_xml *a, struct buf *b)
{
	if (!a->ksyms)
		return;
	vec_for_each(m, ksymtab_modules(a->ksyms)) {
		buf_puts(b, "<kernel");
		xml_attr(b, "module", m->name);
		xml_attr(b, "build_id", m->build_id);
		buf_puts(b, "/>\n");
	}
}

void recorder_xml_write(const struct recorder_xml *a, struct buf *b)
{
	write_recorder(a, b);
	write_self(a, b);
	write_machine(a, b);
	write_drops(a, b);
	write_ends(a, b);
	write_archives(a, b);
	if (!a->capture)
		return;
	write_rings(a, b);
	drain_walks(a->drain, b);
	counters_xml(a, b);
	probes_xml(a, b);
	capture_losses(a->capture, write_loss,
		       &(struct loss_ctx){ b, a->start_ns, a->stop_ns });
	write_costs(a, b);
	write_calls(a, b);
	write_kernel(a, b);
}

void recorder_xml_usage(const struct recorder_xml *a, struct exp_usage *u)
{
	struct capture_cost rows[ER_PROG_COUNT];
	struct er_counts c;
	size_t n;

	if (!a->capture || !a->plan->capture.states)
		return;
	u->vctx = 0;
	for (int cpu = 0; cpu < capture_ncpus(a->capture); cpu++) {
		recorder_xml_cpu(a, cpu, &c);
		u->vctx += c.nvoluntary;
		u->ictx += c.ninvoluntary;
		u->nsignals += c.nsignals;
	}
	n = recorder_costs(a, rows);
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(rows[i].program, "er_sys_enter"))
			u->syscalls = rows[i].runs;
	}
}

void recorder_xml_counts(const struct recorder_xml *a, struct record_counts *ret)
{
	struct er_counts c;

	*ret = (struct record_counts){ 0 };
	for (int kind = 0; kind < ER_KIND_COUNT; kind++) {
		const struct data_kind *k = data_kind(kind);

		ret->of[kind].wanted = k->wanted && k->wanted(a->plan);
	}
	for (int cpu = 0; a->capture && cpu < capture_ncpus(a->capture); cpu++) {
		recorder_xml_cpu(a, cpu, &c);
		for (int kind = 0; kind < ER_KIND_COUNT; kind++) {
			ret->of[kind].produced += c.produced[kind];
			ret->of[kind].recorded += drain_ring(a->drain, cpu)->recorded[kind];
			ret->of[kind].lost += c.lost[kind];
		}
	}
}
