/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * -s on: from which length on a wait is worth tracing. Sun took six times what
 * an uncontended call of the thread library costs; what we trace are waits, and
 * the least that one takes is a switch to another thread and back. So it is six
 * times that, measured here and now.
 */
#ifndef USER_RECORD_CALIBRATE_H
#define USER_RECORD_CALIBRATE_H

#include <stdint.h>

/* In ns. Takes some milliseconds; a plausible constant where it cannot be measured. */
uint64_t calibrate_threshold(void);
/* The threshold for a measured cost, both in ns; cost 0: it could not be measured. */
uint64_t calibrate_threshold_of(uint64_t cost_ns);

#endif
