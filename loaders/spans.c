/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loader of bpf/span.bpf.c, where its programs are explained. */
#include "loaders/spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "bpf/span.skel.h"
#include "loaders/iterator.h"
#include "loaders/loader.h"
#include "loaders/rings.h"
#include "loaders/targets.h"
#include "loaders/typed.h"

enum {
	WINDOWS = 10,      /* in a second: SPAN_WINDOWS of bpf/span.bpf.h */
	MAX_PROCESSES = 8,
};

struct spans {
	struct typed *typed;
	struct span_bpf *skel;
	struct capture_span *sites;
	size_t nsites;
	const struct capture_target *targets; /* borrowed */
	size_t ntargets;
	struct uprobes *uprobes;
	bool refused; /* places were, in the last attempt to attach all */
	int last_fd; /* the iterator of the end; -1: used up */
	bool paused, stopped;
	uint64_t missed; /* when it was stopped */
};

static bool spans_wanted(const struct capture_plan *plan)
{
	return plan->spans && plan->spans->nsites;
}

static void spans_close(void *self)
{
	struct spans *s = self;

	if (!s)
		return;
	uprobes_detach(s->uprobes);
	closep(&s->last_fd);
	span_bpf__destroy(s->skel);
	typed_close(s->typed);
	free(s->sites);
	free(s);
}

static bool is_call(const struct capture_span *site)
{
	return site->site.kind == ER_SPAN_CALL;
}

static void choose_programs(const struct spans *s)
{
	bool calls = false, probes = false;

	for (size_t i = 0; i < s->nsites; i++) {
		calls |= is_call(&s->sites[i]);
		probes |= !is_call(&s->sites[i]);
	}
	bpf_program__set_autoload(s->skel->progs.er_span_enter, probes);
	bpf_program__set_autoload(s->skel->progs.er_span_leave, probes);
	bpf_program__set_autoload(s->skel->progs.er_span_sys_enter, calls);
	bpf_program__set_autoload(s->skel->progs.er_span_sys_exit, calls);
}

static void set_knobs(struct span_bpf *skel, const struct capture_plan *plan, const struct rings *rings)
{
	const struct capture_spans *spans = plan->spans;

	skel->rodata->er_wake_bytes = rings_wake_bytes(rings);
	skel->rodata->er_has_targets = plan->ntargets > 0 || plan->family;
	skel->rodata->er_has_family = plan->family;
	skel->rodata->er_self = plan->exclude_self ? plan->self : 0;
	for (int i = 0; i < ER_HELPERS; i++)
		skel->rodata->er_helpers[i] = plan->helpers[i];
	skel->rodata->er_split = plan->states && plan->split;
	skel->rodata->er_span_over_ns = spans->over_ns;
	skel->rodata->er_span_limit = spans->limit ? (spans->limit + WINDOWS - 1) / WINDOWS : 0;
	targets_size(skel->maps.er_targets, plan);
	bpf_map__set_max_entries(skel->maps.er_span_sites, spans->nsites);
	bpf_map__set_max_entries(skel->maps.er_span_sums, spans->nnames);
	bpf_map__set_max_entries(skel->maps.er_span_hist, spans->nnames);
}

static int fill_sites(const struct spans *s)
{
	int err = 0;

	for (uint32_t i = 0; i < s->nsites && !err; i++) {
		const struct capture_span *site = &s->sites[i];
		uint32_t nr = site->syscall, index = i + 1;

		err = bpf_map__update_elem(s->skel->maps.er_span_sites, &i, sizeof(i), &site->site,
					   sizeof(site->site), BPF_ANY);
		if (!err && is_call(site) && !site->end)
			err = bpf_map__update_elem(s->skel->maps.er_span_calls, &nr, sizeof(nr), &index,
						   sizeof(index), BPF_ANY);
	}
	return err;
}

