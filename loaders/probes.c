/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loader of bpf/probe.bpf.c. It attaches the program to each site of each probe. */
#include "loaders/loader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "bpf/probe.skel.h"
#include "loaders/knobs.h"
#include "loaders/rings.h"
#include "loaders/targets.h"
#include "loaders/typed.h"
#include "loaders/uprobes.h"

/* With more processes to record, probes are attached in all processes, and BPF chooses. */
enum { PIDS_MAX = 16 };

struct probes {
	const struct rings *rings;
	struct typed *typed;
	struct probe_bpf *skel;
	struct capture_probe *defs;
	size_t n;
	pid_t pids[PIDS_MAX];      /* only in these processes; */
	size_t npids;              /* 0: in all */
	struct uprobes *links;
	bool refused;              /* places were, in the last attempt to attach all */
	const struct er_probe_cpu *cpus;
	size_t cpus_size;
	uint64_t missed;           /* after the stop */
};

static bool probes_wanted(const struct capture_plan *plan)
{
	return plan->nprobes > 0;
}

static void probes_close(void *self)
{
	struct probes *p = self;

	if (!p)
		return;
	uprobes_detach(p->links);
	if (p->cpus)
		munmap((void *)p->cpus, p->cpus_size);
	probe_bpf__destroy(p->skel);
	typed_close(p->typed);
	free(p->defs);
	free(p);
}

/* --- opening --- */

static size_t count_sites(const struct probes *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		n += p->defs[i].nsites;
	return n;
}

static int fill_rule(struct probes *p, uint32_t probe)
{
	const struct capture_probe *def = &p->defs[probe];
	struct er_probe_rule rule = { .nvalues = def->nvalues, .ntests = def->ntests,
				      .counts_only = def->counts_only };

	for (size_t i = 0; i < def->ntests; i++)
		rule.tests[i] = def->tests[i];
	return bpf_map_update_elem(bpf_map__fd(p->skel->maps.er_probe_rules), &probe, &rule, BPF_ANY) ?
		       -errno : 0;
}

/* The number of a site is its cookie. */
static int fill_maps(struct probes *p)
{
	uint32_t number = 0;
	int err = 0;

	for (uint32_t i = 0; i < p->n && !err; i++) {
		const struct capture_probe *def = &p->defs[i];

		err = fill_rule(p, i);
		for (size_t k = 0; k < def->nsites && !err; k++, number++) {
			const struct capture_probe_site *from = &def->sites[k];
			struct er_probe_site site = { .probe = i, .jump = from->jump };

			memcpy(site.low, from->low, sizeof(site.low));
			memcpy(site.high, from->high, sizeof(site.high));
			memcpy(site.places, from->places, sizeof(site.places));
			if (bpf_map_update_elem(bpf_map__fd(p->skel->maps.er_probe_sites), &number, &site,
						BPF_ANY))
				err = -errno;
		}
	}
	return err;
}

static int map_counts(struct probes *p)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *at;

	p->cpus_size = rings_ncpus(p->rings) * sizeof(struct er_probe_cpu);
	p->cpus_size = (p->cpus_size + page - 1) & ~(page - 1);
	at = mmap(NULL, p->cpus_size, PROT_READ, MAP_SHARED, bpf_map__fd(p->skel->maps.er_probe_cpus), 0);
	if (at == MAP_FAILED)
		return -errno;
	p->cpus = at;
	return 0;
}

static int open_skeleton(struct probes *p)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	int err = typed_open(&p->typed);

	if (err)
		return err;
	opts.btf_custom_path = typed_path(p->typed);
	p->skel = probe_bpf__open_opts(&opts);
	return p->skel ? typed_look(p->typed, p->skel->obj, NULL) : -errno;
}

static int load(struct probes *p, const struct capture_plan *plan)
{
	struct probe_bpf *skel = p->skel;
	size_t nsites = count_sites(p);
	int err;

	knobs_set(skel, plan, p->rings, false);
	bpf_map__set_max_entries(skel->maps.er_probe_cpus, rings_ncpus(p->rings));
	bpf_map__set_max_entries(skel->maps.er_probe_sites, nsites ? nsites : 1);
	bpf_map__set_autocreate(skel->maps.er_threads, false);
	uprobes_prepare(skel->progs.er_probe_user);
	err = rings_bind(p->rings, skel->obj);
	if (!err)
		err = probe_bpf__load(skel);
	typed_loaded(p->typed);
	if (!err)
		err = targets_fill(skel->maps.er_targets, plan);
	err = err ? err : fill_maps(p);
	return err ? err : map_counts(p);
}

/*
 * Breakpoints in the recorded processes only; the others do not pay for them. Descendants, which may
 * be recorded, too, are not known yet.
 */
static void choose_processes(struct probes *p, const struct capture_plan *plan)
{
	if (plan->family)
		return;
	for (size_t i = 0; i < plan->ntargets; i++) {
		bool had = !plan->targets[i].pid;

		for (size_t k = 0; k < p->npids; k++)
			had |= p->pids[k] == plan->targets[i].pid;
		if (had)
			continue;
		if (p->npids == PIDS_MAX) {
			p->npids = 0;
			return;
		}
		p->pids[p->npids++] = plan->targets[i].pid;
	}
}

static int report(const struct capture_probe *def, size_t site, int err, struct diag *d)
{
	const char *what = def->tracepoint >= 0 ? def->name : def->sites[site].name;

	return diag_errno(d, -err, "%s '%s': cannot attach to %s: %s", def->option, def->name, what,
			  uprobes_why(-err));
}

