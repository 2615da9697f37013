/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One capture: the rings and the loaders that fill them. Stopping also produces records outside
 * the rings (`last`), which are drained after them.
 */
#include "loaders/capture.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "loaders/features.h"
#include "loaders/loader.h"
#include "loaders/rings.h"

#define LOADER_ROW(name) &name,

static const struct loader *const loaders[] = { LOADERS(LOADER_ROW) };

enum { NLOADERS = sizeof(loaders) / sizeof(*loaders) };
enum { TRIES = 10, PAUSE_NS = 100000000 };

struct capture {
	struct rings *rings;
	void *selves[NLOADERS]; /* NULL: not wanted */
	struct buf last;
	size_t last_read;
};

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return 0;
}

bool capture_wanted(const struct capture_plan *plan)
{
	for (int i = 0; i < NLOADERS; i++)
		if (loaders[i]->wanted(plan))
			return true;
	return false;
}

static int open_all(struct capture *c, const struct capture_plan *plan, struct diag *d)
{
	int err = plan->no_bpf ? rings_open_bare(plan->raw_stacks, d, &c->rings) :
				 rings_open(plan->ring_bytes, plan->trace_ns != TRACE_OFF, d, &c->rings);

	if (plan->no_bpf)
		return err;
	for (int i = 0; !err && i < NLOADERS; i++)
		if (loaders[i]->wanted(plan))
			err = loaders[i]->open(plan, c->rings, d, &c->selves[i]);
	return err;
}

/* If a feature is missing, report that instead of the step that failed. Probing takes a moment. */
static void say_why(struct diag *d, const struct diag *step)
{
	const struct feature *f = features_missing();

	if (f) {
		diag_error(d, "%s: not available: %s: %s", f->name, f->why, f->remedy);
		return;
	}
	for (size_t i = 0; i < step->nmsgs; i++)
		diag_error(d, "%s", step->msgs[i].text);
}

static int try_open(const struct capture_plan *plan, struct diag *step, struct capture **ret)
{
	struct capture *c = xcalloc(1, sizeof(*c));
	int err = open_all(c, plan, step);

	if (err)
		capture_close(c);
	*ret = err ? NULL : c;
	return err;
}

int capture_open(const struct capture_plan *plan, struct diag *d, struct capture **ret)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	struct diag step = { 0 };
	int err;

	if (!plan->verbose)
		libbpf_set_print(quiet);
	/*
	 * While a signal is pending the kernel refuses to verify a program: EAGAIN. libbpf then tries again at once, up
	 * to ten times. Once in some hundred recordings that was not enough. Why is not known.
	 */
	for (int i = 1; (err = try_open(plan, &step, ret)) == -EAGAIN && i < TRIES; i++) {
		diag_free(&step);
		step = (struct diag){ 0 };
		nanosleep(&pause, NULL);
	}
	if (err)
		say_why(d, &step);
	diag_free(&step);
	return err;
}

void capture_set_shedding(struct capture *c, enum capture_shedding level)
{
	for (int i = 0; i < NLOADERS; i++)
		if (c->selves[i] && loaders[i]->set_shedding)
			loaders[i]->set_shedding(c->selves[i], level);
}

void capture_set_distance(struct capture *c, uint64_t ns)
{
	for (int i = 0; i < NLOADERS; i++)
		if (c->selves[i] && loaders[i]->set_distance)
			loaders[i]->set_distance(c->selves[i], ns);
}

void capture_resend(struct capture *c)
{
	for (int i = 0; i < NLOADERS; i++)
		if (c->selves[i] && loaders[i]->resend)
			loaders[i]->resend(c->selves[i]);
}

void capture_family_count(const struct capture *c, struct capture_family_count *ret)
{
	*ret = (struct capture_family_count){ 0 };
	for (int i = 0; i < NLOADERS; i++)
		if (c->selves[i] && loaders[i]->family)
			loaders[i]->family(c->selves[i], ret);
}

bool capture_cpus_changed(const struct capture *c)
{
	bool changed = false;

	for (int i = 0; i < NLOADERS; i++)
		changed |= c->selves[i] && loaders[i]->cpus_changed &&
			   loaders[i]->cpus_changed(c->selves[i]);
	return changed;
}

void capture_follow_cpus(struct capture *c, void (*fn)(void *ctx, int cpu, int err), void *ctx)
{
	for (int i = 0; i < NLOADERS; i++)
		if (c->selves[i] && loaders[i]->follow_cpus)
			loaders[i]->follow_cpus(c->selves[i], fn, ctx);
}

enum stack_method capture_stack_method(const struct capture *c)
{
	for (int i = 0; i < NLOADERS; i++)
		if (c->selves[i] && loaders[i]->stack_method)
			return loaders[i]->stack_method(c->selves[i]);
	return STACKS_NONE;
}