static int open_skeleton(struct spans *s)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	int err = typed_open(&s->typed);

	if (err)
		return err;
	opts.btf_custom_path = typed_path(s->typed);
	s->skel = span_bpf__open_opts(&opts);
	return s->skel ? typed_look(s->typed, s->skel->obj, NULL) : -errno;
}

/*
 * The program at an exec must run before the one of bpf/profile.bpf.c, which resets the counters of
 * a thread. So it is attached here, before any program starts.
 */
static int load(struct spans *s, const struct capture_plan *plan, const struct rings *rings)
{
	int err;

	set_knobs(s->skel, plan, rings);
	choose_programs(s);
	uprobes_prepare(s->skel->progs.er_span_enter);
	uprobes_prepare(s->skel->progs.er_span_leave);
	err = rings_bind(rings, s->skel->obj);
	err = err ? err : span_bpf__load(s->skel);
	typed_loaded(s->typed);
	err = err ? err : targets_fill(s->skel->maps.er_targets, plan);
	err = err ? err : fill_sites(s);
	if (err)
		return err;
	s->skel->links.er_span_exec = typed_attach(s->skel->progs.er_span_exec);
	return s->skel->links.er_span_exec ? 0 : -errno;
}

/* Of several targets in one process. A kernel thread has none. */
static bool is_first_of(const struct spans *s, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (s->targets[j].pid == s->targets[i].pid)
			return false;
	return s->targets[i].pid;
}

static int attach_to(struct spans *s, bool ends, struct uprobe_site *sites, size_t n, pid_t pid, struct diag *d)
{
	struct bpf_program *prog = ends ? s->skel->progs.er_span_leave : s->skel->progs.er_span_enter;
	size_t bad = 0;
	int err = uprobes_attach(&s->uprobes, bpf_program__fd(prog), sites, n, pid, &bad);

	for (size_t i = 0; i < n; i++) {
		s->sites[sites[i].cookie].at.refused |= sites[i].refused;
		s->refused |= sites[i].refused;
	}
	return err ? diag_errno(d, -err, "--span: a place at offset 0x%llx: %s",
				(unsigned long long)sites[bad].offset, uprobes_why(-err)) : 0;
}

/* With few targets the breakpoints are in these processes only. */
static int attach_sites(struct spans *s, bool ends, struct diag *d)
{
	bool each = s->ntargets && s->ntargets <= MAX_PROCESSES;
	__cleanup(freep) struct uprobe_site *sites = xcalloc(s->nsites, sizeof(*sites));
	size_t n = 0;
	int err = 0;

	for (size_t i = 0; i < s->nsites; i++)
		if (!is_call(&s->sites[i]) && s->sites[i].end == ends && !s->sites[i].at.refused)
			sites[n++] = s->sites[i].at;
	if (!n)
		return 0;
	if (!each)
		return attach_to(s, ends, sites, n, -1, d);
	for (size_t i = 0; i < s->ntargets && !err; i++)
		if (is_first_of(s, i))
			err = attach_to(s, ends, sites, n, s->targets[i].pid, d);
	return err;
}

/* The other places of a function of which one was refused. */
static void leave_out(struct spans *s)
{
	for (size_t i = 0; i < s->nsites; i++) {
		const struct capture_span *bad = &s->sites[i];

		for (size_t j = 0; j < s->nsites && bad->at.refused; j++)
			if (s->sites[j].site.name == bad->site.name && s->sites[j].function == bad->function)
				s->sites[j].at.refused = true;
	}
}

/*
 * Ends first: a begin whose end is not seen would stay open. The programs do nothing before the start, so the
 * time that this takes is not recorded. If the kernel refuses a place all is attached again without its function:
 * then no end lacks its begin, and the places of a file share a link.
 */
