/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user locks of a report. A lock is identified by its address and its process. All words of a
 * known lock of a runtime (knownlock.h) have the address at which it begins. Where each thread waits
 * at an address of its own (waitpath.h), it is not known how many locks there are: those of a process
 * that one function takes count as one.
 */
#ifndef VIEWS_LOCKSET_H
#define VIEWS_LOCKSET_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/intern.h"
#include "analysis/base/vec.h"
#include "analysis/metrics/waitpath.h"

struct experiment;
struct hit;
struct session;

struct user_lock {
	const struct experiment *origin;
	int64_t pid;
	uint64_t address; /* 0: unknown */
	const char *taker; /* of locks whose number is unknown: the function, "" if no stack shows it; else NULL */
	/* experiment of the first wait for the lock, and when that wait ended */
	const struct experiment *e;
	int64_t time_ns;
	const char *known; /* name of a runtime's lock; a text if the address is of none; else NULL */
};

struct lock_set {
	struct session *session;
	struct wait_paths paths; /* made when needed */
	struct intern ids;
	VEC(struct user_lock) all;
	VEC(uint32_t) same; /* indexed by lock: the one that it is a part of, or itself */
	VEC(char *) names; /* indexed by lock; NULL: not looked up yet */
};

void lock_set_free(struct lock_set *ls);
/* The lock that a wait was for, as an index into `all`. */
uint32_t lock_set_id(struct lock_set *ls, const struct hit *h);
/* Whether waits for it can be told from those for others: it has an address, or a taker. */
static inline bool user_lock_told(const struct user_lock *l)
{
	return l->address || l->taker;
}

/* Whether its name says all that is known of it: it is the lock of a runtime, or locks whose number is unknown. */
bool lock_set_known(const struct lock_set *ls, uint32_t lock);
/*
 * The name of a runtime's lock, or the global variable that contains the lock: "app`queue_lock", "libx.so.1`pool+0x28". "" if the
 * address is in no known variable. The text lives as long as the set.
 */
const char *lock_set_name(struct lock_set *ls, uint32_t lock);

#endif
