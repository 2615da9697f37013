/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Clock samples and counters of a recorder without privileges, from plain perf events of a process
 * (loaders/task_perf.h). They become the ring records that BPF sends otherwise, so everything behind
 * the drain is the same. User stacks are raw: user space walks them.
 *
 * CPU time is the kernel's own count for each thread, read from /proc; samples only say where the time
 * in user mode went: all samples between two readings get equal parts of it. Time in the kernel has no
 * stack. When a thread has ended there is nothing to read. What it used since the last reading is then
 * what the events counted in addition, at most the time that has passed.
 */
#ifndef USER_RECORD_TASK_EVENTS_H
#define USER_RECORD_TASK_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/types.h>

#include "user/counters/counters.h"

struct capture;
struct drain;
struct drops;
struct procmap;
struct task_events;
struct task_perf;

/* Everything here is borrowed and must outlive the events. */
struct task_parts {
	struct drain *drain;
	struct capture *capture; /* no_bpf: the records are counted there */
	struct procmap *procmap;
	struct task_perf *perf;
	struct drops *drops;
	pid_t pid;               /* of the process that is recorded */
	uint64_t interval_ns;    /* 0: no clock */
	const counter_list *counters;
	bool descend;
};

/* It is paused at first. The procmap has seen the process. */
struct task_events *task_events_new(const struct task_parts *parts);
void task_events_free(struct task_events *te); /* NULL: nothing */
/* While paused, nothing is recorded; time in a pause is in no later record. */
void task_events_pause(struct task_events *te, bool paused);
/* Bring the procmap up to date and hand what the rings have to the drain; with `last` all time that is left. */
void task_events_take(struct task_events *te, bool last);
/* Threads that were seen and have not ended. */
unsigned task_events_living(struct task_events *te);

#endif
