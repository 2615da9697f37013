/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loader of bpf/profile.bpf.c, where its programs are explained. */
#include "loaders/loader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "bpf/profile.skel.h"
#include "loaders/capture.h"
#include "loaders/clocks.h"
#include "loaders/cpus.h"
#include "loaders/iterator.h"
#include "loaders/knobs.h"
#include "loaders/perf_event.h"
#include "loaders/rings.h"
#include "loaders/targets.h"
#include "loaders/typed.h"
#include "loaders/stack_method.h"

enum {
	/* How long to wait for threads that are exiting. */
	FINISH_STEP_MS = 1,
	FINISH_MAX_MS = 2000, /* a thread may wait this long for a CPU on a crowded machine */
	CLOCK_TRIES = 1000,
};

_Static_assert((int)STACKS_BEST == ER_STACKS_BEST && (int)STACKS_EXIT == ER_STACKS_EXIT &&
		       (int)STACKS_FINISH == ER_STACKS_FINISH && (int)STACKS_LEAVE == ER_STACKS_LEAVE &&
		       (int)STACKS_NONE == ER_STACKS_NONE, "one method, one number");
_Static_assert((int)SHED_NOTHING == ER_SHED_NOTHING &&
		       (int)SHED_WAKER_STACKS == ER_SHED_WAKER_STACKS &&
		       (int)SHED_USER_STACKS == ER_SHED_USER_STACKS &&
		       (int)SHED_SHORT_STACKS == ER_SHED_SHORT_STACKS, "one level, one number");

struct profile {
	const struct rings *rings;
	struct typed *typed;
	struct profile_bpf *skel;
	uint64_t interval_ns;
	enum stack_method stack_method;
	uint64_t nspilled; /* spilled TOTAL records that were drained */
	int begin_fd, end_fd, cut_fd, snap_fd; /* iterators, created while capabilities are held; -1: used up */
	bool paused;
	struct clocks *clocks;
};

static bool profile_wanted(const struct capture_plan *plan)
{
	return plan->interval_ns > 0 || plan->only_locks;
}

static void profile_close(void *self)
{
	struct profile *p = self;

	if (!p)
		return;
	clocks_close(p->clocks);
	closep(&p->begin_fd);
	closep(&p->end_fd);
	closep(&p->cut_fd);
	closep(&p->snap_fd);
	profile_bpf__destroy(p->skel);
	typed_close(p->typed);
	free(p);
}

/*
 * The period of the kernel's tick, from the resolution of its coarse clocks, plus an eighth
 * because ticks may be late. 0: unknown.
 */
static uint64_t tick_ns(void)
{
	struct timespec tick;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) || tick.tv_sec)
		return 0;
	return tick.tv_nsec + tick.tv_nsec / 8;
}

static void set_state_knobs(struct profile_bpf *skel, const struct capture_plan *plan,
			    enum stack_method method)
{
	skel->rodata->er_states = plan->states;
	skel->rodata->er_only_locks = plan->only_locks;
	skel->rodata->er_split = plan->states && plan->split;
	skel->rodata->er_stack_method = method;
	skel->rodata->er_trace_ns = plan->trace_ns;
	skel->rodata->er_waker_stacks = plan->waker_stacks;
	skel->rodata->er_tick_ns = tick_ns();
	if (plan->wait_interval_ns)
		skel->data->er_distance = plan->wait_interval_ns;
	if (!plan->states)
		bpf_map__set_max_entries(skel->maps.er_spilled, 1);
	if (!skel->rodata->er_split)
		bpf_map__set_max_entries(skel->maps.er_calls, 1);
}

/* Do not load programs that the kernel may lack or the recording does not need. */
static void choose_programs(struct profile_bpf *skel, const struct capture_plan *plan,
			    enum stack_method method)
{
	const struct {
		struct bpf_program *prog;
		bool wanted;
	} rows[] = {
		{ skel->progs.er_clock, !skel->rodata->er_again },
		{ skel->progs.er_clock_again, skel->rodata->er_again },
		{ skel->progs.er_waking, plan->states },
		{ skel->progs.er_newtask, plan->states },
		{ skel->progs.er_look_up, plan->states },
		{ skel->progs.er_fault, plan->states },
		{ skel->progs.er_signal, plan->states },
		{ skel->progs.er_cpuhp, skel->rodata->er_perf_step > 0 },
		{ skel->progs.er_fault_user, plan->states && plan->trace_ns },
		{ skel->progs.er_back, plan->states && method == STACKS_EXIT && !skel->rodata->er_again },
		{ skel->progs.er_back_again, plan->states && method == STACKS_EXIT && skel->rodata->er_again },
		{ skel->progs.er_back_kprobe, plan->states && method == STACKS_FINISH },
		{ skel->progs.er_cut, plan->cuts },
		{ skel->progs.er_snapshot, plan->states },
		{ skel->progs.er_sys_enter, plan->states && plan->split },
		{ skel->progs.er_sys_exit, plan->states && plan->split },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		bpf_program__set_autoload(rows[i].prog, rows[i].wanted);
}

/* If this fails, stacks of waits begin with the tracepoint's own frames. */
static void look_up(struct profile_bpf *skel)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	if (bpf_program__autoload(skel->progs.er_look_up))
		bpf_prog_test_run_opts(bpf_program__fd(skel->progs.er_look_up), &opts);
}

