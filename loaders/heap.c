/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loader of bpf/heap.bpf.c, where its programs are explained. */
#include "loaders/loader.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "bpf/heap.skel.h"
#include "loaders/family_uprobes.h"
#include "loaders/knobs.h"
#include "loaders/rings.h"
#include "loaders/targets.h"
#include "loaders/typed.h"
#include "loaders/uprobes.h"

struct heap {
	const struct rings *rings;
	struct typed *typed;
	struct heap_bpf *skel;
	const struct capture_heap *plan; /* while it is opened */
	struct uprobes *links;     /* NULL with `family` */
	struct family_uprobes *family;
	uint64_t missed;           /* after the stop */
	uint64_t purge_ns;         /* not before then */
};

#define PURGE_NS 10000000000ULL

static bool heap_wanted(const struct capture_plan *plan)
{
	return plan->heap && plan->heap->nsites;
}

static void heap_close(void *self)
{
	struct heap *h = self;

	if (!h)
		return;
	uprobes_detach(h->links);
	family_uprobes_close(h->family);
	heap_bpf__destroy(h->skel);
	typed_close(h->typed);
	free(h);
}

/* --- opening --- */

enum program { PROGRAM_LEAVE, PROGRAM_END, PROGRAM_ENTER };

/*
 * In the order in which they are attached. Returns come first: a call whose return is not seen would seem to have
 * been left.
 */
static const enum program programs[] = { PROGRAM_LEAVE, PROGRAM_END, PROGRAM_ENTER };

static struct bpf_program *program(const struct heap *h, enum program which)
{
	switch (which) {
	case PROGRAM_LEAVE:
		return h->skel->progs.er_heap_leave;
	case PROGRAM_END:
		return h->skel->progs.er_heap_end;
	default:
		return h->skel->progs.er_heap_enter;
	}
}

static int fill_sites(const struct heap *h)
{
	int err = 0;

	for (uint32_t i = 0; i < h->plan->nsites && !err; i++)
		err = bpf_map__update_elem(h->skel->maps.er_heap_sites, &i, sizeof(i), &h->plan->sites[i].rule,
					   sizeof(h->plan->sites[i].rule), BPF_ANY);
	return err;
}

static int load(struct heap *h, const struct capture_plan *plan)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	int err = typed_open(&h->typed);

	if (err)
		return err;
	opts.btf_custom_path = typed_path(h->typed);
	h->skel = heap_bpf__open_opts(&opts);
	err = h->skel ? typed_look(h->typed, h->skel->obj, NULL) : -errno;
	if (err)
		return err;
	knobs_set(h->skel, plan, h->rings, false);
	h->skel->rodata->er_heap_starts = h->plan->starts && !h->plan->inherit;
	h->skel->rodata->er_heap_mean = h->plan->mean;
	bpf_map__set_max_entries(h->skel->maps.er_heap_kept, h->plan->mean ? ER_MAX_HEAP_BLOCKS : 1);
	bpf_map__set_max_entries(h->skel->maps.er_heap_cpus, rings_ncpus(h->rings));
	bpf_map__set_max_entries(h->skel->maps.er_heap_sites, h->plan->nsites);
	bpf_map__set_autocreate(h->skel->maps.er_threads, false);
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs) && !h->plan->inherit; i++)
		uprobes_prepare(program(h, i));
	err = rings_bind(h->rings, h->skel->obj);
	err = err ? err : heap_bpf__load(h->skel);
	typed_loaded(h->typed);
	err = err ? err : targets_fill(h->skel->maps.er_targets, plan);
	return err ? err : fill_sites(h);
}

static const char *name_of(const struct heap *h, enum program which, uint64_t cookie)
{
	return which == PROGRAM_END ? "the end of operator new" : h->plan->sites[cookie].name;
}

/* In all processes, or in one of them without its children. */
static int attach_to(struct heap *h, enum program which, struct uprobe_site *sites, size_t n, pid_t pid,
		     struct diag *d)
{
	size_t bad = 0;
	int err = n ? uprobes_attach(&h->links, bpf_program__fd(program(h, which)), sites, n, pid, &bad) : 0;

	for (size_t i = 0; i < n && !err; i++) {
		err = sites[i].refused ? -ENOTSUP : 0;
		bad = i;
	}
	return err ? diag_errno(d, -err, "-H: cannot trace %s: %s", name_of(h, which, sites[bad].cookie),
				uprobes_why(-err)) : 0;
}

static int define(struct heap *h, enum program which, const struct uprobe_site *sites, size_t n, struct diag *d)
{
	size_t bad = 0;
	int err = n ? family_uprobes_define(&h->family, bpf_program__fd(program(h, which)), sites, n, &bad) : 0;

	return err ? diag_errno(d, -err, "-H: cannot trace %s: %s", name_of(h, which, sites[bad].cookie),
				uprobes_why(-err)) : 0;
}

