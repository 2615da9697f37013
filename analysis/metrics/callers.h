/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Callers and callees of a function, or of a sequence of functions that called each
 * other (a piece of a stack, outermost first). The top of tally.c tells how the piece's
 * time is attributed to them.
 */
#ifndef METRICS_CALLERS_H
#define METRICS_CALLERS_H

#include "analysis/metrics/tally.h"

struct func;

/* The functions on one side of a piece, unordered. */
struct neighbours {
	VEC(uint32_t) funcs;  /* function ids */
	VEC(int64_t) values;  /* nmetrics values of each function */
	uint32_t *place;      /* by function id: index into funcs + 1, or 0; for callers_find */
};

/* The callers and callees of one piece. */
struct callers {
	const struct tally *tally;
	struct neighbours callers, callees;
	int64_t *self;        /* of stacks whose leaf end is the piece */
	int64_t *total;       /* of all stacks that contain the piece */
};

/* The tally is borrowed until callers_free. */
void callers_init(struct callers *f, const struct tally *t);
/*
 * Replace the contents by the callers and callees of a piece of n > 0 functions. With
 * recursion only the occurrence nearest the leaf counts. The caller of outermost
 * functions is <Total>. It walks all stacks.
 */
void callers_find(struct callers *f, struct func *const *funcs, size_t n);
void callers_free(struct callers *f);

static inline const int64_t *neighbour_values(const struct callers *f, const struct neighbours *side,
					      size_t i)
{
	return &side->values.data[i * f->tally->nmetrics];
}

#endif
