/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two hash tables with open addressing: u64 to u64, and strings to dense ids.
 * A zeroed struct is an empty table.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/alloc.h"

/*
 * A slot with key 0 is free, so a slot needs only two words, and tables of a hundred thousand
 * keys are scanned at the speed of the cache. The key 0 itself has an extra slot behind the
 * others.
 */
struct map {
	struct map_slot *slots; /* cap + 1; the last is for key 0 */
	size_t len, cap;
	bool has_zero;
};

struct map_slot {
	uint64_t key, value;
};

/* The 64-bit finalizer of MurmurHash3 (public domain): spreads any key. */
static inline uint64_t hash64(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ULL;
	return x ^ (x >> 33);
}

/* The key's slot, or the free slot where it belongs. The map must have slots. */
static inline struct map_slot *map_slot_of(const struct map *m, uint64_t key)
{
	size_t i = hash64(key) & (m->cap - 1);

	if (!key)
		return &m->slots[m->cap];
	while (m->slots[i].key != key && m->slots[i].key)
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

/* The value stored for the key, or NULL; valid until the next map_put. */
static inline uint64_t *map_get(const struct map *m, uint64_t key)
{
	struct map_slot *s;

	if (!m->len)
		return NULL;
	s = map_slot_of(m, key);
	return s->key || (!key && m->has_zero) ? &s->value : NULL;
}

/*
 * Returns where the key's value is stored, and adds the key with value 0 if it is new; valid
 * until the next map_put. `*fresh` (may be NULL) says whether it is new.
 */
uint64_t *map_put(struct map *m, uint64_t key, bool *fresh);
/* Remove the key, if present. Do not call it while walking the map. */
void map_remove(struct map *m, uint64_t key);
void map_free(struct map *m);

#define map_for_each(s, m)                                                                         \
	for (struct map_slot *s = (m)->slots; s && s <= (m)->slots + (m)->cap; s++)                \
		if (s->key || (s == (m)->slots + (m)->cap && (m)->has_zero))

/* Start loading the key's slot into the cache, for a map_get soon. */
static inline void map_prefetch(const struct map *m, uint64_t key)
{
	if (m->cap)
		__builtin_prefetch(&m->slots[hash64(key) & (m->cap - 1)]);
}

uint64_t hash_bytes(const void *p, size_t n);
/* The same for words, several times faster. The hash differs from that of the bytes. */
uint64_t hash_words(const uint64_t *p, size_t n);

/*
 * Interned strings. Equal strings have equal ids, and ids count from 0. A string stays at a
 * fixed address until the table is freed.
 */
struct strtab {
	struct map by_hash;
	const char **strings;
	uint32_t *next;
	size_t len, cap;
	size_t bytes; /* of all strings, with their ends */
	struct arena arena;
};

uint32_t strtab_id(struct strtab *t, const char *s);
bool strtab_has(const struct strtab *t, const char *s);
/* The table's own copy of the string. */
const char *strtab_intern(struct strtab *t, const char *s);
void strtab_free(struct strtab *t);

#endif
