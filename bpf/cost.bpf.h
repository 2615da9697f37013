/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What our programs cost, by their own account: one run in ER_COST_EVERY reads
 * the clock at its begin and end. The kernel's account (kernel.bpf_stats_enabled)
 * needs a capability and slows down every BPF program of the system.
 */
#ifndef COST_BPF_H
#define COST_BPF_H

#include "bpf/er.bpf.h"

/* When this run began, or 0 when it is not measured. */
static __always_inline __u64 cost_begin(struct er_cpu *c, enum er_prog prog)
{
	struct er_cost *cost = &c->costs[prog];

	if (++cost->past < ER_COST_EVERY)
		return 0;
	cost->past = 0;
	return bpf_ktime_get_ns();
}

static __always_inline void cost_end(struct er_cpu *c, enum er_prog prog, __u64 began)
{
	struct er_cost *cost = &c->costs[prog];

	if (!began)
		return;
	cost->ns += bpf_ktime_get_ns() - began;
	cost->measured++;
}

#endif
