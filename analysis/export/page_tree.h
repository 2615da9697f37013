/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The call tree of the page: a node for each distinct path from the root to a function. */
#ifndef EXPORT_PAGE_TREE_H
#define EXPORT_PAGE_TREE_H

#include <stdint.h>

#include "analysis/base/intern.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"

struct session;

struct page_node {
	uint32_t parent; /* less than the node's own index; the root's is 0 */
	uint32_t func;   /* index into page_tree.funcs; the root's has no meaning */
};

/* A zeroed struct is an empty tree. */
struct page_tree {
	VEC(struct page_node) nodes; /* the root is the first */
	VEC(uint32_t) funcs;         /* ids in the session */
	struct intern edges;         /* nodes without the root: an edge's id + 1 is its node */
	struct map by_func;          /* id in the session, to index in funcs + 1 */
	/* Of the stack that was added last, from its root: the node of each function, and its frame. */
	VEC(uint32_t) path, frames;
};

/* For a table of nodes by their parent and what leads to them. */
static inline uint64_t page_edge_hash(uint32_t parent, uint32_t to)
{
	return hash64((uint64_t)parent << 32 | to);
}

/* The leaf of a stack, as the session shows the stack. Missing nodes are added. */
uint32_t page_tree_add(struct page_tree *t, struct session *s, uint32_t stack);
void page_tree_free(struct page_tree *t);

#endif
