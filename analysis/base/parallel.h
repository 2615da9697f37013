/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the parts of a task on several CPUs at once. */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

#include <stddef.h>

enum { PARALLEL_MAX = 8 };

/* How many parts to divide work into: one for each online CPU, at most PARALLEL_MAX. */
size_t parallel_parts(void);
/*
 * Call fn(ctx, i) for each i below n <= PARALLEL_MAX, in parallel if threads can be created.
 * Returns when all calls have returned. Calls must not write the same data.
 */
void parallel_run(void (*fn)(void *ctx, size_t i), void *ctx, size_t n);

#endif