static int attach_all(struct spans *s, struct diag *d)
{
	int err;

	__atomic_store_n(&s->skel->bss->er_stop_ns, 1, __ATOMIC_SEQ_CST);
	do {
		uprobes_detach(s->uprobes);
		s->uprobes = NULL;
		s->refused = false;
		err = attach_sites(s, true, d);
		err = err ? err : attach_sites(s, false, d);
		leave_out(s);
	} while (!err && s->refused);
	return err;
}

static int spans_open(const struct capture_plan *plan, struct rings *rings, struct diag *d, void **self)
{
	struct spans *s = xcalloc(1, sizeof(*s));
	int err;

	s->last_fd = -1;
	s->targets = plan->targets;
	s->ntargets = plan->ntargets;
	s->nsites = plan->spans->nsites;
	s->sites = xcalloc(s->nsites, sizeof(*s->sites));
	for (uint32_t i = 0; i < s->nsites; i++) {
		s->sites[i] = plan->spans->sites[i];
		s->sites[i].at.cookie = i;
	}
	err = open_skeleton(s);
	err = err ? err : load(s, plan, rings);
	if (err) {
		spans_close(s);
		return diag_errno(d, -err, "cannot load the programs of spans");
	}
	err = attach_all(s, d);
	for (size_t i = 0; i < s->nsites; i++)
		plan->spans->sites[i].at.refused = s->sites[i].at.refused;
	if (err) {
		spans_close(s);
		return err;
	}
	*self = s;
	return 0;
}

static int attach(struct bpf_program *prog, struct bpf_link **link)
{
	if (!bpf_program__autoload(prog))
		return 0;
	*link = typed_attach(prog);
	return *link ? 0 : -errno;
}

static int spans_start(void *self, uint64_t start_ns, struct diag *d)
{
	struct spans *s = self;
	struct span_bpf *skel = s->skel;
	int err = iterator_make(skel->progs.er_span_last, &skel->links.er_span_last, &s->last_fd);

	err = err ? err : attach(skel->progs.er_span_exit, &skel->links.er_span_exit);
	err = err ? err : attach(skel->progs.er_span_sys_exit, &skel->links.er_span_sys_exit);
	err = err ? err : attach(skel->progs.er_span_sys_enter, &skel->links.er_span_sys_enter);
	if (err)
		return diag_errno(d, -err, "cannot start the programs of spans");
	__atomic_store_n(&s->skel->bss->er_stop_ns, 0, __ATOMIC_SEQ_CST);
	return 0;
}

/* All spans end; those that are open are appended to `last`. */
static int end_all(struct spans *s, uint64_t time_ns, struct buf *last)
{
	__atomic_store_n(&s->skel->bss->er_stop_ns, time_ns, __ATOMIC_SEQ_CST);
	return iterator_run(s->skel->links.er_span_last, &s->last_fd, last);
}

static int spans_pause(void *self, uint64_t *time_ns, struct buf *last, struct diag *d)
{
	struct spans *s = self;
	int err = end_all(s, *time_ns, last);

	s->paused = true;
	return err ? diag_errno(d, -err, "cannot pause the spans") : 0;
}

static int spans_resume(void *self, uint64_t time_ns, struct diag *d)
{
	struct spans *s = self;

	__atomic_store_n(&s->skel->bss->er_stop_ns, 0, __ATOMIC_SEQ_CST);
	s->paused = false;
	return 0;
}

/* Runs of programs that the kernel left out. */
static uint64_t missed(const struct spans *s)
{
	const struct bpf_program *const progs[] = {
		s->skel->progs.er_span_enter, s->skel->progs.er_span_leave,
		s->skel->progs.er_span_sys_enter, s->skel->progs.er_span_sys_exit,
		s->skel->progs.er_span_exit, s->skel->progs.er_span_exec,
	};
	uint64_t n = 0;

	for (size_t i = 0; i < sizeof(progs) / sizeof(progs[0]); i++)
		if (bpf_program__autoload(progs[i]))
			n += uprobes_missed(bpf_program__fd(progs[i]));
	return n;
}

