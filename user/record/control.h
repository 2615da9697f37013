/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adjusts the capture while it runs: the distance between sample points (pace.h) and, if there
 * is a budget, what the capture leaves out to save cost (governor.h).
 */
#ifndef USER_RECORD_CONTROL_H
#define USER_RECORD_CONTROL_H

#include <stdint.h>

#include "user/record/governor.h"
#include "user/record/pace.h"
#include "user/record/plan.h"
#include "loaders/capture.h"

struct control {
	struct capture *capture; /* borrowed; NULL: nothing to adjust */
	struct governor governor;
	struct pace pace;
	uint64_t trace_ns;       /* as in a capture_plan; -s on has become a number */
	uint64_t looked_ns;
};

/* The distance between sample points that the plan asks for, in ns; 0: it records no waits. */
uint64_t control_distance(const struct plan *plan);
/* Call before the capture is opened, and set `capture` afterwards. */
void control_init(struct control *s, const struct plan *plan);
void control_fini(struct control *s);
/*
 * The cost of the recording so far in ns of CPU time: of this process and, once `capture` is set,
 * of the BPF programs.
 */
uint64_t control_cost(const struct control *s);
/* May be called at any rate. `waits` counts the waits chosen so far, lost ones included. */
void control_adjust(struct control *s, uint64_t time_ns, uint64_t waits);

#endif
