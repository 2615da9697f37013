/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Divides the times of threads between two segments of a recording. At a cut BPF sends each
 * thread's total since the recording began (bpf/cut.bpf.h). Here the total at the last cut is kept
 * for each thread, and subtracted. So the totals of all segments add up to the thread's own, to the
 * nanosecond. A wait that was open at a cut comes as one record when it is over; the part that the
 * earlier segment has is taken off it. What the waits of a segment represent is added up per thread,
 * so the remainder of each total is exact in each segment.
 *
 * There is an entry for each thread that lives and has waited or was cut: 0.6 KB.
 */
#ifndef USER_RECORD_CUTS_H
#define USER_RECORD_CUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "bpf/er_event.h"

struct cuts;

struct cuts *cuts_new(void);
void cuts_free(struct cuts *c); /* NULL: nothing */

/*
 * A cut, in this order. begin_ns and end_ns are times before and after all visits of the
 * iterator. Then cuts_note for each record of kind TOTAL: those of the iterator, and those that
 * were in the rings. Then cuts_is_next says whether a record from the rings belongs to the next
 * segment. cuts_end forgets threads that have ended.
 */
void cuts_begin(struct cuts *c, uint64_t begin_ns, uint64_t end_ns);
void cuts_note(struct cuts *c, const struct er_total *t);
bool cuts_is_next(const struct cuts *c, const struct er_header *h);
void cuts_end(struct cuts *c);

/* Parts of a wait that continue one which the earlier segment has counted. */
enum { CUT_BLOCKED = 1 << 0, CUT_RUNQ = 1 << 1 };

/*
 * Reduce lengths and weights of a wait to what belongs to this segment, and remember the weights.
 * Call it once for each wait that is written. Returns the parts that continue.
 */
unsigned cuts_wait(struct cuts *c, struct er_wait *w);
/*
 * A total must not be written before a wait of its thread that is put off, because a stack is still
 * missing. cuts_batch begins a pass over all records that are at hand. cuts_defer says that a wait
 * is put off in this pass, and cuts_must_defer that a total must be, too.
 */
void cuts_batch(struct cuts *c);
void cuts_defer(struct cuts *c, const struct er_task *task);
bool cuts_must_defer(const struct cuts *c, const struct er_task *task);
/* Whether an earlier segment has a part of the thread. */
bool cuts_was_cut(const struct cuts *c, const struct er_task *task);
/*
 * Change a total, cumulative or of a thread's end, into that of this segment. Call it after
 * cuts_wait for all waits of the thread in the segment.
 */
void cuts_total(struct cuts *c, struct er_total *t);
size_t cuts_nthreads(const struct cuts *c);

#endif
