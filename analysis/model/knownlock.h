/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Locks of language runtimes, recognized by their place in a variable. A runtime may make one lock
 * of several words that threads wait for; they are one lock here.
 */
#ifndef MODEL_KNOWNLOCK_H
#define MODEL_KNOWNLOCK_H

#include <stdint.h>

struct dataobj;

/*
 * The name of the lock that has the word at `offset` in the variable, or NULL if none is known there.
 * *begin is the offset at which the lock begins.
 */
const char *known_lock(const struct dataobj *variable, uint64_t offset, uint64_t *begin);

#endif
