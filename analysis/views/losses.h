/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a recording lacks, as one sentence and a line for each cause: what happened, what it
 * means for the reader, what to do. "Nothing was lost" is said here and nowhere else, and
 * only if no cause is known.
 */
#ifndef VIEWS_LOSSES_H
#define VIEWS_LOSSES_H

#include "analysis/model/session.h"
#include "analysis/views/table.h"

/* Samples, waits and overflows of counters are numbered each for themselves. */
enum ring_kind { RING_CLOCK, RING_WAIT, RING_COUNTER, RING_KINDS };

/* Records by kind: sent by BPF, lost on the way, and not among the packets though recorded. */
struct record_loss {
	uint64_t produced[RING_KINDS], lost[RING_KINDS], missing[RING_KINDS];
};

/* The lines for a founder that has a recorder.xml. */
void losses_put(struct table *t, const struct session *s, const struct experiment *founder,
		const struct record_loss *records);

#endif
