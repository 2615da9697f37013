/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --budget: watches what recording costs against all the CPU time that there
 * is. When it is above the budget one thing more is shed: waker stacks, then user
 * stacks of waits, then the stacks of short waits; never totals. What was shed is
 * given back, one by one, when the cost has been below half of the budget for a
 * while. Knows nothing of where the figures come from.
 */
#ifndef USER_RECORD_GOVERNOR_H
#define USER_RECORD_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/buf.h"
#include "analysis/base/vec.h"
#include "loaders/capture.h"

/* From then on this was shed. */
struct shed_change {
	uint64_t time_ns;
	enum capture_shedding level;
	double cost; /* that led to it, a share of all CPU time */
};

struct governor {
	double budget; /* a share of all CPU time; 0: does nothing */
	unsigned ncpus;
	enum capture_shedding level;
	uint64_t last_ns, last_cost_ns;
	unsigned quiet; /* looks in a row that found the cost below half of the budget */
	VEC(struct shed_change) changes;
};

void governor_init(struct governor *g, double budget, unsigned ncpus);
void governor_free(struct governor *g);
/*
 * Look: cost_ns is all that recording has cost so far. About once a second. True
 * when the level has changed.
 */
bool governor_look(struct governor *g, uint64_t time_ns, uint64_t cost_ns);
/* Elements <budget> and <shed> of recorder.xml, times relative to start_ns. */
void governor_write(const struct governor *g, uint64_t start_ns, struct buf *b);

#endif
