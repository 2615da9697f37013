// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Probes (--probe): at each hit of a place in user code, or of a tracepoint, er_probe_user or
 * er_probe_kernel counts it and sends the thread, its stacks and some arguments. These programs are
 * an object of their own, which is loaded only if there are probes.
 *
 * The link's cookie is the number of the site. A site belongs to a probe and says where the
 * arguments are. A hit counts if the thread is recorded and the probe's comparisons are true; an
 * argument that cannot be read, because its page is not in memory, makes them false. In a record it
 * is 0. Both are counted.
 *
 * A hit that finds no area to walk its stack in (area.bpf.h) is counted, and its record is lost. Counts
 * are added to atomically, because the program can be preempted.
 */
#include "bpf/vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/area.bpf.h"
#include "bpf/cost.bpf.h"
#include "bpf/place.bpf.h"
#include "bpf/sample.bpf.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct er_probe_site);
} er_probe_sites SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, ER_MAX_PROBES);
	__type(key, __u32);
	__type(value, struct er_probe_rule);
} er_probe_rules SEC(".maps");

/* By CPU id. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct er_probe_cpu);
} er_probe_cpus SEC(".maps");

bool er_probing; /* false before the start, in pauses, and after the stop */

static __always_inline const struct er_probe_site *site_of(void *ctx)
{
	__u32 cookie = bpf_get_attach_cookie(ctx);

	return bpf_map_lookup_elem(&er_probe_sites, &cookie);
}

static __always_inline const struct er_probe_rule *rule_of(const struct er_probe_site *site)
{
	__u32 probe = site->probe;

	return bpf_map_lookup_elem(&er_probe_rules, &probe);
}

static __always_inline struct er_probe_cpu *this_probe_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&er_probe_cpus, &cpu);
}

/* An argument could not be read. */
static __noinline int count_unread(__u32 probe)
{
	struct er_probe_cpu *pc = this_probe_cpu();

	if (pc && probe < ER_MAX_PROBES)
		__sync_fetch_and_add(&pc->unread[probe], 1);
	return 0;
}

static __always_inline bool passes(const void *ctx, const struct er_probe_site *site,
				   const struct er_probe_rule *rule)
{
	for (__u32 i = 0; i < ER_PROBE_TESTS; i++) {
		const struct er_test *t = &rule->tests[i];
		const struct er_place *p = &site->places[t->value & (ER_PROBE_VALUES - 1)];
		__u64 value;

		if (i >= rule->ntests)
			break;
		if (!place_read(ctx, p, &value)) {
			count_unread(site->probe);
			return false;
		}
		if (!test_passes(value, p->is_signed, t))
			return false;
	}
	return true;
}

/* Whether the place is hit. See er_probe_site. */
static __noinline bool is_hit(void *ctx)
{
	const struct er_probe_site *site = site_of(ctx);
	__u64 ip = 0;

	if (!site)
		return false;
	if (site->jump.kind != ER_PLACE_NONE)
		bpf_probe_read_kernel(&ip, sizeof(ip), ctx + __builtin_offsetof(struct pt_regs, ip));
	return place_leaves(ctx, ip, &site->jump, site->low, site->high);
}

/* Bounded directly before its use: on 6.1 the verifier loses the bound when the value is spilled. */
static __always_inline void count_hit(struct er_probe_cpu *pc, __u32 probe)
{
	barrier_var(probe);
	if (probe < ER_MAX_PROBES)
		__sync_fetch_and_add(&pc->hits[probe], 1);
}

/*
 * Count the hit if it counts. Returns whether it is to be recorded. This and send_hit are functions
 * of their own, and look things up again, so that the caller has little on its stack during the
 * walk: kernels before 6.10 allow 512 bytes for all of them.
 */
static __noinline bool take_hit(void *ctx)
{
	struct er_probe_cpu *pc = this_probe_cpu();
	const struct er_probe_site *site = site_of(ctx);
	const struct er_probe_rule *rule = site ? rule_of(site) : NULL;

	if (!pc || !rule || !passes(ctx, site, rule))
		return false;
	count_hit(pc, site->probe);
	return !rule->counts_only;
}

/* Reserve an area for stacks. Returns its number; -1: all are in use. */
static __noinline int claim_area(void)
{
	struct er_probe_cpu *pc = this_probe_cpu();

	return pc ? area_claim(&pc->busy) : -1;
}

static __always_inline void release_area(int area)
{
	struct er_probe_cpu *pc = this_probe_cpu();

	if (pc)
		area_release(&pc->busy, area);
}

/* sm->ring NULL: the record is lost. */
static __noinline int send_hit(void *ctx, const struct sample *sm, __u64 stack)
{
	__u32 seq = er_number(sm->cpu, ER_KIND_PROBE);
	const struct er_probe_site *site = site_of(ctx);
	const struct er_probe_rule *rule = site ? rule_of(site) : NULL;
	struct er_probe *r = NULL;

	if (sm->ring && rule)
		r = bpf_ringbuf_reserve(sm->ring, sizeof(*r), 0);
	if (!r) {
		er_lost(sm->cpu, ER_KIND_PROBE, sm->now, sm->tgid, sm->tid);
		return 0;
	}
	sample_fill(&r->at, sm, ER_KIND_PROBE, seq, stack, 1);
	r->probe = site->probe;
	r->pad = 0;
	for (__u32 i = 0; i < ER_PROBE_VALUES; i++) {
		__u64 value = 0;

		if (i < rule->nvalues && !place_read(ctx, &site->places[i], &value))
			count_unread(site->probe);
		r->values[i] = value;
	}
	bpf_ringbuf_submit(r, er_wakeup(sm->ring));
	return 0;
}

static __always_inline void hit(void *ctx, bool user, struct er_cpu *c)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct sample sm;
	__u64 stack = 0;
	int area;

	if (!thread_wanted(p) || thread_is_copy(p) || (user && !is_hit(ctx)) || !take_hit(ctx))
		return;
	gather(&sm);
	sm.cpu = c;
	sm.ring = er_this_ring();
	sm.flags = user ? ER_CLOCK_USER : er_sample_flags(0);
	area = claim_area();
	if (area >= 0) {
		stack = sample_stack(ctx, &sm, area, false);
		release_area(area);
	} else {
		sm.ring = NULL;
	}
	send_hit(ctx, &sm, stack);
}

static __always_inline void measured_hit(void *ctx, bool user)
{
	struct er_cpu *c = er_this_cpu();
	__u64 began;

	if (!c || !er_probing)
		return;
	began = cost_begin(c, ER_PROG_PROBE);
	hit(ctx, user, c);
	c = er_this_cpu(); /* not kept during the walk: see take_hit */
	if (c)
		cost_end(c, ER_PROG_PROBE, began);
}

SEC("uprobe")
int er_probe_user(struct pt_regs *ctx)
{
	measured_hit(ctx, true);
	return 0;
}

SEC("tp")
int er_probe_kernel(void *ctx)
{
	measured_hit(ctx, false);
	return 0;
}
