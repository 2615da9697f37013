/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is changed about the capture while it runs: the distance of the sample
 * points (pace.h) and, with a budget, what is shed (governor.h).
 */
#ifndef KERNEL_ER_STEER_H
#define KERNEL_ER_STEER_H

#include <stdint.h>

#include "kernel_er/governor.h"
#include "kernel_er/pace.h"
#include "kernel_er/plan.h"
#include "loaders/capture.h"

struct steer {
	struct capture *capture; /* borrowed; NULL: nothing to steer */
	struct governor governor;
	struct pace pace;
	uint64_t trace_ns;       /* as in a capture_plan: -s on is a number by now */
	uint64_t looked_ns;
};

/* The distance of the sample points that the plan asks for; 0: it records no waits. */
uint64_t steer_distance(const struct plan *plan);
/* Before the capture is opened; then set `capture`. */
void steer_init(struct steer *s, const struct plan *plan);
void steer_fini(struct steer *s);
/* Look, as often as one likes; `waits` were chosen so far, those that found no room among them. */
void steer_look(struct steer *s, uint64_t time_ns, uint64_t waits);

#endif