/* The number of a site is its cookie; ends have none. Returns how many there are. */
static size_t sites_of(const struct capture_heap *plan, enum program which, struct uprobe_site *ret)
{
	size_t n = 0;

	if (which == PROGRAM_END) {
		for (size_t i = 0; i < plan->nends; i++)
			ret[n++] = plan->ends[i];
		return n;
	}
	for (size_t i = 0; i < plan->nsites; i++) {
		if (which == PROGRAM_LEAVE && !plan->sites[i].rule.returns)
			continue;
		ret[n] = plan->sites[i].at;
		ret[n].ret = which == PROGRAM_LEAVE;
		ret[n++].cookie = i;
	}
	return n;
}

static int attach_sites(struct heap *h, enum program which, struct diag *d)
{
	const struct capture_heap *plan = h->plan;
	__cleanup(freep) struct uprobe_site *sites = xcalloc(plan->nsites + plan->nends, sizeof(*sites));
	size_t n = sites_of(plan, which, sites), npids = plan->npids ? plan->npids : 1;
	int err = 0;

	if (plan->inherit)
		return define(h, which, sites, n, d);
	for (size_t i = 0; i < npids && !err; i++)
		err = attach_to(h, which, sites, n, plan->npids ? plan->pids[i] : -1, d);
	return err;
}

static int heap_aim(void *self, pid_t pid, struct diag *d)
{
	struct heap *h = self;
	size_t bad;
	int err = h->family ? family_uprobes_aim(h->family, pid, &bad) : 0;

	return err ? diag_errno(d, -err, "-H: cannot set breakpoints in process %d: %s", (int)pid, uprobes_why(-err)) : 0;
}

static int aim_at_all(struct heap *h, struct diag *d)
{
	int err = 0;

	for (size_t i = 0; i < h->plan->npids && !h->plan->starts && !err; i++)
		err = heap_aim(h, h->plan->pids[i], d);
	return err;
}

/* The programs do nothing before the start. */
static int heap_open(const struct capture_plan *plan, struct rings *rings, struct diag *d, void **self)
{
	struct heap *h = xcalloc(1, sizeof(*h));
	int err;

	h->rings = rings;
	h->plan = plan->heap;
	err = load(h, plan);
	if (err)
		diag_errno(d, -err, "-H: cannot load the programs that trace the heap");
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs) && !err; i++)
		err = attach_sites(h, programs[i], d);
	err = err ? err : aim_at_all(h, d);
	if (err) {
		heap_close(h);
		return err;
	}
	*self = h;
	return 0;
}

/* --- running --- */

static int heap_start(void *self, uint64_t start_ns, struct diag *d)
{
	struct heap *h = self;

	h->skel->bss->er_heap_on = true;
	return 0;
}

static uint64_t missed(const struct heap *h)
{
	uint64_t n = 0;

	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		n += uprobes_missed(bpf_program__fd(program(h, i)));
	return n;
}

static int heap_stop(void *self, uint64_t *stop_ns, struct buf *last, struct diag *d)
{
	struct heap *h = self;

	h->skel->bss->er_heap_on = false;
	h->missed = missed(h);
	return 0;
}

static void heap_detach(void *self)
{
	struct heap *h = self;

	h->missed = missed(h);
	uprobes_detach(h->links);
	family_uprobes_close(h->family);
	h->links = NULL;
	h->family = NULL;
}

/* Forget the sampled blocks of processes that have ended. They take room only if there are many. */
static int heap_drain(void *self, capture_fn fn, void *ctx)
{
	struct heap *h = self;
	uint64_t now = capture_now_ns();
	int map = bpf_map__fd(h->skel->maps.er_heap_kept);
	struct er_heap_block at, next;

	if (h->skel->bss->er_heap_nkept < ER_MAX_HEAP_BLOCKS / 2 || now < h->purge_ns)
		return 0;
	h->purge_ns = now + PURGE_NS;
	for (bool more = !bpf_map_get_next_key(map, NULL, &next); more;) {
		at = next;
		more = !bpf_map_get_next_key(map, &at, &next);
		if (kill(at.tgid, 0) && errno == ESRCH && !bpf_map_delete_elem(map, &at))
			__atomic_fetch_sub(&h->skel->bss->er_heap_nkept, 1, __ATOMIC_RELAXED);
	}
	return 0;
}

static void heap_resend(void *self)
{
	struct heap *h = self;

	resend_stacks(&h->skel->bss->er_seen_key);
}

static uint64_t heap_missed(const void *self)
{
	const struct heap *h = self;

	return h->links || h->family ? missed(h) : h->missed;
}

/* A pause would leave frees out, and so report false leaks: there is none. */
const struct loader heap_loader = {
	.wanted = heap_wanted,
	.open = heap_open,
	.start = heap_start,
	.stop = heap_stop,
	.detach = heap_detach,
	.close = heap_close,
	.drain = heap_drain,
	.resend = heap_resend,
	.heap_aim = heap_aim,
	.heap_missed = heap_missed,
};