const char *stack_method_name(enum stack_method method)
{
	static const char *const names[] = {
		[STACKS_BEST] = "best",
		[STACKS_EXIT] = "sched_exit_tp",
		[STACKS_FINISH] = "finish_task_switch",
		[STACKS_LEAVE] = "switch-out",
		[STACKS_NONE] = "none",
	};

	return names[method];
}

uint64_t capture_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

int capture_start(struct capture *c, uint64_t *start_ns, struct diag *d)
{
	int err = 0;

	*start_ns = capture_now_ns();
	for (int i = 0; !err && i < NLOADERS; i++)
		err = c->selves[i] && loaders[i]->start ?
			      loaders[i]->start(c->selves[i], *start_ns, d) : 0;
	return err;
}

int capture_pause(struct capture *c, uint64_t *time_ns, struct diag *d)
{
	int err = 0;

	*time_ns = capture_now_ns();
	for (int i = NLOADERS - 1; i >= 0; i--) {
		int e = c->selves[i] && loaders[i]->pause ?
				loaders[i]->pause(c->selves[i], time_ns, &c->last, d) : 0;

		err = err ? err : e;
	}
	return err;
}

int capture_resume(struct capture *c, uint64_t *time_ns, struct diag *d)
{
	int err = 0;

	*time_ns = capture_now_ns();
	for (int i = 0; !err && i < NLOADERS; i++)
		err = c->selves[i] && loaders[i]->resume ?
			      loaders[i]->resume(c->selves[i], *time_ns, d) : 0;
	return err;
}

int capture_stop(struct capture *c, uint64_t *stop_ns, struct diag *d)
{
	int err = 0;

	*stop_ns = capture_now_ns();
	for (int i = NLOADERS - 1; i >= 0; i--) {
		int e = c->selves[i] && loaders[i]->stop ?
				loaders[i]->stop(c->selves[i], stop_ns, &c->last, d) : 0;

		err = err ? err : e;
	}
	return err;
}

void capture_detach(struct capture *c)
{
	for (int i = 0; c && i < NLOADERS; i++)
		if (c->selves[i] && loaders[i]->detach)
			loaders[i]->detach(c->selves[i]);
}

/*
 * Pass on the records from `at` on; returns their number. Each one follows its struct er_last. The
 * last one is incomplete if the kernel's iterator failed.
 */
static int pass_records(const struct buf *b, size_t at, capture_fn fn, void *ctx)
{
	int n = 0;

	while (b->len - at >= sizeof(struct er_last)) {
		struct er_last head;

		memcpy(&head, b->data + at, sizeof(head));
		at += sizeof(head);
		if (b->len - at < head.size)
			break;
		fn(ctx, head.cpu, b->data + at, head.size);
		at += head.size;
		n++;
	}
	return n;
}

static int drain_last(struct capture *c, capture_fn fn, void *ctx)
{
	int n = pass_records(&c->last, c->last_read, fn, ctx);

	buf_clear(&c->last);
	c->last_read = 0;
	return n;
}

/* Until capture_stop nothing else uses `last`. */
int capture_cut(struct capture *c, capture_fn fn, void *ctx, struct diag *d)
{
	int err = 0;

	for (int i = 0; !err && i < NLOADERS; i++)
		if (c->selves[i] && loaders[i]->cut)
			err = loaders[i]->cut(c->selves[i], &c->last, d);
	drain_last(c, fn, ctx);
	buf_free(&c->last);
	c->last_read = 0;
	return err;
}

int capture_snapshot(struct capture *c, uint64_t time_ns, bool all, capture_fn fn, void *ctx,
		     struct diag *d)
{
	struct buf snaps = { 0 };
	int err = 0;

	for (int i = 0; !err && i < NLOADERS; i++)
		if (c->selves[i] && loaders[i]->snapshot)
			err = loaders[i]->snapshot(c->selves[i], time_ns, all, &snaps, d);
	pass_records(&snaps, 0, fn, ctx);
	buf_free(&snaps);
	return err;
}

static int drain_loaders(struct capture *c, capture_fn fn, void *ctx)
{
	int n = 0;

	for (int i = 0; i < NLOADERS; i++)
		if (c->selves[i] && loaders[i]->drain)
			n += loaders[i]->drain(c->selves[i], fn, ctx);
	return n;
}

int capture_drain(struct capture *c, int timeout_ms, capture_fn fn, void *ctx)
{
	bool more = c->last_read < c->last.len;
	int n = rings_drain(c->rings, more ? 0 : timeout_ms, fn, ctx);

	if (n < 0)
		return n;
	n += drain_loaders(c, fn, ctx);
	return n || !more ? n : drain_last(c, fn, ctx);
}

struct unwind_maps *capture_unwind(const struct capture *c)
{
	return rings_unwind(c->rings);
}

int capture_fd(const struct capture *c)
{
	return rings_fd(c->rings);
}

