/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/pace.h"

enum {
	/*
	 * Chosen waits per second and CPU: five times as many as clock samples at the default rate.
	 * Twice as many would reduce the error of a sum by a third, and cost a third of all bytes.
	 */
	MANY = 500,
	LEAST = 50,       /* with a slow clock */
	LEAST_OLD = 25,   /* likewise, in an old recording */
	THIN = 4,         /* in an old recording fewer by this factor */
	FEWER = 4,        /* below 1/4 of the limit the rate may double: it stays below the limit */
	WIDEST = 128,     /* largest multiple of the distance that was asked for */
};

#define SECOND_NS 1000000000ULL
#define LOOK_NS   200000000ULL /* a rate over a shorter time is too inaccurate */
#define YOUNG_NS  (30 * SECOND_NS)
#define OLD_NS    (300 * SECOND_NS)
#define LIMIT_NS  (1ULL << 31) /* of er_distance */

static unsigned within(uint64_t rate, unsigned least)
{
	return rate > MANY ? MANY : rate < least ? least : rate;
}

void pace_init(struct pace *p, uint64_t base_ns, uint64_t interval_ns, unsigned ncpus, bool drops)
{
	uint64_t rate = interval_ns ? SECOND_NS / interval_ns : MANY;

	*p = (struct pace){ .base_ns = base_ns, .distance_ns = base_ns, .ncpus = ncpus ? ncpus : 1,
			    .many = within(rate, LEAST), .widest_ns = base_ns };
	p->few = drops ? p->many : within(rate / THIN, LEAST_OLD);
}

static unsigned limit_at(const struct pace *p, uint64_t time_ns)
{
	uint64_t age = time_ns - p->first_ns;

	return age < YOUNG_NS ? MANY : age < OLD_NS ? p->many : p->few;
}

static bool may_widen(const struct pace *p)
{
	return p->distance_ns < p->base_ns * WIDEST && p->distance_ns * 2 < LIMIT_NS;
}

bool pace_look(struct pace *p, uint64_t time_ns, uint64_t waits)
{
	uint64_t elapsed = time_ns - p->last_ns, came = waits - p->last_waits, rate, many, was;

	if (!p->base_ns || (p->last_ns && elapsed < LOOK_NS))
		return false;
	was = p->last_ns ? p->distance_ns : 0;
	p->last_ns = time_ns;
	p->last_waits = waits;
	if (!was) {
		p->first_ns = time_ns;
		return false;
	}
	many = limit_at(p, time_ns);
	rate = came * SECOND_NS / elapsed / p->ncpus;
	if (rate > many && may_widen(p))
		p->distance_ns *= 2;
	else if (rate < many / FEWER && p->distance_ns > p->base_ns)
		p->distance_ns /= 2;
	if (p->distance_ns > p->widest_ns)
		p->widest_ns = p->distance_ns;
	return p->distance_ns != was;
}
