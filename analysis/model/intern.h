/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dense ids for records that the caller keeps in an array: equal records are to
 * get one id. The table knows hashes and ids, the caller compares. A zeroed
 * struct is an empty table.
 */
#ifndef MODEL_INTERN_H
#define MODEL_INTERN_H

#include <stdint.h>

#include "analysis/base/map.h"
#include "analysis/base/vec.h"

struct intern {
	struct map heads;    /* hash to id + 1 of the newest record that has it */
	VEC(uint32_t) next;  /* older record of the same hash, + 1 */
};

/* Walk the ids that have the hash: for (id1 = intern_first(t, h); id1; id1 = intern_next(t, id1)). */
static inline uint32_t intern_first(const struct intern *t, uint64_t hash)
{
	const uint64_t *head = map_get(&t->heads, hash);

	return head ? *head : 0;
}

static inline uint32_t intern_next(const struct intern *t, uint32_t id1)
{
	return t->next.data[id1 - 1];
}

/* Give the next id to a new record. */
static inline uint32_t intern_add(struct intern *t, uint64_t hash)
{
	uint64_t *head = map_put(&t->heads, hash, NULL);

	vec_push(&t->next, (uint32_t)*head);
	*head = t->next.len;
	return t->next.len - 1;
}

static inline void intern_free(struct intern *t)
{
	map_free(&t->heads);
	vec_free(&t->next);
}

#endif
