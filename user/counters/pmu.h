/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Units that count events, as the kernel describes them in sysfs: each is a directory with
 * its `type`, named events ("event=0x3c,umask=0x01"), and for each term of these the bits that
 * it has in perf_event_attr ("config:0-7,21").
 */
#ifndef USER_PMU_H
#define USER_PMU_H

#include "loaders/capture.h"

/*
 * What keeps an event from being found. PMU_OK is 0.
 */
enum pmu_status {
	PMU_OK,
	PMU_NO_UNIT,  /* no such directory */
	PMU_NO_EVENT, /* the unit has no event of that name */
	PMU_NO_TERM,  /* the unit has no such term */
	PMU_BAD,      /* the kernel's description says what we do not understand, or wants values */
};

/*
 * Put the event of a unit into type and config of `c`. With unit NULL any unit's; of several
 * that have it, that of the CPUs, or else the first by name.
 */
enum pmu_status pmu_event(const char *units, const char *unit, const char *event,
			  struct capture_counter *c);
/* Put a term's value into config; unit NULL: of the CPUs. */
enum pmu_status pmu_term(const char *units, const char *unit, const char *term, uint64_t value,
			 struct capture_counter *c);
/* Call for each event of each unit, by name. */
void pmu_events(const char *units, void (*fn)(void *ctx, const char *unit, const char *event),
		void *ctx);

#endif
