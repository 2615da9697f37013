/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * snapshots.xml: the exact states of threads between two usage samples. The file may be large, so
 * it is read only when a range of time is asked for, and only that range is kept.
 */
#ifndef EXPERIMENT_EXP_SNAPSHOTS_H
#define EXPERIMENT_EXP_SNAPSHOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/vec.h"
#include "analysis/experiment/mstate.h"

struct experiment;

/*
 * The time of a thread within the range. A TID that came again has another element, and so has a
 * thread after a pause. run_ns and all off_ns are its time in the range.
 */
struct exp_span_of_thread {
	int64_t pid, tid; /* pid 0: a kernel thread */
	int64_t last_ns;  /* a time at which it was this thread, from the experiment's start */
	int64_t run_ns, user_ns, system_ns, stolen_ns;
	int64_t off_ns[MS_COUNT];
};

struct exp_range {
	int64_t from_ns, to_ns; /* usage samples, or the begin or end of the experiment */
	int64_t took_ns;	/* the states of a thread are at most so much later than its ends */
	int64_t vague_ns;	/* time that could not be told to be inside or outside */
	VEC(struct exp_span_of_thread) threads; /* with time in the range */
};

/*
 * What all threads of a founder did between the usage samples that are nearest to from_ns and
 * to_ns; from_ns < to_ns. False: the recording has no such file, or both ends have the same nearest
 * sample. Faults are reported to the experiment's diag. Free with exp_range_free.
 */
bool exp_range_read(struct experiment *e, int64_t from_ns, int64_t to_ns, struct exp_range *ret);
void exp_range_free(struct exp_range *r);

/* run_ns plus all off_ns. */
int64_t exp_span_of_thread_sum(const struct exp_span_of_thread *th);

#endif
