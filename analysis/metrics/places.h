/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums of what is smaller than a function: pcs, source lines, instructions. The
 * caller says which key a frame belongs to; the rest is as in tally.h: exclusive
 * is what the leaf's key has, inclusive what each key in a stack has, once.
 */
#ifndef METRICS_PLACES_H
#define METRICS_PLACES_H

#include <stddef.h>
#include <stdint.h>

struct frame;
struct func;
struct session;
struct tally;

enum { PLACE_NONE = UINT32_MAX };

/*
 * The key of a frame, from 0 on without gaps, or PLACE_NONE: it is not counted.
 * `whole` is NULL, or what stands for the frame because its object is not shown
 * function by function; then the frame's own place must not be told. Asked once
 * for each frame and `whole`.
 */
typedef uint32_t (*place_key)(void *ctx, const struct frame *frame, const struct func *whole);

struct places {
	size_t nkeys, nmetrics;
	int64_t *excl, *incl; /* nkeys × nmetrics */
};

void places_init(struct places *p, struct session *ss, const struct tally *t, place_key key,
		 void *ctx);
void places_free(struct places *p);

static inline const int64_t *places_excl(const struct places *p, size_t key)
{
	return &p->excl[key * p->nmetrics];
}

static inline const int64_t *places_incl(const struct places *p, size_t key)
{
	return &p->incl[key * p->nmetrics];
}

#endif
