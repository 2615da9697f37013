/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The distinct unwind rules of one file, numbered from 0, which is ER_RULE_NO_ENTRY. */
#ifndef USER_UNWIND_RULES_H
#define USER_UNWIND_RULES_H

#include <linux/types.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/vec.h"
#include "bpf/unwind.h"

struct rules {
	VEC(struct er_unwind_rule) list;
	/* Private: a map from a rule's hash to its number, and the last rule asked for. */
	uint32_t *slots;
	size_t nslots;
	unsigned last;
	uint64_t key; /* of the hash */
};

void rules_init(struct rules *r);
void rules_fini(struct rules *r);
/*
 * Returns the rule's number, and adds the rule if it is new. If there are already ER_RULE_MAX - 1
 * rules, a new one gets the number of a rule with ER_CFA_BAD.
 */
unsigned rules_number(struct rules *r, const struct er_unwind_rule *rule);

#endif
