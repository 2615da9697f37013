/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The schedule of a recording: when each kind of work is due. */
#ifndef USER_RECORD_SCHEDULE_H
#define USER_RECORD_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "user/record/plan.h"

enum due {
	DUE_BEGIN,   /* the capture, after a pause (-t) */
	DUE_LOAD,    /* the load, after its quiet period */
	DUE_SAMPLE,  /* a usage sample (-S) */
	DUE_RECORDER_XML, /* rewriting recorder.xml */
	DUE_ROLL,    /* the next segment (--roll) */
	DUE_TICK,    /* records to disk */
	DUE_STATUS,  /* the status file (--status) */
	DUE_IDLE_FILES, /* closing files that are not written any more */
	DUE_END,
	DUE_COUNT
};

/*
 * Absolute times in ns of CLOCK_MONOTONIC; UINT64_MAX: never, or no longer. Some work is done less
 * often after ten seconds: its cost matters in a long recording, its age in a short one.
 */
struct schedule {
	uint64_t at[DUE_COUNT];
	uint64_t every[DUE_COUNT]; /* 0: once */
	uint64_t old[DUE_COUNT];   /* instead of `every` from old_ns on; 0: the same */
	uint64_t old_ns;
};

/* The time of CLOCK_MONOTONIC in ns. */
uint64_t now_ns(void);

void schedule_init(struct schedule *s, const struct plan *plan, uint64_t start_ns);
/* True if it is due at t; then its next time is set, or it is taken off the schedule. */
bool schedule_due(struct schedule *s, enum due what, uint64_t t);
/* It is not to be done any more. */
void schedule_cancel(struct schedule *s, enum due what);
/* It is due at t at the latest. */
void schedule_by(struct schedule *s, enum due what, uint64_t t);
/* The milliseconds from t until something is due, for poll(2). */
int schedule_wait_ms(const struct schedule *s, uint64_t t);

#endif
