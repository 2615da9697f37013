/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a recording lacks: one sentence, and one line for each cause. A line says what happened,
 * what it means for the reader and what to do. Only this file prints "Nothing was lost", and only
 * if no cause is known.
 */
#ifndef VIEWS_LOSSES_H
#define VIEWS_LOSSES_H

#include "analysis/experiment/packet.h"
#include "analysis/model/session.h"
#include "analysis/views/table.h"

/*
 * Records of the kinds that have names: sent by BPF, lost on the way, and not among the packets
 * though recorded. Of an experiment that was not closed these may still come: its counts and its packets
 * are written at different moments. They are `unwritten`, not `missing`.
 */
struct record_loss {
	uint64_t produced[ER_RINGS], lost[ER_RINGS], missing[ER_RINGS], unwritten[ER_RINGS];
};

/* Add the lines for a founder that has a recorder.xml. */
void losses_put(struct table *t, const struct session *s, const struct experiment *founder,
		const struct record_loss *records);

/*
 * Why the packets of a founder end early: the size limit, an error, a killed recorder. Puts one
 * sentence for each reason, without a full stop, into `ret`; the caller frees them. Returns their
 * number: 0 if the recording is whole.
 */
enum { LOSSES_ENDS = 3 };
size_t losses_ends(const struct experiment *founder, char *ret[LOSSES_ENDS]);

#endif
