/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Microstates: the states a thread can be in. The table has one row a state with all
 * its names; files, metrics, columns and messages take them from here.
 */
#ifndef EXPERIMENT_MSTATE_H
#define EXPERIMENT_MSTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exp_usage;

/* Field MSTATE of clock packets. The values are on disk. */
enum er_mstate {
	MS_USER = 0,
	MS_SYSTEM = 1,
	MS_TRAP = 2,
	MS_TFAULT = 3,
	MS_DFAULT = 4,
	MS_KFAULT = 5,
	MS_USER_LOCK = 6,
	MS_SLEEP = 7,
	MS_WAIT_CPU = 8,
	MS_STOPPED = 9,
	MS_LINUX_CPU = 10,
	MS_KERNEL_CPU = 11,
	MS_COUNT
};

/* profile/@numstates: a code for the set of states that a recorder distinguishes. */
enum er_stateset {
	STATES_LINUX = 1,  /* gprofng collect: LINUX_CPU */
	STATES_USER = 2,   /* followed processes of er_kernel: USER SYSTEM KERNEL_CPU */
	STATES_KERNEL = 3, /* the founder of er_kernel: KERNEL_CPU */
	STATES_ALL = 10,   /* the ten states of Solaris */
};

/* A name is NULL if the state does not have one. */
struct mstate_desc {
	enum er_mstate state;
	bool on_cpu;
	const char *name;     /* "USER_LOCK": in filters */
	const char *uname;    /* "User Lock": in reports; short name of the metric */
	const char *title[2]; /* column heading, in two lines */
	char letter;          /* in bars; 0: drawn as another state */
	const char *metric, *metric_alias; /* "lock", "ulock" */
	const char *metric_uname;          /* "User Lock Time" */
	/*
	 * Attributes in threads.xml: the state's time, and its number of waits. `attr`
	 * also names its time in usage/@uncounted of recorder.xml.
	 */
	const char *attr, *count_attr;
	const char *unsampled; /* pseudo function for time that no sampled stack covers */
	const char *rest;      /* the same time as a reason of waits */
	const char *span;      /* field of span packets with the state's time */
	size_t usage;          /* offset of its time in struct exp_usage; 0: none */
};

extern const struct mstate_desc mstate_descs[MS_COUNT]; /* by state */

/* The time of a state in a usage record, in nanoseconds. desc->usage must not be 0. */
uint64_t *mstate_usage(struct exp_usage *u, const struct mstate_desc *desc);

#endif