static int load(struct profile *p, const struct capture_plan *plan)
{
	int err;

	knobs_set(p->skel, plan, p->rings, typed_can_schedule(p->typed));
	p->skel->rodata->er_perf_step = cpus_hotplug_step("perf:online");
	p->skel->rodata->er_interval_ns = plan->interval_ns;
	set_state_knobs(p->skel, plan, p->stack_method);
	choose_programs(p->skel, plan, p->stack_method);
	err = rings_bind(p->rings, p->skel->obj);
	if (!err)
		err = profile_bpf__load(p->skel);
	typed_loaded(p->typed);
	if (!err)
		look_up(p->skel);
	return err ? err : targets_fill(p->skel->maps.er_targets, plan);
}

static int open_skeleton(struct profile *p)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	int err = typed_open(&p->typed);

	if (err)
		return err;
	opts.btf_custom_path = typed_path(p->typed);
	p->skel = profile_bpf__open_opts(&opts);
	return p->skel ? typed_look(p->typed, p->skel->obj, STACKS_EXIT_TYPE) : -errno;
}

static int choose_stack_method(struct profile *p, const struct capture_plan *plan, struct diag *d)
{
	bool can_exit = typed_has(p->typed, STACKS_EXIT_TYPE, BTF_KIND_TYPEDEF);

	if (!stack_method_allowed(plan->stack_method, can_exit))
		return diag_errno(d, EOPNOTSUPP,
				  "this kernel cannot take the stacks of waits by %s: leave the "
				  "choice to the recorder",
				  stack_method_name(plan->stack_method));
	p->stack_method = stack_method_choose(plan, can_exit);
	return 0;
}

static int profile_open(const struct capture_plan *plan, struct rings *rings, struct diag *d,
			void **self)
{
	struct profile *p;
	int err;

	p = xcalloc(1, sizeof(*p));
	p->rings = rings;
	p->interval_ns = plan->interval_ns;
	p->begin_fd = p->end_fd = p->cut_fd = p->snap_fd = -1;
	err = open_skeleton(p);
	err = err ? diag_errno(d, -err, "cannot open the clock programs") : choose_stack_method(p, plan, d);
	if (!err) {
		err = load(p, plan);
		err = err ? diag_errno(d, -err, "cannot load the clock programs") :
			    clocks_open(rings, plan->interval_ns, plan->idle, d, &p->clocks);
	}
	if (err) {
		profile_close(p);
		return err;
	}
	rings_lend_threads(rings, bpf_map__fd(p->skel->maps.er_threads));
	*self = p;
	return 0;
}

/* A program that was not loaded is not needed. */
static int attach_one(struct bpf_program *prog, struct bpf_link **link)
{
	if (!bpf_program__autoload(prog))
		return 0;
	*link = typed_attach(prog);
	return *link ? 0 : -errno;
}

static int attach_kprobe(struct bpf_program *prog, struct bpf_link **link)
{
	char symbol[64];

	if (!bpf_program__autoload(prog))
		return 0;
	if (!stack_method_finish_symbol(symbol, sizeof(symbol)))
		return -ENOENT;
	*link = bpf_program__attach_kprobe(prog, false, symbol);
	return *link ? 0 : -errno;
}

/* er_switch learns the offset of the run queue's clock at the first switch: cause one. */
static int learn_clock(const struct profile_bpf *skel)
{
	const struct timespec moment = { .tv_nsec = 20000 };
	const volatile __s64 *offset = &skel->bss->er_offset;

	for (int i = 0; i < CLOCK_TRIES && !*offset; i++)
		nanosleep(&moment, NULL);
	return *offset ? 0 : -ENODATA;
}

/*
 * The order matters. er_switch must see the end of every thread that er_exit has counted, so it
 * comes before er_exit. The program that records a chosen wait comes before those that choose
 * waits. The clock's offset is known before any program uses it.
 */
