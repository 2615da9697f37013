/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What held a thread up: it could have gone on with its work, but it lacked a CPU, a lock, or
 * data from a disk. A thread that waits for a message, a timer or more work is not held up.
 */
#ifndef METRICS_HOLDUP_H
#define METRICS_HOLDUP_H

#include <stdbool.h>
#include <stdint.h>

enum holdup {
	HOLDUP_NONE,
	HOLDUP_CPU,         /* another thread had the CPU */
	HOLDUP_QUOTA,       /* its cgroup had used up its CPU time */
	HOLDUP_STOLEN,      /* the hypervisor or interrupts took the CPU */
	HOLDUP_LOCK,        /* a lock of the program; see wait_path_locks */
	HOLDUP_KERNEL_LOCK,
	HOLDUP_FILE_LOCK,
	HOLDUP_DISK,
	HOLDUP_FAULT,       /* a page that had to be read in */
	HOLDUP_MEMORY,      /* memory that had to be reclaimed */
	HOLDUPS
};

/*
 * What held a thread up in a state (enum er_mstate) for a reason (enum er_reason). HOLDUP_LOCK
 * means any wait in state USER_LOCK; only the stack tells a lock from a condition variable.
 */
enum holdup holdup_of(int64_t state, int64_t reason);
/* The filter expression that selects these waits; NULL for HOLDUP_NONE. */
const char *holdup_filter(enum holdup holdup);

#endif
