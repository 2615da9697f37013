/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Callers and callees of a piece of a stack: functions that called each other in
 * that order, the outermost first. Of one function they are those of edges.h.
 */
#ifndef METRICS_FRAGMENT_H
#define METRICS_FRAGMENT_H

#include "analysis/base/alloc.h"
#include "analysis/metrics/tally.h"

struct fragment {
	edge_vec callers, callees; /* by function id; func is not used */
	int64_t *self;             /* of stacks that end with the piece */
	int64_t *total;            /* of all stacks that it stands in */
	struct arena arena;
};

/* With recursion the place nearest the leaf counts, as in tally.c. n is not 0. */
void fragment_init(struct fragment *f, const struct tally *t, struct func *const *funcs, size_t n);
void fragment_free(struct fragment *f);

#endif
