/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is changed about the capture while it runs: the distance of the sample
 * points (pace.h) and, with a budget, what is shed (governor.h).
 */
#ifndef USER_RECORD_STEER_H
#define USER_RECORD_STEER_H

#include <stdint.h>

#include "user/record/governor.h"
#include "user/record/pace.h"
#include "user/record/plan.h"
#include "loaders/capture.h"

struct control {
	struct capture *capture; /* borrowed; NULL: nothing to steer */
	struct governor governor;
	struct pace pace;
	uint64_t trace_ns;       /* as in a capture_plan: -s on is a number by now */
	uint64_t looked_ns;
};

/* The distance of the sample points that the plan asks for; 0: it records no waits. */
uint64_t control_distance(const struct plan *plan);
/* Before the capture is opened; then set `capture`. */
void control_init(struct control *s, const struct plan *plan);
void control_fini(struct control *s);
/* Look, as often as one likes; `waits` were chosen so far, those that found no room among them. */
void control_adjust(struct control *s, uint64_t time_ns, uint64_t waits);

#endif
