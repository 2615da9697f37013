/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the functions of a wait's stack tell about its role: which function took the
 * lock, and whether the thread waited for a lock or for an event. They are recognized
 * by name, in tables.
 */
#ifndef METRICS_WAITROLES_H
#define METRICS_WAITROLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/experiment/packet.h"

struct func;
struct session;

/*
 * The function that took the lock: the first one of a program outside the C library, and outside Java's virtual machine
 * and its java.util.concurrent.locks if there is one; in function ids leaf first. NULL: the stack has none.
 */
const struct func *wait_taker(const struct session *s, const uint32_t *funcs, size_t n);

/*
 * What a thread in state USER_LOCK waited for. Programs wait for locks and for events by
 * the same system call, so only the functions tell.
 */
enum lock_role {
	LOCK_UNKNOWN, /* no name tells */
	LOCK_EVENT,   /* a condition variable, a semaphore, the end of a thread */
	LOCK_LOCK,    /* a mutex or another lock; also one that waits by a semaphore */
};

/*
 * What a function's name tells, as a set of these. Matching names is slow, so callers keep the
 * result for each function.
 */
enum func_role {
	ROLE_EVENT = 1 << 0, /* waits for an event */
	ROLE_LOCK = 1 << 1,  /* takes a lock */
	ROLE_TAKEN = 1 << 2, /* takes a lock that the program makes of events */
	ROLE_OWN_PLACE = 1 << 3, /* each thread then waits at an address of its own, which is none of the lock */
	ROLE_OWN_EVENT = 1 << 4, /* likewise, if it waits for an event */
};

unsigned func_roles(const struct func *f);

/*
 * What a thread waits for in this POSIX function. ER_LOCK_UNKNOWN: its name does not tell. As slow as
 * func_roles.
 */
enum er_lock func_lock_kind(const struct func *f);

#endif
