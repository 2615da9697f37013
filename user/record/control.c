/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/control.h"

#include <sys/resource.h>
#include <unistd.h>

#include "user/record/calibrate.h"

#define GOVERNOR_NS 1000000000ULL

/*
 * Use the clock's interval, but not less than its default: many more threads wait than there are
 * CPUs, and the totals are exact at any distance.
 */
uint64_t control_distance(const struct plan *plan)
{
	if (!plan->capture.interval_ns || !plan->capture.states)
		return 0;
	return plan->capture.interval_ns > WAIT_INTERVAL_NS ? plan->capture.interval_ns : WAIT_INTERVAL_NS;
}

void control_init(struct control *s, const struct plan *plan)
{
	unsigned ncpus = sysconf(_SC_NPROCESSORS_ONLN);

	*s = (struct control){ .trace_ns = plan->capture.trace_ns };
	if (plan->capture.trace_ns == TRACE_CALIBRATED)
		s->trace_ns = calibrate_threshold();
	governor_init(&s->governor, plan->budget, ncpus);
	/* Traced waits are not chosen by sample points. */
	pace_init(&s->pace, plan->capture.trace_ns ? 0 : control_distance(plan),
		  plan->capture.interval_ns, ncpus, plan->flight_ns);
}

void control_fini(struct control *s)
{
	governor_free(&s->governor);
}

static uint64_t timeval_ns(const struct timeval *t)
{
	return t->tv_sec * 1000000000ULL + t->tv_usec * 1000;
}

uint64_t control_cost(const struct control *s)
{
	struct capture_cost rows[ER_PROG_COUNT];
	size_t n = s->capture ? capture_costs(s->capture, rows, ER_PROG_COUNT) : 0;
	struct rusage ru;
	uint64_t sum;

	getrusage(RUSAGE_SELF, &ru);
	sum = timeval_ns(&ru.ru_utime) + timeval_ns(&ru.ru_stime);
	for (size_t i = 0; i < n && i < ER_PROG_COUNT; i++)
		sum += rows[i].ns;
	return sum;
}

void control_adjust(struct control *s, uint64_t time_ns, uint64_t waits)
{
	if (!s->capture)
		return;
	if (pace_look(&s->pace, time_ns, waits))
		capture_set_distance(s->capture, s->pace.distance_ns);
	if (!s->governor.budget || time_ns - s->looked_ns < GOVERNOR_NS)
		return;
	s->looked_ns = time_ns;
	if (governor_look(&s->governor, time_ns, control_cost(s)))
		capture_set_shedding(s->capture, s->governor.level);
}
