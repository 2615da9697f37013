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
	/* Private: numbers by hash of the rule, and the last one asked for. */
	uint32_t *slots;
	size_t nslots;
	unsigned last;
};

void rules_init(struct rules *r);
void rules_fini(struct rules *r);
/*
 * The rule's number; it is added if it is new. When there are ER_RULE_MAX - 1 already,
 * a new one gets the number of a rule with ER_CFA_BAD.
 */
unsigned rules_number(struct rules *r, const struct er_unwind_rule *rule);

#endif
