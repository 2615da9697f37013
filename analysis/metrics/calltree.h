/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The call tree of a tally: a node for each distinct path from <Total> to a function. */
#ifndef METRICS_CALLTREE_H
#define METRICS_CALLTREE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/alloc.h"

struct tally;

struct tree_node {
	uint32_t func;
	uint32_t nchildren;
	struct tree_node *children; /* a list, in order of first occurrence until sorted */
	struct tree_node *next;
	int64_t *values;            /* inclusive, by metric id */
};

struct calltree {
	struct tree_node *root;
	struct arena arena;
};

void calltree_init(struct calltree *ct, const struct tally *t);
void calltree_free(struct calltree *ct);

#endif
