/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recorder.xml in the founder: what the recording produced, lost, left out and
 * cost. Rewritten as a whole about once a second and at the end, so that a
 * killed recorder leaves one that is a second old and says state="running".
 */
#ifndef KERNEL_ER_ACCOUNT_H
#define KERNEL_ER_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/buf.h"
#include "kernel_er/drain.h"
#include "kernel_er/drops.h"
#include "kernel_er/ksymtab.h"
#include "kernel_er/plan.h"
#include "kernel_er/steer.h"
#include "loaders/capture.h"

struct account {
	const struct plan *plan;
	const struct capture *capture; /* NULL: nothing is profiled */
	const struct drain *drain;     /* NULL likewise */
	const struct drops *drops;
	const struct steer *steer;
	const struct ksymtab *ksyms;   /* NULL: no kernel symbols */
	uint64_t start_ns, start_asleep_ns;
	uint64_t began_ns, stop_ns; /* when time began to count, and ceased to; 0: not yet */
	bool closed;
};

/* How long the machine has been suspended since it was booted. */
uint64_t account_asleep_ns(void);

/* The text of recorder.xml. */
void account_write(const struct account *a, struct buf *ret);

/* What the capture has counted of the whole system, into a usage sample. */
void account_usage(const struct account *a, struct exp_usage *u);

struct account_totals {
	uint64_t produced, recorded, lost; /* clock records, residuals with them */
	uint64_t stacks_lost;
	uint64_t waits, waits_lost; /* recorded, lost */
	uint64_t overflows, overflows_lost; /* of counters; recorded, lost */
	bool states, counters;      /* waits, overflows are recorded at all */
};

void account_totals(const struct account *a, struct account_totals *ret);

#endif
