/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loader of bpf/heap.bpf.c, where its programs are explained. */
#include "loaders/loader.h"

#include <errno.h>
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "bpf/heap.skel.h"
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
	struct uprobes *links;
	uint64_t missed;           /* after the stop */
};

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
	heap_bpf__destroy(h->skel);
	typed_close(h->typed);
	free(h);
}

/* --- opening --- */

/* The number of a site is its cookie. */
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
	knobs_set(h->skel, plan, h->rings);
	h->skel->rodata->er_heap_starts = h->plan->starts;
	bpf_map__set_max_entries(h->skel->maps.er_heap_cpus, rings_ncpus(h->rings));
	bpf_map__set_max_entries(h->skel->maps.er_heap_sites, h->plan->nsites);
	bpf_map__set_autocreate(h->skel->maps.er_threads, false);
	uprobes_prepare(h->skel->progs.er_heap_enter);
	uprobes_prepare(h->skel->progs.er_heap_leave);
	err = rings_bind(h->rings, h->skel->obj);
	err = err ? err : heap_bpf__load(h->skel);
	typed_loaded(h->typed);
	err = err ? err : targets_fill(h->skel->maps.er_targets, plan);
	return err ? err : fill_sites(h);
}

static int attach_to(struct heap *h, struct uprobe_site *sites, size_t n, bool returns, pid_t pid,
		     struct diag *d)
{
	const struct bpf_program *prog = returns ? h->skel->progs.er_heap_leave : h->skel->progs.er_heap_enter;
	size_t bad = 0;
	int err = n ? uprobes_attach(&h->links, bpf_program__fd(prog), sites, n, pid, &bad) : 0;

	for (size_t i = 0; i < n && !err; i++) {
		err = sites[i].refused ? -ENOTSUP : 0;
		bad = i;
	}
	return err ? diag_errno(d, -err, "-H: cannot trace %s: %s", h->plan->sites[sites[bad].cookie].name,
				uprobes_why(-err)) : 0;
}

static int attach_sites(struct heap *h, bool returns, struct diag *d)
{
	const struct capture_heap *plan = h->plan;
	__cleanup(freep) struct uprobe_site *sites = xcalloc(plan->nsites, sizeof(*sites));
	size_t n = 0, npids = plan->npids ? plan->npids : 1;
	int err = 0;

	for (size_t i = 0; i < plan->nsites; i++) {
		if (returns && !plan->sites[i].rule.returns)
			continue;
		sites[n] = plan->sites[i].at;
		sites[n].ret = returns;
		sites[n++].cookie = i;
	}
	for (size_t i = 0; i < npids && !err; i++)
		err = attach_to(h, sites, n, returns, plan->npids ? plan->pids[i] : -1, d);
	return err;
}

/*
 * Returns first: a call whose return is not seen would seem to have been left. The programs do nothing
 * before the start.
 */
static int heap_open(const struct capture_plan *plan, struct rings *rings, struct diag *d, void **self)
{
	struct heap *h = xcalloc(1, sizeof(*h));
	int err;

	h->rings = rings;
	h->plan = plan->heap;
	err = load(h, plan);
	if (err)
		diag_errno(d, -err, "-H: cannot load the programs that trace the heap");
	err = err ? err : attach_sites(h, true, d);
	err = err ? err : attach_sites(h, false, d);
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
	return uprobes_missed(bpf_program__fd(h->skel->progs.er_heap_enter)) +
	       uprobes_missed(bpf_program__fd(h->skel->progs.er_heap_leave));
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

	uprobes_detach(h->links);
	h->links = NULL;
}

static void heap_resend(void *self)
{
	struct heap *h = self;

	resend_stacks(&h->skel->bss->er_seen_key);
}

static uint64_t heap_missed(const void *self)
{
	const struct heap *h = self;

	return h->links ? missed(h) : h->missed;
}

/* A pause would leave frees out, and so report false leaks: there is none. */
const struct loader heap_loader = {
	.wanted = heap_wanted,
	.open = heap_open,
	.start = heap_start,
	.stop = heap_stop,
	.detach = heap_detach,
	.close = heap_close,
	.resend = heap_resend,
	.heap_missed = heap_missed,
};
