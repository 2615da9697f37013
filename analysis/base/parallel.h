/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The same work on several CPUs at once. */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

#include <stddef.h>

enum { PARALLEL_MAX = 8 };

/* In how many parts to share work: one for each CPU that is there, at most PARALLEL_MAX. */
size_t parallel_parts(void);
/*
 * Call fn(ctx, i) for each i below n <= PARALLEL_MAX, all at once where threads can be
 * had, and come back when all are done. What fn writes must be i's own.
 */
void parallel_run(void (*fn)(void *ctx, size_t i), void *ctx, size_t n);

#endif
