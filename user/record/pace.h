/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far apart the sample points on times off the CPU are. Waits are chosen in
 * proportion to their length, so a busy system of many threads, each waiting all
 * the time, has as many points a second as it has threads: beyond what says
 * anything new. Then the points are set further apart, and each stands for more;
 * when there is less to record they come together again.
 */
#ifndef USER_RECORD_PACE_H
#define USER_RECORD_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct pace {
	uint64_t base_ns, distance_ns; /* as asked for, and as it is; 0: does nothing */
	unsigned ncpus;
	uint64_t last_ns, last_waits;
	uint64_t widest_ns;            /* that it ever was */
};

void pace_init(struct pace *p, uint64_t base_ns, unsigned ncpus);
/* Look: so many waits were chosen so far. True when the distance has changed. */
bool pace_look(struct pace *p, uint64_t time_ns, uint64_t waits);

#endif