void capture_close(struct capture *c)
{
	if (!c)
		return;
	for (int i = NLOADERS - 1; i >= 0; i--)
		loaders[i]->close(c->selves[i]);
	rings_close(c->rings);
	buf_free(&c->last);
	free(c);
}

int capture_ncpus(const struct capture *c)
{
	return rings_ncpus(c->rings);
}

void capture_counts(const struct capture *c, int cpu, struct er_counts *ret)
{
	*ret = rings_cpu_state(c->rings, cpu)->counts;
}

uint32_t capture_count(struct capture *c, int cpu, enum er_kind kind, uint32_t produced, uint32_t lost)
{
	return rings_count(c->rings, cpu, kind, produced, lost);
}

void capture_counted(const struct capture *c, size_t counter, struct capture_counted *ret)
{
	*ret = (struct capture_counted){ 0 };
	for (int i = 0; i < NLOADERS; i++)
		if (c->selves[i] && loaders[i]->counted)
			loaders[i]->counted(c->selves[i], counter, ret);
}

void capture_probed(const struct capture *c, size_t probe, struct capture_probed *ret)
{
	*ret = (struct capture_probed){ 0 };
	for (int i = 0; i < NLOADERS; i++)
		if (c->selves[i] && loaders[i]->probed)
			loaders[i]->probed(c->selves[i], probe, ret);
}

void capture_io_counts(const struct capture *c, struct capture_io *ret)
{
	*ret = (struct capture_io){ 0 };
	for (int i = 0; i < NLOADERS; i++)
		if (c->selves[i] && loaders[i]->io_counts)
			loaders[i]->io_counts(c->selves[i], ret);
}

int capture_heap_aim(struct capture *c, pid_t pid, struct diag *d)
{
	int err = 0;

	for (int i = 0; i < NLOADERS && !err; i++)
		if (c->selves[i] && loaders[i]->heap_aim)
			err = loaders[i]->heap_aim(c->selves[i], pid, d);
	return err;
}

uint64_t capture_heap_missed(const struct capture *c)
{
	uint64_t n = 0;

	for (int i = 0; i < NLOADERS; i++)
		if (c->selves[i] && loaders[i]->heap_missed)
			n += loaders[i]->heap_missed(c->selves[i]);
	return n;
}

void capture_calls(const struct capture *c, struct er_calls *ret)
{
	for (int i = 0; i < NLOADERS; i++)
		if (c->selves[i] && loaders[i]->calls)
			loaders[i]->calls(c->selves[i], ret);
}

void capture_span_sums(const struct capture *c, size_t name, struct er_span_sums *ret,
		       uint64_t hist[ER_SPAN_BUCKETS])
{
	for (int i = 0; i < NLOADERS; i++)
		if (c->selves[i] && loaders[i]->span_sums)
			loaders[i]->span_sums(c->selves[i], name, ret, hist);
}

void capture_span_losses(const struct capture *c, struct capture_span_losses *ret)
{
	*ret = (struct capture_span_losses){ 0 };
	for (int i = 0; i < NLOADERS; i++)
		if (c->selves[i] && loaders[i]->span_losses)
			loaders[i]->span_losses(c->selves[i], ret);
}

uint32_t capture_unfinished(const struct capture *c)
{
	return rings_unfinished(c->rings);
}

void capture_losses(const struct capture *c,
		    void (*fn)(void *ctx, const struct er_loss_key *k, uint64_t n), void *ctx)
{
	rings_losses(c->rings, fn, ctx);
}

size_t capture_costs(const struct capture *c, struct capture_cost *ret, size_t max)
{
	static const char *const names[ER_PROG_COUNT] = {
		[ER_PROG_CLOCK] = "er_clock",         [ER_PROG_SWITCH] = "er_switch",
		[ER_PROG_BACK] = "er_back",           [ER_PROG_WAKING] = "er_waking",
		[ER_PROG_NEWTASK] = "er_newtask",     [ER_PROG_EXIT] = "er_exit",
		[ER_PROG_EXEC] = "er_exec",           [ER_PROG_FAULT] = "er_fault",
		[ER_PROG_COUNTER] = "er_overflow",    [ER_PROG_PROBE] = "er_probe",
		[ER_PROG_SPAN] = "er_span",           [ER_PROG_IO] = "er_io",
		[ER_PROG_HEAP] = "er_heap",
		[ER_PROG_SYS_ENTER] = "er_sys_enter", [ER_PROG_SYS_EXIT] = "er_sys_exit",
	};
	size_t n = 0;

	for (int i = 0; i < ER_PROG_COUNT; i++) {
		struct capture_cost cost = { .program = names[i] };

		rings_cost(c->rings, i, &cost.runs, &cost.ns);
		if (cost.runs && n++ < max)
			ret[n - 1] = cost;
	}
	return n;
}
