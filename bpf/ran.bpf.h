/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which thread had the CPU that another one waited for. Several may have had it during one wait. The one
 * that had it last is most often a thread that runs for microseconds: the scheduler prefers such threads,
 * so that they run just before a long wait is over. So each CPU keeps the threads that had it last, and a wait
 * names the one that had it at a moment of the wait that is chosen at random. Over many waits each thread is
 * named for the share of the time in which it ran.
 *
 * A wait that is longer than the last ER_RANS turns names the oldest of these. One whose thread was moved from
 * the queue of another CPU names a thread of the CPU that it got.
 */
#ifndef RAN_BPF_H
#define RAN_BPF_H

#include "bpf/er_event.h"
#include "bpf/points.bpf.h"

/* At each switch: `p` leaves the CPU. */
static __always_inline void ran_note(struct er_cpu *c, const struct task_struct *p, __u64 clk)
{
	struct er_ran *r = &c->ran[c->nran++ & (ER_RANS - 1)];

	r->until = clk;
	r->tgid = p->tgid;
	r->tid = p->pid;
}

/* A moment of a wait: how many ns before its end. */
static __always_inline __u64 ran_moment(__u64 length)
{
	__u32 most = -1;

	return length < most ? points_random(length) : points_random(most);
}

/* The thread that had the CPU at this time, or the oldest one that is known. */
static __always_inline struct er_ran ran_at(const struct er_cpu *c, __u64 clk)
{
	__u32 last = c->nran - 1, i;

	for (i = 0; i + 1 < ER_RANS; i++) {
		if (c->ran[(last - i - 1) & (ER_RANS - 1)].until <= clk)
			break;
	}
	return c->ran[(last - i) & (ER_RANS - 1)];
}

#endif
