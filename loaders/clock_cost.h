/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a tick of the sampling clock takes of a CPU, beside the work of taking the sample: some tens of
 * microseconds in a virtual machine. With a shorter interval a CPU would do nothing else, so that not even
 * the recorder could end the recording.
 */
#ifndef LOADERS_CLOCK_COST_H
#define LOADERS_CLOCK_COST_H

#include <stdint.h>

/* No machine needs longer for a tick and its sample: intervals from here on need no measurement. */
enum { CLOCK_COST_SAFE_NS = 200000 };

/* Measure it, for some tens of milliseconds. 0: it could not be measured. */
uint64_t clock_cost_ns(void);
/* The shortest interval at which ticks of this cost take half of a CPU at most, in whole microseconds. */
uint64_t clock_cost_least(uint64_t cost_ns);

#endif
