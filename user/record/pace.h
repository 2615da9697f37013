/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adjusts the distance between sample points on time off the CPU. Each point of a thread's waiting
 * time chooses one wait, so the number of points a second grows with the number of waiting
 * threads, although more of them tell nothing new. When too many waits are chosen the distance
 * grows, and each chosen wait gets a larger weight. When few are chosen it shrinks again.
 *
 * How many are too many depends on the time since the first look. In the first half minute 500
 * waits a second and CPU may be chosen, because a short recording has only those. Later only as
 * many as the clock takes samples, between 50 and 500. After five minutes a quarter as many as the
 * clock, between 25 and 500, unless old data are dropped (a flight recorder): a long recording has
 * enough of them, and its size grows with them. Sums have twice the standard error then.
 */
#ifndef USER_RECORD_PACE_H
#define USER_RECORD_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct pace {
	uint64_t base_ns, distance_ns; /* asked for, and current; base 0: does nothing */
	unsigned ncpus;
	unsigned many, few;            /* waits a second and CPU, after half a minute and five minutes */
	uint64_t first_ns;             /* the first look */
	uint64_t last_ns, last_waits;
	uint64_t widest_ns;            /* the largest distance so far */
};

/* interval_ns: of the clock. `drops`: only the last minutes of the data are kept. */
void pace_init(struct pace *p, uint64_t base_ns, uint64_t interval_ns, unsigned ncpus, bool drops);
/* Check the rate. `waits` were chosen so far. True if the distance has changed. */
bool pace_look(struct pace *p, uint64_t time_ns, uint64_t waits);

#endif
