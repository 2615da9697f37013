/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums of what is smaller than a function: pcs, source lines, instructions. The
 * caller says which key a frame belongs to; the rest is as in tally.h: exclusive
 * is what the leaf's key has, inclusive what each key in a stack has, once.
 */
#ifndef METRICS_CODE_TALLY_H
#define METRICS_CODE_TALLY_H

#include <stddef.h>
#include <stdint.h>

struct frame;
struct func;
struct session;
struct tally;

enum { CODE_KEY_NONE = UINT32_MAX };

/*
 * The key of a frame, from 0 on without gaps, or CODE_KEY_NONE: it is not counted.
 * `whole` is NULL, or what stands for the frame because its object is not shown
 * function by function; then the frame's own place must not be told. Asked once
 * for each frame and `whole`.
 */
typedef uint32_t (*code_key)(void *ctx, const struct frame *frame, const struct func *whole);

struct code_tally {
	size_t nkeys, nmetrics;
	int64_t *excl, *incl; /* nkeys × nmetrics */
};

void code_tally_init(struct code_tally *p, struct session *ss, const struct tally *t, code_key key,
		 void *ctx);
void code_tally_free(struct code_tally *p);

static inline const int64_t *code_tally_excl(const struct code_tally *p, size_t key)
{
	return &p->excl[key * p->nmetrics];
}

static inline const int64_t *code_tally_incl(const struct code_tally *p, size_t key)
{
	return &p->incl[key * p->nmetrics];
}

#endif
