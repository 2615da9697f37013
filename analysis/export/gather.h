/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds up the packets that pass the filter by stack, and by what else an exporter distinguishes:
 * state, reason, CPU, process or thread. For formats that have no times of single events.
 */
#ifndef EXPORT_GATHER_H
#define EXPORT_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/intern.h"
#include "analysis/base/vec.h"

struct experiment;
struct export;
struct timelines;

enum gather_by {
	BY_STATE = 1 << 0,
	BY_REASON = 1 << 1,
	BY_CPU = 1 << 2,
	BY_PROCESS = 1 << 3,
	BY_THREAD = 1 << 4, /* and by the thread's name at that time */
};

/* A value that is not distinguished, or that the packet lacks, is 0; cpu and state are then -1. */
struct bucket_key {
	const struct experiment *origin; /* NULL if processes are not distinguished */
	const char *comm;                 /* interned by the session; NULL: unknown */
	int64_t pid, tid;                 /* pid 0: a kernel thread, which always has its tid */
	uint32_t stack;                   /* in session.stacks */
	int32_t cpu, state;               /* enum er_mstate */
	int32_t reason;                   /* enum er_reason; -1: on a CPU */
};

struct bucket {
	struct bucket_key key;
	int64_t samples;       /* clock packets, except remainders */
	int64_t on_ns, off_ns; /* time on and off a CPU */
	int64_t value;         /* of the chosen metric, in its unit */
};

struct gathered {
	unsigned by;
	VEC(struct bucket) buckets; /* in the order of their first packets */
	struct intern ids;
};

/*
 * Go over the packets. Buckets in which everything is 0 are left out. Returns 0. Returns -1 after a
 * report that nothing passes the filter; or without a report if the user interrupted.
 */
int gather(const struct export *x, unsigned by, struct gathered *ret);
void gathered_free(struct gathered *g);
/*
 * The same for the activities of each thread, and with `rests` its remainders. Release with timelines_free, also
 * after a failure.
 */
int gather_timelines(const struct export *x, bool rests, struct timelines *ret);

#endif
