/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the kernel's description of the units that count events, in sysfs. Each unit is a
 * directory. It has the unit's `type`, named events such as "event=0x3c,umask=0x01", and for each
 * term in them its bits in perf_event_attr, such as "config:0-7,21".
 */
#ifndef USER_PMU_H
#define USER_PMU_H

#include "loaders/capture.h"

/* Why an event was not found. PMU_OK is 0. */
enum pmu_status {
	PMU_OK,
	PMU_NO_UNIT,  /* no such directory */
	PMU_NO_EVENT, /* the unit has no event of that name */
	PMU_NO_TERM,  /* the unit has no such term */
	PMU_BAD,      /* the kernel's description cannot be understood, or the event needs values */
};

/*
 * Set type and config of `c` to a unit's event. With unit NULL all units are searched; if several
 * have the event the CPUs' unit is used, or else the first by name.
 */
enum pmu_status pmu_event(const char *units, const char *unit, const char *event,
			  struct capture_counter *c);
/* Put a term's value into config; unit NULL: the CPUs' unit. */
enum pmu_status pmu_term(const char *units, const char *unit, const char *term, uint64_t value,
			 struct capture_counter *c);
/* Call fn for each event of each unit, in the order of names. */
void pmu_events(const char *units, void (*fn)(void *ctx, const char *unit, const char *event),
		void *ctx);

#endif
