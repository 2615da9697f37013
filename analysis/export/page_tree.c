/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_tree.h"

#include "analysis/metrics/tally.h"
#include "analysis/model/session.h"

static uint32_t func_index(struct page_tree *t, uint32_t id)
{
	uint64_t *at = map_put(&t->by_func, id, NULL);

	if (!*at) {
		vec_push(&t->funcs, id);
		*at = t->funcs.len;
	}
	return *at - 1;
}

static uint32_t child(struct page_tree *t, uint32_t parent, uint32_t func)
{
	uint64_t hash = page_edge_hash(parent, func);
	struct intern_probe probe = intern_probe(hash);
	uint32_t node;

	while ((node = intern_next(&t->edges, &probe))) {
		if (t->nodes.data[node].parent == parent && t->nodes.data[node].func == func)
			return node;
	}
	vec_push(&t->nodes, (struct page_node){ parent, func });
	return intern_add(&t->edges, hash) + 1;
}

static void swap(uint32_t *v, uint32_t a, uint32_t b)
{
	uint32_t kept = v[a];

	v[a] = v[b];
	v[b] = kept;
}

uint32_t page_tree_add(struct page_tree *t, struct session *s, uint32_t stack)
{
	uint32_t node = 0, n = s->stacks.data[stack].n;

	if (!t->nodes.len)
		vec_push(&t->nodes, (struct page_node){ 0, 0 });
	vec_reserve(&t->path, n + 1);
	vec_reserve(&t->frames, n + 1);
	n = shown_path(s, stack, t->path.data, t->frames.data);
	t->path.len = t->frames.len = n;
	for (uint32_t i = 0; i < n / 2; i++) {
		swap(t->path.data, i, n - 1 - i);
		swap(t->frames.data, i, n - 1 - i);
	}
	for (uint32_t i = 0; i < n; i++)
		node = t->path.data[i] = child(t, node, func_index(t, t->path.data[i]));
	return node;
}

void page_tree_free(struct page_tree *t)
{
	vec_free(&t->nodes);
	vec_free(&t->funcs);
	intern_free(&t->edges);
	map_free(&t->by_func);
	vec_free(&t->path);
	vec_free(&t->frames);
}
