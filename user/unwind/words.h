/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Manages room for tables: runs of 32-bit words below a limit. A run that is given back is not used
 * again before GRACE has passed, because BPF may still read it.
 */
#ifndef USER_UNWIND_WORDS_H
#define USER_UNWIND_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/vec.h"

enum { WORDS_GRACE_NS = 200000000 }; /* a walk takes microseconds */

struct words_run {
	uint32_t first, n;
	uint64_t since_ns; /* free since then */
};

struct words {
	uint32_t limit;
	VEC(struct words_run) free; /* sorted; adjacent runs differ in their times */
	uint32_t used;              /* words given */
};

void words_init(struct words *w, uint32_t limit);
void words_fini(struct words *w);
/*
 * Allocate n words, aligned to `align` (a power of two), at *first. False: no such run is free now.
 */
bool words_take(struct words *w, uint32_t n, uint32_t align, uint64_t now_ns, uint32_t *first);
/* Whether there will be such a run when nothing that was given back is read any more. */
bool words_will_fit(const struct words *w, uint32_t n, uint32_t align);
void words_give(struct words *w, uint32_t first, uint32_t n, uint64_t now_ns);

#endif