static int attach_programs(struct profile_bpf *skel)
{
	int err = attach_one(skel->progs.er_back, &skel->links.er_back);

	err = err ? err : attach_one(skel->progs.er_back_again, &skel->links.er_back_again);
	err = err ? err : attach_kprobe(skel->progs.er_back_kprobe, &skel->links.er_back_kprobe);
	err = err ? err : attach_one(skel->progs.er_switch, &skel->links.er_switch);
	err = err ? err : learn_clock(skel);
	err = err ? err : attach_one(skel->progs.er_exit, &skel->links.er_exit);
	err = err ? err : attach_one(skel->progs.er_waking, &skel->links.er_waking);
	err = err ? err : attach_one(skel->progs.er_exec, &skel->links.er_exec);
	err = err ? err : attach_one(skel->progs.er_fault, &skel->links.er_fault);
	err = err ? err : attach_one(skel->progs.er_fault_user, &skel->links.er_fault_user);
	err = err ? err : attach_one(skel->progs.er_signal, &skel->links.er_signal);
	err = err ? err : attach_one(skel->progs.er_sys_enter, &skel->links.er_sys_enter);
	err = err ? err : attach_one(skel->progs.er_sys_exit, &skel->links.er_sys_exit);
	err = err ? err : attach_one(skel->progs.er_cpuhp, &skel->links.er_cpuhp);
	return err ? err : attach_one(skel->progs.er_newtask, &skel->links.er_newtask);
}

static int attach(struct profile *p)
{
	struct profile_bpf *skel = p->skel;
	const struct bpf_program *clock = skel->rodata->er_again ? skel->progs.er_clock_again : skel->progs.er_clock;
	int err = attach_programs(skel);

	if (err)
		return err;
	err = iterator_make(skel->progs.er_begin, &skel->links.er_begin, &p->begin_fd);
	if (!err)
		err = iterator_make(skel->progs.er_end, &skel->links.er_end, &p->end_fd);
	if (!err && bpf_program__autoload(skel->progs.er_cut))
		err = iterator_make(skel->progs.er_cut, &skel->links.er_cut, &p->cut_fd);
	if (!err && bpf_program__autoload(skel->progs.er_snapshot))
		err = iterator_make(skel->progs.er_snapshot, &skel->links.er_snapshot, &p->snap_fd);
	return err ? err : clocks_attach(p->clocks, bpf_program__fd(clock));
}

/* The kernel disables an event that exceeds this rate for the rest of the tick. */
static void warn_throttle(const struct profile *p, struct diag *d)
{
	long max = kernel_sysctl("perf_event_max_sample_rate", 100000);
	long rate = p->interval_ns ? 1000000000 / p->interval_ns : 0;

	if (max > 0 && rate > max)
		diag_warn(d,
			  "the kernel limits sampling to %ld samples a second, and %ld were requested: raise "
			  "kernel.perf_event_max_sample_rate (CPU time stays exact)",
			  max, rate);
}

/* All threads begin; the programs are attached. */
static int begin_all(struct profile *p)
{
	struct buf none = { 0 };
	int err = iterator_run(p->skel->links.er_begin, &p->begin_fd, &none);

	buf_free(&none);
	return err ? err : clocks_enable(p->clocks);
}

static int profile_start(void *self, uint64_t start_ns, struct diag *d)
{
	struct profile *p = self;
	int err;

	p->skel->bss->er_start_ns = start_ns;
	warn_throttle(p, d);
	err = attach(p);
	err = err ? err : begin_all(p);
	return err ? diag_errno(d, -err, "cannot start the clock") : 0;
}

/*
 * All threads end; what they still have to send is appended to `last`. The walk dates a thread's
 * last records as it comes to it, so *time_ns becomes the time after the walk.
 */
static int end_all(struct profile *p, uint64_t *time_ns, struct buf *last)
{
	int err = clocks_disable(p->clocks), e;

	p->skel->bss->er_stop_ns = *time_ns;
	e = iterator_run(p->skel->links.er_end, &p->end_fd, last);
	*time_ns = capture_now_ns();
	return err ? err : e;
}

/* Threads that are exiting now may send their last records a little later, as they leave. */
static int profile_pause(void *self, uint64_t *time_ns, struct buf *last, struct diag *d)
{
	struct profile *p = self;
	int err = end_all(p, time_ns, last);

	p->paused = true;
	return err ? diag_errno(d, -err, "cannot pause the clock") : 0;
}

