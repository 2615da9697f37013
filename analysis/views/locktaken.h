/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often locks were taken, with or without a wait (packets ER_PKT_LOCKS, of -s all), for the report on
 * locks. Each lock is in the report's lock_set. What was counted belongs to the lock that a thread waited for
 * if that address is inside the counted object.
 */
#ifndef VIEWS_LOCKTAKEN_H
#define VIEWS_LOCKTAKEN_H

#include <stdint.h>

#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "analysis/views/lockset.h"

struct func;

/* A lock's count. */
struct lock_taken {
	uint32_t lock;    /* in the set */
	uint32_t process; /* a key of the report */
	uint32_t path;    /* of its first packet */
	const struct func *taker; /* NULL: unknown, or several */
	unsigned kind;    /* enum er_lock, checked */
	uint64_t n;
	uint32_t waited;  /* the lock that it is, of those that threads waited for; LOCK_NOT_WAITED */
};

#define LOCK_NOT_WAITED UINT32_MAX

struct lock_takings {
	struct map by_lock; /* to an index of `all` */
	VEC(struct lock_taken) all;
};

/* The lock's count, made if it is new (then with n == 0). Valid until the next call. */
struct lock_taken *lock_takings_at(struct lock_takings *lt, uint32_t lock);
/* Set `waited` of all counts: waits has the locks that threads waited for, as keys. */
void lock_takings_match(struct lock_takings *lt, const struct lock_set *set, const struct map *waits);
void lock_takings_free(struct lock_takings *lt);

#endif
