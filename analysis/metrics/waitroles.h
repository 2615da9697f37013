/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the functions of a wait's stack say beyond where it was: who took the lock, and
 * whether the thread had anything to do. Both go by names, in tables.
 */
#ifndef METRICS_WAITROLES_H
#define METRICS_WAITROLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct func;
struct session;

/*
 * The function that took the lock: of function ids, leaf first, the first one of a program
 * outside the C library. NULL: the stack shows none.
 */
const struct func *wait_taker(const struct session *s, const uint32_t *funcs, size_t n);

/*
 * Whether the thread is one that a language runtime (Go, Java) keeps for work to come, and
 * waits for that: such a wait is no contention. False also where no name tells.
 */
bool wait_is_idle(const struct session *s, const uint32_t *funcs, size_t n);

#endif
