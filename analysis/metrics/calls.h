/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All calls in a tally's stacks: each pair of a caller and a callee, with the values that are
 * attributed to them (the top of tally.c says how). For one function callers.h finds the same
 * values.
 */
#ifndef METRICS_CALLS_H
#define METRICS_CALLS_H

#include "analysis/metrics/tally.h"

/* The caller of outermost functions is <Total>. */
struct call {
	uint32_t caller, callee; /* function ids */
};

/* The calls in order of one of their functions. */
struct call_order {
	uint32_t *calls; /* indexes into calls.all */
	size_t *end;     /* by function id: end of its calls; the next function's begin there */
};

struct calls {
	const struct tally *tally;
	VEC(struct call) all;
	/*
	 * Values of each call, as tally_stack has them: those of the caller in the callee's panel,
	 * then those of the callee in the caller's.
	 */
	VEC(int64_t) values;
	struct call_order by_caller, by_callee;
};

/* The tally is borrowed until calls_free. */
void calls_init(struct calls *c, const struct tally *t);
void calls_free(struct calls *c);
/* The calls of a function in an order, as indexes, and their number. The caller may sort them. */
uint32_t *calls_of(const struct call_order *o, uint32_t func, size_t *n);

/* What the caller contributes to the callee, and what the callee contributes to the caller. */
static inline const int64_t *caller_values(const struct calls *c, uint32_t call)
{
	return &c->values.data[(size_t)call * 2 * c->tally->met.len];
}

static inline const int64_t *callee_values(const struct calls *c, uint32_t call)
{
	return caller_values(c, call) + c->tally->met.len;
}

#endif
