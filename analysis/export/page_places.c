/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_places.h"

#include <stdlib.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/json.h"
#include "analysis/base/sort.h"
#include "analysis/export/page_pack.h"
#include "analysis/export/page_tree.h"
#include "analysis/metrics/tally.h"
#include "analysis/model/session.h"
#include "analysis/views/places.h"
#include "analysis/views/view_state.h"

static uint32_t place_index(struct page_places *p, uint32_t frame, uint32_t func)
{
	uint64_t key = frame == SHOWN_MERGED ? 1ULL << 32 | func : frame;
	uint64_t *at = map_put(&p->by_place, key, NULL);

	if (!*at) {
		vec_push(&p->all, (struct place){ .frame = frame, .func = func });
		*at = p->all.len;
	}
	return *at - 1;
}

/* The variant of a node of the tree that is reached from another variant by this place. */
static uint32_t variant_at(struct page_places *p, uint32_t parent, uint32_t place, uint32_t node)
{
	uint64_t hash = page_edge_hash(parent, place);
	struct intern_probe probe = intern_probe(hash);
	uint32_t at;

	while ((at = intern_next(&p->edges, &probe))) {
		if (p->nodes.data[at].parent == parent && p->nodes.data[at].place == place)
			return at;
	}
	vec_push(&p->nodes, (struct variant){ .parent = parent, .node = node, .place = place });
	return intern_add(&p->edges, hash) + 1;
}

uint32_t page_places_add(struct page_places *p, const struct page_tree *t)
{
	uint32_t at = 0;

	if (!p->nodes.len)
		vec_push(&p->nodes, (struct variant){ 0 });
	for (size_t i = 0; i < t->path.len; i++) {
		uint32_t node = t->path.data[i];

		at = variant_at(p, at, place_index(p, t->frames.data[i], t->nodes.data[node].func), node);
	}
	return at;
}

static uint32_t *nodes_by_node(const struct page_places *p, size_t nnodes, uint32_t **first)
{
	uint32_t *node = xcalloc(p->nodes.len + 1, sizeof(*node)), *ret;

	for (size_t i = 0; i < p->nodes.len; i++)
		node[i] = p->nodes.data[i].node;
	ret = sort_by_group(node, p->nodes.len, nnodes, first);
	free(node);
	return ret;
}

static uint32_t *places_by_func(const struct page_places *p, size_t nfuncs, uint32_t **first)
{
	uint32_t *func = xcalloc(p->all.len + 1, sizeof(*func)), *ret;

	for (size_t i = 0; i < p->all.len; i++)
		func[i] = p->all.data[i].func;
	ret = sort_by_group(func, p->all.len, nfuncs, first);
	free(func);
	return ret;
}

struct frame *page_places_frames(const struct page_places *p, const struct page_tree *t,
				 struct session *s)
{
	struct frame *ret = xcalloc(p->all.len + 1, sizeof(*ret));
	uint32_t *first, *order = places_by_func(p, t->funcs.len, &first);

	for (size_t i = 0; i < p->all.len; i++) {
		uint32_t frame = p->all.data[order[i]].frame;

		if (frame != SHOWN_MERGED)
			ret[i] = frame_at(s, frame);
	}
	free(order);
	free(first);
	return ret;
}

struct ranked_variant {
	size_t n;
	uint32_t index;
};

static int by_count(const void *pa, const void *pb)
{
	const struct ranked_variant *a = pa, *b = pb;

	if (a->n != b->n)
		return a->n < b->n ? 1 : -1;
	return (a->index > b->index) - (a->index < b->index);
}

/* Put the variants of one node in order, the most frequent first. */
static void rank_variants(struct page_places *p, uint32_t *variants, size_t n)
{
	struct ranked_variant *ranks = xcalloc(n + 1, sizeof(*ranks));

	for (size_t i = 0; i < n; i++)
		ranks[i] = (struct ranked_variant){ p->nodes.data[variants[i]].n, variants[i] };
	qsort(ranks, n, sizeof(*ranks), by_count);
	for (size_t i = 0; i < n; i++) {
		variants[i] = ranks[i].index;
		p->nodes.data[variants[i]].variant = i;
	}
	free(ranks);
}

