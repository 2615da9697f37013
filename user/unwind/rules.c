/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/unwind/rules.h"

#include <string.h>

enum { FIRST_SLOTS = 1024 }; /* all sizes are powers of two */

static size_t slot_of(const struct rules *r, const struct er_unwind_rule *rule)
{
	uint64_t a[2], h;

	memcpy(a, rule, sizeof(a));
	h = (a[0] ^ a[1] * 0x9e3779b97f4a7c15ULL) * 0x9fb21c651e98df25ULL;
	return (h ^ h >> 32) & (r->nslots - 1);
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
	*r = (struct rules){ .nslots = FIRST_SLOTS };
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
