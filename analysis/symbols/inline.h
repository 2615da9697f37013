/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The inlined calls of one compile unit, as an index of intervals: the code ranges of
 * all calls, cut where an inner call begins or ends, and sorted. A lookup is one binary
 * search, then follows the chain of calls outwards.
 */
#ifndef SYMBOLS_INLINE_H
#define SYMBOLS_INLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/vec.h"

/* An inlined function, shared by all its calls. */
struct inline_callee {
	const char *name;   /* as in the source; NULL: unknown */
	const char *symbol; /* linker name; NULL: the same */
	uint32_t file;	    /* file of its declaration */
};

/* One DW_TAG_inlined_subroutine. */
struct inline_call {
	uint32_t outer; /* enclosing call + 1; 0: none */
	uint32_t depth; /* 1: inlined into the function itself */
	uint32_t file, line;
	const struct inline_callee *callee;
};

/* A code range of a call, used while the index is built. */
struct inline_range {
	uint64_t lo, hi;
	uint32_t call, depth;
};

/* The innermost call from addr to the next point is call - 1; 0: none. */
struct inline_point {
	uint64_t addr;
	uint32_t call;
};

struct inline_index {
	VEC(struct inline_call) calls;
	VEC(struct inline_range) ranges; /* freed by inline_finish */
	VEC(struct inline_point) points;
};

/*
 * Add a call inside call `outer` (its number + 1; 0: none). Returns the new call's
 * number + 1. The callee is borrowed.
 */
uint32_t inline_add(struct inline_index *x, uint32_t outer, const struct inline_callee *callee,
		    uint32_t file, uint32_t line);
void inline_add_range(struct inline_index *x, uint32_t call, uint64_t lo, uint64_t hi);
/*
 * For a reader that knows the innermost call (its number + 1; 0: none) at each address: the calls
 * from addr on, up to the next point. In the order of addresses, instead of ranges and inline_finish.
 */
void inline_add_point(struct inline_index *x, uint64_t addr, uint32_t call);
/*
 * Build the index, after the last call and before the first lookup. Ranges that reach
 * beyond the enclosing call are cut.
 */
void inline_finish(struct inline_index *x);
/* The innermost inlined call at the address; NULL: none. */
const struct inline_call *inline_find(const struct inline_index *x, uint64_t addr);
void inline_free(struct inline_index *x);

#endif
