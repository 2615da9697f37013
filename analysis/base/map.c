/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/base/map.h"

#include <stdlib.h>
#include <string.h>

static void grow(struct map *m)
{
	struct map old = *m;

	m->cap = old.cap ? old.cap * 2 : 16;
	m->slots = xcalloc(m->cap + 1, sizeof(*m->slots));
	map_for_each(s, &old)
		*map_slot_of(m, s->key) = *s;
	free(old.slots);
}

uint64_t *map_put(struct map *m, uint64_t key, bool *fresh)
{
	struct map_slot *s;
	bool is_new;

	/* At most 2/3 full, so that probes stay short. */
	if (m->len * 3 >= m->cap * 2)
		grow(m);
	s = map_slot_of(m, key);
	is_new = key ? !s->key : !m->has_zero;
	if (is_new) {
		*s = (struct map_slot){ .key = key };
		m->has_zero |= !key;
		m->len++;
	}
	if (fresh)
		*fresh = is_new;
	return &s->value;
}

void map_remove(struct map *m, uint64_t key)
{
	size_t mask = m->cap - 1, hole, i;

	if (!map_get(m, key))
		return;
	m->len--;
	if (!key) {
		m->has_zero = false;
		return;
	}
	hole = i = map_slot_of(m, key) - m->slots;
	/* Close the gap: move up entries that a probe would no longer reach. */
	for (;;) {
		size_t home;

		i = (i + 1) & mask;
		if (!m->slots[i].key)
			break;
		home = hash64(m->slots[i].key) & mask;
		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		m->slots[hole] = m->slots[i];
		hole = i;
	}
	m->slots[hole].key = 0;
}

void map_free(struct map *m)
{
	free(m->slots);
	*m = (struct map){ 0 };
}

uint64_t hash_bytes(const void *p, size_t n)
{
	const unsigned char *b = p;
	uint64_t h = 0xcbf29ce484222325ULL; /* FNV-1a */

	for (size_t i = 0; i < n; i++)
		h = (h ^ b[i]) * 0x100000001b3ULL;
	return h;
}

uint64_t hash_words(const uint64_t *p, size_t n)
{
	uint64_t h = n;

	for (size_t i = 0; i < n; i++)
		h = hash64(h ^ p[i]);
	return h;
}

enum { NONE = UINT32_MAX };

bool strtab_has(const struct strtab *t, const char *s)
{
	const uint64_t *head = map_get(&t->by_hash, hash_bytes(s, strlen(s)));

	for (uint32_t i = head ? *head : NONE; i != NONE; i = t->next[i]) {
		if (!strcmp(t->strings[i], s))
			return true;
	}
	return false;
}

uint32_t strtab_id(struct strtab *t, const char *s)
{
	bool fresh;
	uint64_t *head = map_put(&t->by_hash, hash_bytes(s, strlen(s)), &fresh);
	uint32_t first = fresh ? NONE : *head;

	for (uint32_t i = first; i != NONE; i = t->next[i]) {
		if (!strcmp(t->strings[i], s))
			return i;
	}
	if (t->len == t->cap) {
		t->cap = t->cap ? t->cap * 2 : 64;
		t->strings = xrealloc_array(t->strings, t->cap, sizeof(*t->strings));
		t->next = xrealloc_array(t->next, t->cap, sizeof(*t->next));
	}
	t->strings[t->len] = arena_strdup(&t->arena, s);
	t->bytes += strlen(s) + 1;
	t->next[t->len] = first;
	*head = t->len;
	return t->len++;
}

const char *strtab_intern(struct strtab *t, const char *s)
{
	uint32_t id = strtab_id(t, s);

	return t->strings[id];
}

void strtab_free(struct strtab *t)
{
	map_free(&t->by_hash);
	arena_free(&t->arena);
	free(t->strings);
	free(t->next);
	*t = (struct strtab){ 0 };
}
