/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/metrics/calltree.h"

#include "analysis/base/map.h"
#include "analysis/base/wrap.h"
#include "analysis/metrics/tally.h"
#include "analysis/model/session.h"

struct builder {
	struct calltree *tree;
	const struct tally *t;
	struct map child_at; /* node << 32 | function, to node */
	VEC(struct tree_node *) nodes;
	func_ids path;
};

static uint32_t node_new(struct builder *b, uint32_t func)
{
	struct tree_node *n = arena_alloc(&b->tree->arena, sizeof(*n));

	n->func = func;
	n->values = arena_alloc(&b->tree->arena, b->t->nmetrics * sizeof(*n->values));
	vec_push(&b->nodes, n);
	return b->nodes.len - 1;
}

static uint32_t child_of(struct builder *b, uint32_t parent, uint32_t func)
{
	bool fresh;
	uint64_t *at = map_put(&b->child_at, (uint64_t)parent << 32 | func, &fresh);
	struct tree_node *p;

	if (!fresh)
		return *at;
	*at = node_new(b, func);
	p = b->nodes.data[parent];
	b->nodes.data[*at]->next = p->children;
	p->children = b->nodes.data[*at];
	p->nchildren++;
	return *at;
}

static void add_stack(struct builder *b, uint32_t id)
{
	const int64_t *values = tally_stack(b->t, id);
	uint32_t node = 0;

	tally_add(b->t, b->nodes.data[0]->values, values);
	for (size_t i = tally_path(b->t, id, &b->path); i > 0; i--) {
		node = child_of(b, node, b->path.data[i - 1]);
		tally_add(b->t, b->nodes.data[node]->values, values);
	}
}

void calltree_init(struct calltree *ct, const struct tally *t)
{
	struct builder b = { .tree = ct, .t = t };

	*ct = (struct calltree){ 0 };
	node_new(&b, t->session->total->id);
	ct->root = b.nodes.data[0];
	for (uint32_t id = 0; id < t->nstacks; id++) {
		if (t->seen[id])
			add_stack(&b, id);
	}
	map_free(&b.child_at);
	vec_free(&b.nodes);
	vec_free(&b.path);
}

void calltree_free(struct calltree *ct)
{
	arena_free(&ct->arena);
}
