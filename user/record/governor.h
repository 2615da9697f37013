/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Implements --budget. It compares the cost of recording with the CPU time of all CPUs. While the
 * cost is above the budget it sheds one thing after the other: waker stacks, then user stacks of
 * waits, then the stacks of short waits, never totals. When the cost has been below half of the
 * budget for a while it restores them, one at a time. The caller supplies the figures.
 */
#ifndef USER_RECORD_GOVERNOR_H
#define USER_RECORD_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/buf.h"
#include "analysis/base/vec.h"
#include "loaders/capture.h"

/* The level of shedding changed to `level` at this time. */
struct shed_change {
	uint64_t time_ns;
	enum capture_shedding level;
	double cost; /* the cost that caused it, a share of all CPU time */
};

struct governor {
	double budget; /* a share of all CPU time; 0: the governor does nothing */
	unsigned ncpus;
	enum capture_shedding level;
	uint64_t last_ns, last_cost_ns;
	unsigned quiet; /* checks in a row with a cost below half of the budget */
	VEC(struct shed_change) changes;
};

void governor_init(struct governor *g, double budget, unsigned ncpus);
void governor_free(struct governor *g);
/*
 * Check the cost; call it about once a second. cost_ns is the whole cost of the recording so far.
 * True if the level has changed.
 */
bool governor_look(struct governor *g, uint64_t time_ns, uint64_t cost_ns);
/* What is left out at this level: "waker stacks"; "nothing". */
const char *governor_left_out(enum capture_shedding level);
/* Write the elements <budget> and <shed> of recorder.xml; times are relative to start_ns. */
void governor_write(const struct governor *g, uint64_t start_ns, struct buf *b);

#endif
