/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures the cost of our programs: one run in ER_COST_EVERY reads the clock at its begin and its
 * end. The kernel can measure this too (kernel.bpf_stats_enabled), but that needs a capability and
 * slows down every BPF program of the system.
 */
#ifndef COST_BPF_H
#define COST_BPF_H

#include "bpf/er.bpf.h"

/* The time when this run began, or 0 if it is not measured. */
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
