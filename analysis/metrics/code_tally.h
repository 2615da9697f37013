/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums for units smaller than a function: pcs, source lines, instructions. The caller
 * maps each frame to a key. Otherwise this is like tally.h: the exclusive value is that
 * of stacks whose leaf has the key; the inclusive value is that of all stacks with the
 * key, each counted once.
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
 * The key of a frame, numbered from 0 without gaps, or CODE_KEY_NONE to ignore the
 * frame. `whole` is NULL or the function that represents the frame, because its object
 * is not shown in full; then the key must not depend on the frame's location. Called
 * once for each frame and `whole`.
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
