/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/pace.h"

enum {
	/*
	 * Chosen waits per second and CPU: five times as many as clock samples at the default rate.
	 * Twice as many would reduce the error of a sum by a third, and cost a third of all bytes.
	 */
	MANY = 500,
	FEW = MANY / 4,   /* even twice as many is below MANY */
	WIDEST = 64,      /* largest multiple of the distance that was asked for */
};

#define SECOND_NS 1000000000ULL
#define LOOK_NS   200000000ULL /* a rate over a shorter time is too inaccurate */

void pace_init(struct pace *p, uint64_t base_ns, unsigned ncpus)
{
	*p = (struct pace){ .base_ns = base_ns, .distance_ns = base_ns, .ncpus = ncpus ? ncpus : 1,
			    .widest_ns = base_ns };
}

bool pace_look(struct pace *p, uint64_t time_ns, uint64_t waits)
{
	uint64_t elapsed = time_ns - p->last_ns, came = waits - p->last_waits, rate, was;

	if (!p->base_ns || (p->last_ns && elapsed < LOOK_NS))
		return false;
	was = p->last_ns ? p->distance_ns : 0;
	p->last_ns = time_ns;
	p->last_waits = waits;
	if (!was)
		return false;
	rate = came * SECOND_NS / elapsed / p->ncpus;
	if (rate > MANY && p->distance_ns < p->base_ns * WIDEST)
		p->distance_ns *= 2;
	else if (rate < FEW && p->distance_ns > p->base_ns)
		p->distance_ns /= 2;
	if (p->distance_ns > p->widest_ns)
		p->widest_ns = p->distance_ns;
	return p->distance_ns != was;
}
