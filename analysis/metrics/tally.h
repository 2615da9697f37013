/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The values of each function by metric, for the packets that pass a filter. If a
 * load object is shown or hidden later, the tally must be discarded (view_state_changed). Values
 * are arrays of `nmetrics`, indexed by metric id. Callers and callees: callers.h.
 */
#ifndef METRICS_TALLY_H
#define METRICS_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/vec.h"

struct filter;
struct func;
struct metric_set;
struct session;

/* Function ids, or frame ids. */
typedef VEC(uint32_t) func_ids;

struct tally {
	struct session *session;
	size_t nmetrics, nstacks, nfuncs;
	VEC(uint32_t) met;      /* metrics for which a stack has a value: few */
	uint32_t *place;        /* by metric: index into met + 1; 0: no stack has a value */
	int64_t *stack_values;  /* nstacks × width; read it by tally_stack */
	size_t width;
	unsigned char *seen;    /* by stack: a packet had it */
	bool all_shown;         /* no load object is hidden */
	uint32_t *func_of;      /* by frame: its function; smaller than the frame, so more are cached */
	int64_t *excl, *incl;   /* nfuncs × nmetrics */
	int64_t *total, *zeros;
	uint64_t npackets;
};

struct tally *tally_new(struct session *s, const struct metric_set *ms, struct filter *filter);
void tally_free(struct tally *t);

/*
 * The functions of a stack, leaf first, as they are shown, with hidden frames merged. Returns their
 * number; 0: no packet had the stack. They are in `ret` until its next use; the caller frees it
 * with vec_free.
 */
size_t tally_path(const struct tally *t, uint32_t stack, func_ids *ret);
/* The same, and the frame of each function: SHOWN_MERGED if its object is not shown in full. */
size_t tally_frames(const struct tally *t, uint32_t stack, func_ids *ret, func_ids *frames);
/* The values of a stack, one for each metric in `met`. */
static inline const int64_t *tally_stack(const struct tally *t, uint32_t stack)
{
	return &t->stack_values[stack * t->width];
}
/* Add such values to an array indexed by metric id. */
void tally_add(const struct tally *t, int64_t *to, const int64_t *values);

/*
 * The function shown for a frame; `caller` is the one shown for its caller (NULL at the
 * root). If the frame's object is not shown in full and the caller is in the same
 * object, they are merged.
 */
struct func *shown_func(struct session *s, struct func *f, struct func *caller);
/*
 * The functions shown for a stack, leaf first, as ids, and the frame of each: SHOWN_MERGED
 * if its object is not shown in full. `frames` may be NULL. There must be room for as many
 * as the stack has frames. Returns how many there are.
 */
static const uint32_t SHOWN_MERGED = UINT32_MAX;
uint32_t shown_path(struct session *s, uint32_t stack, uint32_t *funcs, uint32_t *frames);

/* Zeros for a function created after the tally. */
static inline const int64_t *tally_excl(const struct tally *t, uint32_t func)
{
	return func < t->nfuncs ? &t->excl[func * t->nmetrics] : t->zeros;
}

static inline const int64_t *tally_incl(const struct tally *t, uint32_t func)
{
	return func < t->nfuncs ? &t->incl[func * t->nmetrics] : t->zeros;
}

#endif