void page_places_number(struct page_places *p, const struct page_tree *t)
{
	uint32_t *first, *order, *used;

	order = nodes_by_node(p, t->nodes.len, &first);
	for (size_t node = 0; node < t->nodes.len; node++) {
		if (first[node + 1] - first[node] > 1)
			rank_variants(p, order + first[node], first[node + 1] - first[node]);
	}
	p->order.len = 0;
	for (size_t i = 0; i < p->nodes.len; i++)
		vec_push(&p->order, order[i]);
	intern_free(&p->edges);
	map_free(&p->by_place);
	used = xcalloc(t->funcs.len + 1, sizeof(*used));
	vec_for_each (place, &p->all)
		place->rank = used[place->func]++;
	free(used);
	free(first);
	free(order);
}

/* --- writing --- */

struct putting {
	struct view_state *v;
	const struct page_places *p;
	struct place_list *lines, *pcs;
};

static void put_names(struct place_list *l, struct buf *b)
{
	buf_puts(b, "[");
	for (size_t i = 0; i < place_list_len(l); i++) {
		buf_puts(b, i ? "," : "");
		json_put_string(b, place_list_name(l, i));
	}
	buf_puts(b, "]");
}

static void find_keys(const struct putting *pu, const struct place *place,
		      const struct page_tree *t, uint32_t keys[2])
{
	struct session *s = pu->v->session;
	struct func *f = s->funcs.data[t->funcs.data[place->func]];
	const struct func *whole = place->frame == SHOWN_MERGED ? f : NULL;
	struct frame frame = { .func = f, .body = f };

	if (!whole)
		frame = frame_at(s, place->frame);
	keys[0] = place_list_key(pu->lines, &frame, whole);
	keys[1] = place_list_key(pu->pcs, &frame, whole);
}

/* The places of each function, with the keys of their lines and pcs; then the names. */
static void put_keys(const struct putting *pu, const struct page_tree *t, struct pack *ret)
{
	uint32_t *first, *order, (*keys)[2] = xcalloc(pu->p->all.len + 1, sizeof(*keys));
	static const char *const tags[] = { "plln", "plpc" };

	order = places_by_func(pu->p, t->funcs.len, &first);
	pack_begin(ret, "plfn");
	for (size_t f = 0; f < t->funcs.len; f++)
		pack_uint(ret, first[f + 1] - first[f]);
	pack_end(ret);
	for (size_t i = 0; i < pu->p->all.len; i++)
		find_keys(pu, &pu->p->all.data[order[i]], t, keys[i]);
	for (int k = 0; k < 2; k++) {
		pack_begin(ret, tags[k]);
		for (size_t i = 0; i < pu->p->all.len; i++)
			pack_int(ret, (int64_t)keys[i][k] - (i ? keys[i - 1][k] : 0));
		pack_end(ret);
	}
	free(order);
	free(first);
	free(keys);
	pack_begin(ret, "plnm");
	buf_puts(&ret->bytes, "{\"lines\":");
	put_names(pu->lines, &ret->bytes);
	buf_puts(&ret->bytes, ",\"pcs\":");
	put_names(pu->pcs, &ret->bytes);
	buf_puts(&ret->bytes, "}");
	pack_end(ret);
}

static void put_variants(const struct page_places *p, const struct page_tree *t, struct pack *ret)
{
	uint32_t *n = xcalloc(t->nodes.len + 1, sizeof(*n));

	for (size_t i = 1; i < p->nodes.len; i++)
		n[p->nodes.data[i].node]++;
	pack_begin(ret, "vcnt");
	for (size_t node = 1; node < t->nodes.len; node++)
		pack_uint(ret, n[node]);
	pack_end(ret);
	pack_begin(ret, "vpar");
	for (size_t i = 1; i < p->order.len; i++)
		pack_uint(ret, p->nodes.data[p->nodes.data[p->order.data[i]].parent].variant);
	pack_end(ret);
	pack_begin(ret, "vplc");
	for (size_t i = 1; i < p->order.len; i++)
		pack_uint(ret, p->all.data[p->nodes.data[p->order.data[i]].place].rank);
	pack_end(ret);
	free(n);
}

void put_places(struct view_state *v, const struct page_places *p, const struct page_tree *t,
		struct pack *ret)
{
	struct putting pu = { .v = v,
			      .p = p,
			      .lines = place_list_new(v, PLACES_LINES),
			      .pcs = place_list_new(v, PLACES_PCS) };

	put_keys(&pu, t, ret);
	put_variants(p, t, ret);
	place_list_free(pu.lines);
	place_list_free(pu.pcs);
}

void page_places_free(struct page_places *p)
{
	vec_free(&p->nodes);
	vec_free(&p->all);
	vec_free(&p->order);
	intern_free(&p->edges);
	map_free(&p->by_place);
}
