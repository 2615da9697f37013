/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exact states of all threads between two usage samples, from snapshots.xml. */
#ifndef EXPERIMENT_EXP_RANGE_H
#define EXPERIMENT_EXP_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/vec.h"
#include "analysis/experiment/exp_snapshots.h"

struct experiment;

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

#endif
