/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU hotplug. Each object with perf events includes this file; one of them is attached. */
#ifndef HOTPLUG_BPF_H
#define HOTPLUG_BPF_H

#include "bpf/er.bpf.h"

const volatile __u32 er_perf_step; /* the hotplug step at which a CPU's perf events begin or end */

/*
 * A CPU comes online or goes offline, and its perf events end. The loader opens them again. It is
 * woken at once, to do that before other threads run there.
 */
SEC("raw_tp/cpuhp_exit")
int BPF_PROG(er_cpuhp, __u32 cpu, int state, __u32 step)
{
	struct er_cpu *c = bpf_map_lookup_elem(&er_cpus, &cpu);
	void *ring = er_this_ring(), *wake;

	if (!c || step != er_perf_step)
		return 0;
	c->tick_ns = 0; /* time that an idle CPU was offline is not idle time */
	__sync_fetch_and_add(&c->counts.hotplugs, 1);
	wake = ring ? bpf_ringbuf_reserve(ring, sizeof(__u64), 0) : NULL;
	if (wake)
		bpf_ringbuf_discard(wake, BPF_RB_FORCE_WAKEUP);
	return 0;
}

#endif