/* The sites of a probe that are not refused; their cookies count from `first`. Returns how many. */
static size_t list_sites(const struct capture_probe *def, uint32_t first, struct uprobe_site *sites)
{
	size_t n = 0;

	for (size_t i = 0; i < def->nsites; i++) {
		if (def->sites[i].at.refused)
			continue;
		sites[n] = def->sites[i].at;
		sites[n++].cookie = first + i;
	}
	return n;
}

/* Without one of its ends calls of the function would be missing. */
static void refuse(struct probes *p, const struct capture_probe *def, size_t site)
{
	for (size_t i = 0; i < def->nsites; i++)
		if (def->sites[i].function == def->sites[site].function)
			def->sites[i].at.refused = true;
	p->refused = true;
}

static int attach_sites(struct probes *p, const struct capture_probe *def, uint32_t first, pid_t pid, struct diag *d)
{
	__cleanup(freep) struct uprobe_site *sites = xcalloc(def->nsites, sizeof(*sites));
	size_t n = list_sites(def, first, sites), bad = 0;
	int err = uprobes_attach(&p->links, bpf_program__fd(p->skel->progs.er_probe_user), sites, n, pid, &bad);

	if (err)
		return report(def, sites[bad].cookie - first, err, d);
	for (size_t i = 0; i < n; i++)
		if (sites[i].refused)
			refuse(p, def, sites[i].cookie - first);
	return 0;
}

static int attach_probe(struct probes *p, const struct capture_probe *def, uint32_t first, struct diag *d)
{
	int err = 0;

	if (def->tracepoint >= 0) {
		err = uprobes_attach_tracepoint(&p->links, bpf_program__fd(p->skel->progs.er_probe_kernel),
						def->tracepoint, first);
		return err ? report(def, 0, err, d) : 0;
	}
	for (size_t i = 0; i < (p->npids ? p->npids : 1) && !err; i++)
		err = attach_sites(p, def, first, p->npids ? p->pids[i] : -1, d);
	return err;
}

/*
 * The program does nothing before the start, so the time that this takes is not recorded. If the kernel refuses a
 * place all is attached again without it: another process may have accepted it.
 */
static int attach_all(struct probes *p, struct diag *d)
{
	int err = 0;

	do {
		uint32_t first = 0;

		uprobes_detach(p->links);
		p->links = NULL;
		p->refused = false;
		for (size_t i = 0; i < p->n && !err; i++) {
			err = attach_probe(p, &p->defs[i], first, d);
			first += p->defs[i].nsites;
		}
	} while (!err && p->refused);
	return err;
}

static int probes_open(const struct capture_plan *plan, struct rings *rings, struct diag *d,
		       void **self)
{
	struct probes *p = xcalloc(1, sizeof(*p));
	int err;

	p->rings = rings;
	p->n = plan->nprobes;
	p->defs = xcalloc(p->n, sizeof(*p->defs));
	for (size_t i = 0; i < p->n; i++)
		p->defs[i] = plan->probes[i];
	choose_processes(p, plan);
	err = open_skeleton(p);
	err = err ? err : load(p, plan);
	if (err) {
		diag_errno(d, -err, "cannot load the probe program");
		probes_close(p);
		return err;
	}
	err = attach_all(p, d);
	if (err) {
		probes_close(p);
		return err;
	}
	*self = p;
	return 0;
}

/* --- running --- */

static int probes_start(void *self, uint64_t start_ns, struct diag *d)
{
	struct probes *p = self;

	p->skel->bss->er_probing = true;
	return 0;
}

static int probes_pause(void *self, uint64_t *time_ns, struct buf *last, struct diag *d)
{
	struct probes *p = self;

	p->skel->bss->er_probing = false;
	return 0;
}

static int probes_resume(void *self, uint64_t time_ns, struct diag *d)
{
	struct probes *p = self;

	p->skel->bss->er_probing = true;
	return 0;
}

static uint64_t missed(const struct probes *p)
{
	return uprobes_missed(bpf_program__fd(p->skel->progs.er_probe_user)) +
	       uprobes_missed(bpf_program__fd(p->skel->progs.er_probe_kernel));
}

static int probes_stop(void *self, uint64_t *stop_ns, struct buf *last, struct diag *d)
{
	struct probes *p = self;

	p->skel->bss->er_probing = false;
	p->missed = missed(p);
	return 0;
}

static void probes_detach(void *self)
{
	struct probes *p = self;

	uprobes_detach(p->links);
	p->links = NULL;
}

static void probes_resend(void *self)
{
	struct probes *p = self;

	resend_stacks(&p->skel->bss->er_seen_key);
}

static void probes_probed(const void *self, size_t probe, struct capture_probed *ret)
{
	const struct probes *p = self;

	for (int cpu = 0; cpu < rings_ncpus(p->rings); cpu++) {
		ret->hits += __atomic_load_n(&p->cpus[cpu].hits[probe], __ATOMIC_RELAXED);
		ret->unread += __atomic_load_n(&p->cpus[cpu].unread[probe], __ATOMIC_RELAXED);
	}
	ret->missed = p->links ? missed(p) : p->missed;
}

const struct loader probe_loader = {
	.wanted = probes_wanted,
	.open = probes_open,
	.start = probes_start,
	.pause = probes_pause,
	.resume = probes_resume,
	.stop = probes_stop,
	.detach = probes_detach,
	.close = probes_close,
	.resend = probes_resend,
	.probed = probes_probed,
};
