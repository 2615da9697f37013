/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each thread did at what time, as far as packets tell. A wait extends from its
 * beginning to its end. A clock sample extends back by the CPU time it represents.
 * Nothing is known about the time between, and the two overlap if a thread alternated
 * between running and sleeping.
 */
#ifndef METRICS_TIMELINE_H
#define METRICS_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/map.h"
#include "analysis/base/vec.h"

struct experiment;
struct hit;

/* There may be millions, so fields have the width that er_kernel records. */
struct activity {
	int64_t begin, end;    /* nanoseconds since the origin's start */
	int64_t weight;        /* nanoseconds that the packet represents */
	uint32_t stack;        /* resolved */
	uint32_t waker_stack;  /* resolved, if it was asked for; of a wait that a thread ended */
	uint8_t state, reason; /* enum er_mstate, er_reason */
	uint16_t flags;        /* as hit_wait_flags */
	uint32_t waker, waker_pid, holder, holder_pid; /* 0 none */
	int32_t cpu;           /* on which it ended; -1 unknown */
};

struct timeline {
	const struct experiment *origin;
	int64_t pid, tid;
	VEC(struct activity) acts; /* sorted by end, after timelines_sort */
	size_t last;               /* what timeline_after found last */
};

struct timelines {
	bool waker_stacks;    /* ask for them: finding them takes long */
	bool rests;           /* keep remainders, too: they have a time, but no place */
	struct map by_thread; /* origin's id << 32 | tid, or a hash of hit_sums; to index + 1 */
	VEC(struct timeline) threads;
};

/* The activity in a clock packet. */
struct activity activity_of(const struct hit *h, bool waker_stack);
void timelines_add(struct timelines *tl, const struct hit *h);
/* Call after all activities were added. */
void timelines_sort(struct timelines *tl);
/* Then make the parts of a divided wait one activity. As it may overlap others, timeline_after is of no more use. */
void timelines_join(struct timelines *tl);
void timelines_free(struct timelines *tl);
/* The activities of a thread; NULL: none were recorded. */
struct timeline *timeline_of(const struct timelines *tl, const struct experiment *origin, int64_t tid);
/* The index of the first activity that ends after a time. It is found fastest if times ascend from call to call. */
size_t timeline_after(struct timeline *t, int64_t time);

#endif
