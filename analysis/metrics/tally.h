/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each function has of each metric, for the packets that a filter lets
 * through and with load objects shown as they are set at the time of the call.
 * Values stand in arrays of `nmetrics`, by metric id. Callers and callees:
 * callers.h.
 */
#ifndef METRICS_TALLY_H
#define METRICS_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/vec.h"

struct filter;
struct func;
struct metric_set;
struct session;

/* A stack as it is shown: hidden frames collapsed. Leaf first. */
struct path {
	uint32_t first, n; /* into tally.path_funcs */
};

struct tally {
	const struct session *session;
	size_t nmetrics, nstacks, nfuncs;
	int64_t *by_stack;      /* nstacks × nmetrics */
	unsigned char *seen;    /* by stack: at least one packet had it */
	struct path *paths;     /* by stack; of those not seen empty */
	VEC(uint32_t) path_funcs; /* function ids */
	int64_t *excl, *incl;   /* nfuncs × nmetrics */
	int64_t *total, *zeros;
	VEC(uint32_t) met;      /* metrics that any stack has something of: of all states, a few */
	uint64_t npackets;
};

struct tally *tally_new(struct session *s, const struct metric_set *ms, struct filter *filter);
void tally_free(struct tally *t);
/* Add what a stack, or several, has. */
void tally_add(const struct tally *t, int64_t *to, const int64_t *sums);

/*
 * The function that stands for a frame, given the one shown for its caller (NULL
 * at the root). Where its object is not shown in full and it is the caller's
 * again, the two are one.
 */
struct func *shown_func(struct session *s, struct func *f, struct func *caller);

/* Zeros for a function that became known after the tally was made. */
static inline const int64_t *tally_excl(const struct tally *t, uint32_t func)
{
	return func < t->nfuncs ? &t->excl[func * t->nmetrics] : t->zeros;
}

static inline const int64_t *tally_incl(const struct tally *t, uint32_t func)
{
	return func < t->nfuncs ? &t->incl[func * t->nmetrics] : t->zeros;
}

#endif
