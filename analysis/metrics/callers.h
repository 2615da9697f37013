/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Callers and callees: of a function, or of a piece of a stack, functions that
 * called each other in that order, the outermost first. What each is handed of
 * the piece's time is said at the top of tally.c.
 */
#ifndef METRICS_CALLERS_H
#define METRICS_CALLERS_H

#include "analysis/metrics/tally.h"

struct func;

/* The functions on one side of a piece, in no order. */
struct neighbours {
	VEC(uint32_t) funcs;  /* ids */
	VEC(int64_t) values;  /* the tally's nmetrics of each, one after the other */
	uint32_t *place;      /* by function id: its place in funcs + 1, or 0 */
};

/* By function the stacks that it is in. */
struct stack_index {
	const struct tally *tally;
	uint32_t *stacks;
	size_t *end;          /* by function id: where its stacks end and the next one's begin */
};

/* The tally is borrowed until stack_index_free. */
void stack_index_init(struct stack_index *x, const struct tally *t);
void stack_index_free(struct stack_index *x);
size_t stack_index_count(const struct stack_index *x, uint32_t func);

/* The piece that was asked for last. */
struct callers {
	const struct stack_index *index;
	const struct tally *tally;
	struct neighbours callers, callees;
	int64_t *self;        /* of stacks that end with it */
	int64_t *total;       /* of all stacks that it stands in */
};

/* The index is borrowed until callers_free; several threads may share one. */
void callers_init(struct callers *f, const struct stack_index *x);
/*
 * Fill in what stands around a piece of n > 0 functions, in place of the one
 * before. With recursion the place nearest the leaf counts. <Total> alone calls
 * what is outermost.
 */
void callers_find(struct callers *f, struct func *const *funcs, size_t n);
void callers_free(struct callers *f);

static inline const int64_t *neighbour_values(const struct callers *f, const struct neighbours *side,
					      size_t i)
{
	return &side->values.data[i * f->tally->nmetrics];
}

#endif
