/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The inlined calls of one compile unit as an index of intervals: the stretches
 * of code that belong to a call, cut where a call inside begins or ends, sorted.
 * A question is one binary search, and then the chain of calls outwards.
 */
#ifndef SYMBOLS_INLINE_H
#define SYMBOLS_INLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/vec.h"

/* What was called, the same for all calls of it. */
struct inline_callee {
	const char *name;   /* as in the source; NULL unknown */
	const char *symbol; /* the name for linkers; NULL: the same */
	uint32_t file;	    /* where it is declared */
};

/* One DW_TAG_inlined_subroutine. */
struct inline_call {
	uint32_t outer; /* the call around it, + 1; 0 none */
	uint32_t depth; /* 1: called by the function itself */
	uint32_t file, line;
	const struct inline_callee *callee;
};

/* A stretch of a call, while the index is built. */
struct inline_range {
	uint64_t lo, hi;
	uint32_t call, depth;
};

/* From addr to the next point the innermost call is call - 1; 0: none. */
struct inline_point {
	uint64_t addr;
	uint32_t call;
};

struct inline_index {
	VEC(struct inline_call) calls;
	VEC(struct inline_range) ranges; /* given up by inline_finish */
	VEC(struct inline_point) points;
};

/* A call inside another one (+ 1; 0 none); returns its own number + 1. The callee is borrowed. */
uint32_t inline_add(struct inline_index *x, uint32_t outer, const struct inline_callee *callee,
		    uint32_t file, uint32_t line);
void inline_add_range(struct inline_index *x, uint32_t call, uint64_t lo, uint64_t hi);
/* After the last call and before the first question. Ranges that reach out of what surrounds them
 * are cut. */
void inline_finish(struct inline_index *x);
/* The innermost call at the address, or NULL. */
const struct inline_call *inline_find(const struct inline_index *x, uint64_t addr);
void inline_free(struct inline_index *x);

#endif
