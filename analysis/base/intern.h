/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gives dense ids to records that the caller keeps in an array, so that equal records
 * have one id. The table stores hashes and ids; the caller compares records. A zeroed
 * struct is an empty table.
 *
 * A slot holds half a hash and an id, no more, so that the table of a hundred thousand
 * records fits into the CPU's cache.
 */
#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/base/alloc.h"

struct intern_slot {
	uint32_t hash;
	uint32_t id1; /* id + 1; 0: free slot */
};

struct intern {
	struct intern_slot *slots;
	size_t cap, len;
};

/* An iteration over the ids with one hash. */
struct intern_probe {
	uint32_t hash;
	size_t at; /* next slot to look at; wraps around */
};

static inline struct intern_probe intern_probe(uint64_t hash)
{
	uint32_t half = hash ^ hash >> 32;

	return (struct intern_probe){ .hash = half, .at = half };
}

/* The next id + 1, or 0: while ((id1 = intern_next(t, &probe))). */
static inline uint32_t intern_next(const struct intern *t, struct intern_probe *p)
{
	while (t->cap) {
		const struct intern_slot *s = &t->slots[p->at++ & (t->cap - 1)];

		if (!s->id1 || s->hash == p->hash)
			return s->id1;
	}
	return 0;
}

/* Start loading the hash's slot into the cache, for an intern_next soon. */
static inline void intern_prefetch(const struct intern *t, uint64_t hash)
{
	if (t->cap)
		__builtin_prefetch(&t->slots[intern_probe(hash).at & (t->cap - 1)]);
}

static inline void intern_place(struct intern *t, struct intern_slot what)
{
	size_t i = what.hash & (t->cap - 1);

	while (t->slots[i].id1)
		i = (i + 1) & (t->cap - 1);
	t->slots[i] = what;
}

static inline void intern_grow(struct intern *t)
{
	struct intern old = *t;

	t->cap = old.cap ? old.cap * 2 : 64;
	t->slots = xcalloc(t->cap, sizeof(*t->slots));
	for (size_t i = 0; i < old.cap; i++) {
		if (old.slots[i].id1)
			intern_place(t, old.slots[i]);
	}
	free(old.slots);
}

/* Add a record; returns its new id. */
static inline uint32_t intern_add(struct intern *t, uint64_t hash)
{
	/* Fill at most 2/3, so that probe sequences stay short. */
	if (t->len * 3 >= t->cap * 2)
		intern_grow(t);
	intern_place(t, (struct intern_slot){ intern_probe(hash).hash, ++t->len });
	return t->len - 1;
}

static inline void intern_free(struct intern *t)
{
	free(t->slots);
	*t = (struct intern){ 0 };
}

#endif
