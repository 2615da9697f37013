/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One recorded wait, and the texts about it: its thread, its stack, and what ended it. */
#ifndef VIEWS_SINGLEWAIT_H
#define VIEWS_SINGLEWAIT_H

#include "analysis/experiment/mstate.h"
#include "analysis/views/waitrows.h"

/* What a row needs to know of a wait. Packets are read once, and most are not shown. */
struct single_wait {
	int64_t length_ns, end_ns; /* end since the origin's start */
	const struct experiment *e;
	int64_t pid, tid;
	enum er_mstate state;
	const char *reason;
	bool early;       /* it began before the recording, or in a segment that is not open */
	const char *end;  /* what ended it, if not a thread; otherwise NULL */
	int64_t other_pid, other; /* the thread that ended it or had the CPU; 0: none */
	uint32_t stack, waker_stack;
};

/* The hit is a wait. */
struct single_wait single_wait_of(const struct hit *h);
/* The thread that waited. Both texts live as long as the table. */
const char *single_wait_thread(struct wait_report *w, const struct single_wait *lw);
/* "futex_wait < lock < work; ended by app, PID 12: unlock < work" */
const char *single_wait_where(struct wait_report *w, const struct single_wait *lw);

#endif
