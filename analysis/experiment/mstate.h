/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Microstates, the states that a thread can be in, and all the names that each has: one row a
 * state. Files, metrics, columns and messages take them from here.
 */
#ifndef EXPERIMENT_MSTATE_H
#define EXPERIMENT_MSTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exp_usage;

/* The field MSTATE of clock packets; values are on disk. */
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

/* profile/@numstates is a magic number that says which states a recorder tells apart. */
enum er_stateset {
	STATES_LINUX = 1,  /* gprofng collect: LINUX_CPU */
	STATES_USER = 2,   /* er_kernel's followed processes: USER SYSTEM KERNEL_CPU */
	STATES_KERNEL = 3, /* er_kernel's founder: KERNEL_CPU */
	STATES_ALL = 10,   /* the ten of Solaris */
};

/* A name that a state does not have is NULL. */
struct mstate_desc {
	enum er_mstate state;
	bool on_cpu;
	const char *name;     /* "USER_LOCK": in filters */
	const char *uname;    /* "User Lock": for people, also as a metric's short name */
	const char *title[2]; /* the heading of a column, in two lines */
	char letter;          /* in bars; 0: shown as another state */
	const char *metric, *metric_alias; /* "lock", "ulock" */
	const char *metric_uname;          /* "User Lock Time" */
	/*
	 * Attributes of its time and of its waits in threads.xml; the first also names its time in
	 * usage/@uncounted of recorder.xml.
	 */
	const char *attr, *count_attr;
	const char *unsampled; /* the function of its time that no sampled stack covers */
	const char *rest;      /* the same time as a reason of waits */
	size_t usage;          /* its time in struct exp_usage; 0: it has none there */
};

extern const struct mstate_desc mstate_descs[MS_COUNT]; /* by state */

/* The time of a state that has some (desc->usage) in a usage record, nanoseconds. */
uint64_t *mstate_usage(struct exp_usage *u, const struct mstate_desc *desc);

#endif
