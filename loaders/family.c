/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loader of bpf/family.bpf.c. Its programs run from the open to the close, because a family
 * grows also while nothing is recorded.
 */
#include "loaders/loader.h"

#include <errno.h>
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "bpf/family.skel.h"
#include "loaders/rings.h"
#include "loaders/targets.h"
#include "loaders/typed.h"

struct family {
	struct typed *typed;
	struct family_bpf *skel;
};

static bool family_wanted(const struct capture_plan *plan)
{
	return plan->family && (plan->interval_ns || plan->only_locks || plan->ncounters || plan->nprobes ||
				plan->heap || plan->io);
}

static void family_close(void *self)
{
	struct family *f = self;

	if (!f)
		return;
	family_bpf__destroy(f->skel);
	typed_close(f->typed);
	free(f);
}

static int load(struct family *f, const struct capture_plan *plan, const struct rings *rings)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	int err = typed_open(&f->typed);

	if (err)
		return err;
	opts.btf_custom_path = typed_path(f->typed);
	f->skel = family_bpf__open_opts(&opts);
	if (!f->skel)
		return -errno;
	f->skel->rodata->er_descend = plan->family->descend;
	targets_size(f->skel->maps.er_targets, plan);
	err = typed_look(f->typed, f->skel->obj, NULL);
	err = err ? err : rings_bind(rings, f->skel->obj);
	err = err ? err : family_bpf__load(f->skel);
	typed_loaded(f->typed);
	return err ? err : targets_fill(f->skel->maps.er_targets, plan);
}

/* Mark the program, which has one thread as yet. */
static int mark(struct family *f, int pidfd)
{
	int one = 1;

	if (pidfd < 0)
		return 0;
	f->skel->bss->er_living = 1;
	return bpf_map_update_elem(bpf_map__fd(f->skel->maps.er_family), &pidfd, &one, BPF_ANY) ?
		       -errno : 0;
}

static int attach(struct family *f)
{
	f->skel->links.er_gone = typed_attach(f->skel->progs.er_gone);
	if (!f->skel->links.er_gone)
		return -errno;
	f->skel->links.er_born = typed_attach(f->skel->progs.er_born);
	return f->skel->links.er_born ? 0 : -errno;
}

static int family_open(const struct capture_plan *plan, struct rings *rings, struct diag *d,
		       void **self)
{
	struct family *f = xcalloc(1, sizeof(*f));
	int err = load(f, plan, rings);

	err = err ? err : mark(f, plan->family->pidfd);
	err = err ? err : attach(f);
	if (err) {
		family_close(f);
		return diag_errno(d, -err, "cannot load the programs that follow descendants");
	}
	*self = f;
	return 0;
}

static void family_count(const void *self, struct capture_family_count *ret)
{
	const struct family *f = self;
	const volatile __u32 *living = &f->skel->bss->er_living;

	ret->living = *living;
	ret->unmarked = f->skel->bss->er_unmarked;
}

const struct loader family_loader = {
	.wanted = family_wanted,
	.open = family_open,
	.close = family_close,
	.family = family_count,
};
