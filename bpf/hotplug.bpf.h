/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPUs that come and go. Each object that has perf events includes it; one of them is attached. */
#ifndef HOTPLUG_BPF_H
#define HOTPLUG_BPF_H

#include "bpf/er.bpf.h"

const volatile __u32 er_perf_step; /* where a CPU that comes or goes begins or ceases to have events */

/*
 * A CPU comes or goes, and with it its perf events: the loader opens them anew, and
 * is woken so as to be there before other threads are.
 */
SEC("raw_tp/cpuhp_exit")
int BPF_PROG(er_cpuhp, __u32 cpu, int state, __u32 step)
{
	struct er_cpu *c = bpf_map_lookup_elem(&er_cpus, &cpu);
	void *ring = er_this_ring(), *wake;

	if (!c || step != er_perf_step)
		return 0;
	c->tick_ns = 0; /* what an idle CPU was away is not idle time */
	__sync_fetch_and_add(&c->counts.hotplugs, 1);
	wake = ring ? bpf_ringbuf_reserve(ring, sizeof(__u64), 0) : NULL;
	if (wake)
		bpf_ringbuf_discard(wake, BPF_RB_FORCE_WAKEUP);
	return 0;
}

#endif
