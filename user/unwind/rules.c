/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/unwind/rules.h"

#include <string.h>
#include <sys/auxv.h>

#include "analysis/base/map.h"

enum { FIRST_SLOTS = 1024 }; /* all sizes are powers of two */

/*
 * Random, and known to no other process. Otherwise a file could have thousands of rules with one
 * hash.
 */
static uint64_t secret(void)
{
	const void *random = (const void *)getauxval(AT_RANDOM);
	uint64_t words[2] = { 0 };

	if (random)
		memcpy(words, random, sizeof(words));
	return hash64(words[0] ^ hash64(words[1]));
}

static size_t slot_of(const struct rules *r, const struct er_unwind_rule *rule)
{
	uint64_t a[2];

	memcpy(a, rule, sizeof(a));
	return hash64(hash64(a[0] ^ r->key) + a[1]) & (r->nslots - 1);
}

/* The slot of the rule, or the empty slot where it belongs. */
static uint32_t *find(struct rules *r, const struct er_unwind_rule *rule)
{
	size_t at = slot_of(r, rule);

	while (r->slots[at] &&
	       memcmp(&r->list.data[r->slots[at]], rule, sizeof(*rule)))
		at = (at + 1) & (r->nslots - 1);
	return &r->slots[at];
}

static void grow(struct rules *r)
{
	free(r->slots);
	r->nslots *= 2;
	r->slots = xcalloc(r->nslots, sizeof(*r->slots));
	for (size_t i = 1; i < r->list.len; i++)
		*find(r, &r->list.data[i]) = i;
}

void rules_init(struct rules *r)
{
	*r = (struct rules){ .nslots = FIRST_SLOTS, .key = secret() };
	r->slots = xcalloc(r->nslots, sizeof(*r->slots));
	vec_push(&r->list, (struct er_unwind_rule){ .cfa = ER_CFA_NO_ENTRY });
}

void rules_fini(struct rules *r)
{
	free(r->slots);
	vec_free(&r->list);
}

unsigned rules_number(struct rules *r, const struct er_unwind_rule *rule)
{
	static const struct er_unwind_rule bad = { .cfa = ER_CFA_BAD };
	uint32_t *slot;

	if (r->last && !memcmp(&r->list.data[r->last], rule, sizeof(*rule)))
		return r->last;
	slot = find(r, rule);
	if (!*slot && r->list.len >= ER_RULE_MAX - 1 && memcmp(rule, &bad, sizeof(bad)))
		return rules_number(r, &bad);
	if (!*slot) {
		*slot = r->list.len;
		vec_push(&r->list, *rule);
		r->last = r->list.len - 1;
		if (r->list.len * 2 > r->nslots)
			grow(r);
		return r->last;
	}
	return r->last = *slot;
}