static int spans_stop(void *self, uint64_t *stop_ns, struct buf *last, struct diag *d)
{
	struct spans *s = self;
	int err = s->paused ? 0 : end_all(s, *stop_ns, last);

	s->missed = missed(s);
	s->stopped = true;
	return err ? diag_errno(d, -err, "cannot stop the spans") : 0;
}

static void spans_detach(void *self)
{
	struct spans *s = self;

	uprobes_detach(s->uprobes);
	s->uprobes = NULL;
	span_bpf__detach(s->skel);
}

static void add_sums(struct er_span_sums *ret, const struct er_span_sums *cpu)
{
	const uint64_t *from = (const uint64_t *)cpu;
	uint64_t max = ret->max_ns > cpu->max_ns ? ret->max_ns : cpu->max_ns, *to = (uint64_t *)ret;

	for (size_t i = 0; i < sizeof(*ret) / sizeof(*to); i++)
		to[i] += from[i];
	ret->max_ns = max;
}

/* What the programs do not add up: struct er_span_sums. */
static void add_derived(struct er_span_sums *sums, const uint64_t hist[ER_SPAN_BUCKETS])
{
	sums->count = 0;
	for (size_t i = 0; i < ER_SPAN_BUCKETS; i++)
		sums->count += hist[i];
	sums->dur_ns = sums->run_ns;
	for (int i = 0; i < ER_OFF_STATES; i++)
		sums->dur_ns += sums->off_ns[i];
}

static void spans_sums(const void *self, size_t name, struct er_span_sums *ret,
		       uint64_t hist[ER_SPAN_BUCKETS])
{
	enum { HIST_BYTES = ER_SPAN_BUCKETS * sizeof(uint64_t) };
	const struct spans *s = self;
	int ncpus = libbpf_num_possible_cpus();
	struct er_span_sums *sums = xcalloc(ncpus, sizeof(*sums));
	uint64_t *hists = xcalloc(ncpus, HIST_BYTES);
	uint32_t key = name;

	if (!bpf_map__lookup_elem(s->skel->maps.er_span_sums, &key, sizeof(key), sums,
				  ncpus * sizeof(*sums), 0))
		for (int cpu = 0; cpu < ncpus; cpu++)
			add_sums(ret, &sums[cpu]);
	if (!bpf_map__lookup_elem(s->skel->maps.er_span_hist, &key, sizeof(key), hists,
				  (size_t)ncpus * HIST_BYTES, 0))
		for (size_t i = 0; i < (size_t)ncpus * ER_SPAN_BUCKETS; i++)
			hist[i % ER_SPAN_BUCKETS] += hists[i];
	free(sums);
	free(hists);
	add_derived(ret, hist);
}

static uint64_t begun(const struct spans *s)
{
	int ncpus = libbpf_num_possible_cpus();
	size_t size = bpf_map__value_size(s->skel->maps.er_span_pace);
	unsigned char *paces = xcalloc(ncpus, size);
	uint64_t n = 0, ids;
	uint32_t key = 0;

	if (!bpf_map__lookup_elem(s->skel->maps.er_span_pace, &key, sizeof(key), paces, ncpus * size, 0))
		for (int cpu = 0; cpu < ncpus; cpu++) {
			memcpy(&ids, paces + cpu * size, sizeof(ids)); /* the first field of struct span_pace */
			n += ids;
		}
	free(paces);
	return n;
}

static void spans_losses(const void *self, struct capture_span_losses *ret)
{
	const struct spans *s = self;

	ret->missed = s->stopped ? s->missed : missed(s);
	ret->begun = begun(s);
}

const struct loader span_loader = {
	.wanted = spans_wanted,
	.open = spans_open,
	.start = spans_start,
	.pause = spans_pause,
	.resume = spans_resume,
	.stop = spans_stop,
	.detach = spans_detach,
	.close = spans_close,
	.span_sums = spans_sums,
	.span_losses = spans_losses,
};
