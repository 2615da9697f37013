/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each thread did when, as far as packets tell: a wait stands from its
 * beginning to its end, a clock sample for the CPU time up to it. Between them
 * nothing is known, and where a thread ran and slept by turns the two overlap.
 */
#ifndef METRICS_TIMELINE_H
#define METRICS_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/map.h"
#include "analysis/base/vec.h"

struct experiment;
struct hit;

/* There may be millions of these: no wider than what er_kernel records. */
struct activity {
	int64_t begin, end;    /* nanoseconds from the start of the founder */
	int64_t weight;        /* nanoseconds it stands for */
	uint32_t stack;        /* resolved */
	uint32_t waker_stack;  /* of a wait that a thread ended; resolved */
	uint8_t state, reason; /* enum er_mstate, er_reason */
	uint16_t flags;        /* enum er_wflag */
	uint32_t waker, waker_pid, holder, holder_pid; /* 0 none */
};

struct timeline {
	const struct experiment *founder;
	int64_t pid, tid;
	VEC(struct activity) acts; /* by end, once sorted */
};

struct timelines {
	struct map by_thread; /* founder's id << 32 | tid: index + 1 */
	VEC(struct timeline) threads;
};

/* What a clock packet tells. */
struct activity activity_of(const struct hit *h);
void timelines_add(struct timelines *tl, const struct hit *h);
/* Once all are added. */
void timelines_sort(struct timelines *tl);
void timelines_free(struct timelines *tl);
/* Those of a thread, or NULL when it did nothing that was recorded. */
const struct timeline *timeline_of(const struct timelines *tl, const struct experiment *founder,
				   int64_t tid);
/* The first activity that ends after a time. */
size_t timeline_after(const struct timeline *t, int64_t time);

#endif
