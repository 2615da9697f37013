/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When things are due in a recording. */
#ifndef USER_RECORD_SCHEDULE_H
#define USER_RECORD_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "user/record/plan.h"

enum due {
	DUE_BEGIN,   /* the capture, after a pause (-t) */
	DUE_LOAD,    /* the load, after its quiet period */
	DUE_SAMPLE,  /* a usage sample (-S) */
	DUE_RECORDER_XML, /* the recorder's account of itself */
	DUE_TICK,    /* records to disk */
	DUE_END,
	DUE_COUNT
};

/* Absolute times; UINT64_MAX: not, or not any more. */
struct schedule {
	uint64_t at[DUE_COUNT];
	uint64_t every[DUE_COUNT]; /* 0: once */
};

/* CLOCK_MONOTONIC. */
uint64_t now_ns(void);

void schedule_init(struct schedule *s, const struct plan *plan, uint64_t start_ns);
/* Is it due? Then it is not any more, or is the next time. */
bool schedule_due(struct schedule *s, enum due what, uint64_t t);
/* Not later than that. */
void schedule_end_by(struct schedule *s, uint64_t t);
/* For poll(2): until something is due. */
int schedule_wait_ms(const struct schedule *s, uint64_t t);

#endif
