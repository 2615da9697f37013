/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds up the unsampled time of folded threads (folds.h), so that not each of them needs packets of
 * its own. A sum has the time of all threads of one fold with the same state, stack and CPU in the same
 * experiment. Nothing is rounded: the sum has each nanosecond once.
 *
 * Memory is bounded. Not thread safe: only the drain calls this.
 */
#ifndef USER_RECORD_FOLD_SUMS_H
#define USER_RECORD_FOLD_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "analysis/experiment/expwriter.h"
#include "bpf/er_event.h"

struct fold_sums;
struct output;

struct fold_sum {
	struct output *output;      /* must live until the sum is written */
	struct er_task task;        /* TID: the fold's number; PID: that, too, or one process of all */
	struct clock_packet packet; /* state, stack, CPU; seq of the first record, time of the last */
	struct wait_info info;      /* off a CPU: the reason */
	uint64_t ns;
};

typedef void fold_sum_put(void *ctx, const struct fold_sum *sum);

/* `put` is called for each sum that is written. It must not add to the sums. */
struct fold_sums *fold_sums_new(fold_sum_put *put, void *ctx);
void fold_sums_free(struct fold_sums *f); /* NULL: nothing. What is not written is lost. */
/*
 * Add the time of a thread. Returns whether it became part of a sum that was there. packet.wait is
 * not used.
 */
bool fold_sums_add(struct fold_sums *f, const struct fold_sum *one);
/* Write all sums if the first of them was begun before before_ns; UINT64_MAX: in any case. */
void fold_sums_write(struct fold_sums *f, uint64_t before_ns);

#endif
