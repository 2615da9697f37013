/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threshold of -s on: waits of this length or longer are traced. Sun's collector used six
 * times the cost of an uncontended call of the thread library. We trace waits, and the shortest
 * wait is a switch to another thread and back. The threshold is six times that cost, measured
 * on this machine when the recording starts.
 */
#ifndef USER_RECORD_CALIBRATE_H
#define USER_RECORD_CALIBRATE_H

#include <stdint.h>

/* Returns ns. Takes some milliseconds. Returns a plausible constant if measuring fails. */
uint64_t calibrate_threshold(void);
/* Returns the threshold for a measured cost, both in ns. A cost of 0 means: not measured. */
uint64_t calibrate_threshold_of(uint64_t cost_ns);

#endif
