/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One capture: the rings, and the loaders that feed them. Stopping leaves
 * records outside the rings, too (`last`); they are handed out after them.
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

static const struct loader *const loaders[] = { &profile_loader };

enum { NLOADERS = sizeof(loaders) / sizeof(*loaders) };

struct capture {
	struct rings *rings;
	void *selves[NLOADERS];
	int stats_fd; /* while open the kernel counts BPF time */
	struct buf last;
	size_t last_read;
};

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return 0;
}

static int open_all(struct capture *c, const struct capture_plan *plan, struct diag *d)
{
	int err = rings_open(plan->ring_bytes, d, &c->rings);

	for (int i = 0; !err && i < NLOADERS; i++)
		err = loaders[i]->open(plan, c->rings, d, &c->selves[i]);
	return err;
}

/* What the kernel lacks says more than the step that failed; to try it takes a moment. */
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

int capture_open(const struct capture_plan *plan, struct diag *d, struct capture **ret)
{
	struct capture *c = xcalloc(1, sizeof(*c));
	struct diag step = { 0 };
	int err;

	if (!plan->verbose)
		libbpf_set_print(quiet);
	c->stats_fd = plan->measure_cost ? bpf_enable_stats(BPF_STATS_RUN_TIME) : -1;
	err = open_all(c, plan, &step);
	if (err)
		say_why(d, &step);
	diag_free(&step);
	if (err) {
		capture_close(c);
		return err;
	}
	*ret = c;
	return 0;
}

void capture_set_shed(struct capture *c, enum capture_shed level)
{
	for (int i = 0; i < NLOADERS; i++)
		if (loaders[i]->set_shed)
			loaders[i]->set_shed(c->selves[i], level);
}

void capture_set_distance(struct capture *c, uint64_t ns)
{
	for (int i = 0; i < NLOADERS; i++)
		if (loaders[i]->set_distance)
			loaders[i]->set_distance(c->selves[i], ns);
}

enum capture_way capture_way(const struct capture *c)
{
	for (int i = 0; i < NLOADERS; i++)
		if (loaders[i]->way)
			return loaders[i]->way(c->selves[i]);
	return WAY_NONE;
}

const char *capture_way_name(enum capture_way way)
{
	static const char *const names[] = {
		[WAY_BEST] = "best",
		[WAY_EXIT] = "sched_exit_tp",
		[WAY_FINISH] = "finish_task_switch",
		[WAY_LEAVE] = "switch-out",
		[WAY_NONE] = "none",
	};

	return names[way];
}

static uint64_t monotonic(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

int capture_start(struct capture *c, uint64_t *start_ns, struct diag *d)
{
	int err = 0;

	*start_ns = monotonic();
	for (int i = 0; !err && i < NLOADERS; i++)
		err = loaders[i]->start(c->selves[i], *start_ns, d);
	return err;
}

int capture_stop(struct capture *c, uint64_t *stop_ns, struct diag *d)
{
	int err = 0;

	*stop_ns = monotonic();
	for (int i = NLOADERS - 1; i >= 0; i--) {
		int e = loaders[i]->stop(c->selves[i], *stop_ns, &c->last, d);

		err = err ? err : e;
	}
	return err;
}

/* All last records are of one size, and whole unless the kernel's iterator failed. */
static int drain_last(struct capture *c, capture_fn fn, void *ctx)
{
	int n = 0;

	for (; c->last.len - c->last_read >= sizeof(struct er_clock); n++) {
		struct er_clock r;

		memcpy(&r, c->last.data + c->last_read, sizeof(r));
		c->last_read += sizeof(r);
		fn(ctx, r.cpu, &r, sizeof(r));
	}
	return n;
}

int capture_drain(struct capture *c, int timeout_ms, capture_fn fn, void *ctx)
{
	bool more = c->last_read < c->last.len;
	int n = rings_drain(c->rings, more ? 0 : timeout_ms, fn, ctx);

	return n || !more ? n : drain_last(c, fn, ctx);
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
	closep(&c->stats_fd);
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

uint64_t capture_unsettled(const struct capture *c)
{
	return rings_unsettled(c->rings);
}

void capture_losses(const struct capture *c,
		    void (*fn)(void *ctx, const struct er_loss_key *k, uint64_t n), void *ctx)
{
	rings_losses(c->rings, fn, ctx);
}

static void program_cost(const struct bpf_program *prog, struct capture_cost *ret)
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);

	*ret = (struct capture_cost){ .program = bpf_program__name(prog) };
	if (bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &size))
		return;
	ret->runs = info.run_cnt;
	ret->ns = info.run_time_ns;
}

size_t capture_costs(const struct capture *c, struct capture_cost *ret, size_t max)
{
	size_t n = 0;

	for (int i = 0; i < NLOADERS; i++) {
		struct bpf_program *prog;

		bpf_object__for_each_program(prog, loaders[i]->object(c->selves[i])) if (n++ < max)
			program_cost(prog, &ret[n - 1]);
	}
	return n;
}