/* er_start_ns first: a thread born after er_stop_ns is cleared must not be older than the start. */
static int profile_resume(void *self, uint64_t time_ns, struct diag *d)
{
	struct profile *p = self;
	int err;

	__atomic_store_n(&p->skel->bss->er_start_ns, time_ns, __ATOMIC_SEQ_CST);
	__atomic_store_n(&p->skel->bss->er_stop_ns, 0, __ATOMIC_SEQ_CST);
	p->paused = false;
	err = begin_all(p);
	return err ? diag_errno(d, -err, "cannot resume the clock") : 0;
}

/* capture_unfinished counts threads that do not finish in time. */
static void await_ends(const struct profile *p)
{
	const struct timespec step = { .tv_nsec = FINISH_STEP_MS * 1000000 };

	for (int ms = 0; ms < FINISH_MAX_MS && rings_unfinished(p->rings); ms += FINISH_STEP_MS)
		nanosleep(&step, NULL);
}

static int profile_stop(void *self, uint64_t *stop_ns, struct buf *last, struct diag *d)
{
	struct profile *p = self;
	int err = p->paused ? 0 : end_all(p, stop_ns, last);

	await_ends(p);
	profile_bpf__detach(p->skel);
	return err ? diag_errno(d, -err, "cannot stop the clock") : 0;
}

static int profile_cut(void *self, struct buf *last, struct diag *d)
{
	struct profile *p = self;
	int err = iterator_run(p->skel->links.er_cut, &p->cut_fd, last);

	return err ? diag_errno(d, -err, "cannot read the times of threads") : 0;
}

static int profile_snapshot(void *self, uint64_t time_ns, bool all, struct buf *snaps,
			    struct diag *d)
{
	struct profile *p = self;
	int err = 0;

	if (!p->skel->links.er_snapshot)
		return 0;
	p->skel->bss->er_snap_ns = time_ns;
	p->skel->bss->er_snap_all = all;
	err = iterator_run(p->skel->links.er_snapshot, &p->snap_fd, snaps);
	return err ? diag_errno(d, -err, "cannot read the states of threads") : 0;
}

static int profile_drain(void *self, capture_fn fn, void *ctx)
{
	struct profile *p = self;
	int fd = bpf_map__fd(p->skel->maps.er_spilled), n = 0;

	for (; p->nspilled < rings_spilled(p->rings); n++) {
		struct er_total r;

		if (bpf_map_lookup_and_delete_elem(fd, NULL, &r))
			break;
		p->nspilled++;
		fn(ctx, r.cpu, &r, sizeof(r));
	}
	return n;
}

static void profile_set_shedding(void *self, enum capture_shedding level)
{
	struct profile *p = self;

	p->skel->bss->er_shedding = level;
}

static void profile_set_distance(void *self, uint64_t ns)
{
	struct profile *p = self;

	p->skel->data->er_distance = ns;
}

static void profile_resend(void *self)
{
	struct profile *p = self;

	resend_stacks(&p->skel->bss->er_seen_key);
}

static bool profile_cpus_changed(const void *self)
{
	const struct profile *p = self;

	return clocks_changed(p->clocks);
}

static void profile_follow_cpus(void *self, void (*fn)(void *ctx, int cpu, int err), void *ctx)
{
	struct profile *p = self;

	clocks_follow(p->clocks, fn, ctx);
}

static enum stack_method profile_stack_method(const void *self)
{
	const struct profile *p = self;

	return p->stack_method;
}

static void profile_calls(const void *self, struct er_calls *ret)
{
	const struct profile *p = self;
	int ncpus = libbpf_num_possible_cpus();
	struct er_calls *by_cpu = xcalloc(ncpus, sizeof(*by_cpu));

	for (uint32_t nr = 0; p->skel->rodata->er_split && nr < ER_MAX_SYSCALLS; nr++) {
		if (bpf_map__lookup_elem(p->skel->maps.er_calls, &nr, sizeof(nr), by_cpu,
					 ncpus * sizeof(*by_cpu), 0))
			continue;
		for (int cpu = 0; cpu < ncpus; cpu++) {
			ret[nr].calls += by_cpu[cpu].calls;
			ret[nr].errors += by_cpu[cpu].errors;
		}
	}
	free(by_cpu);
}

const struct loader profile_loader = {
	.wanted = profile_wanted,
	.open = profile_open,
	.start = profile_start,
	.pause = profile_pause,
	.resume = profile_resume,
	.stop = profile_stop,
	.cut = profile_cut,
	.snapshot = profile_snapshot,
	.close = profile_close,
	.drain = profile_drain,
	.set_shedding = profile_set_shedding,
	.set_distance = profile_set_distance,
	.resend = profile_resend,
	.cpus_changed = profile_cpus_changed,
	.follow_cpus = profile_follow_cpus,
	.stack_method = profile_stack_method,
	.calls = profile_calls,
};
