/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/views/waitbag.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/map.h"

struct wait_stat *wait_bag_at(struct wait_bag *bag, const uint32_t key[WAIT_KEYS])
{
	struct wait_sum sum;
	uint64_t words[WAIT_KEYS / 2], hash;
	struct intern_probe probe;
	uint32_t id1;

	_Static_assert(sizeof(words) == sizeof(sum.key), "a word has two keys");
	memcpy(words, key, sizeof(words));
	hash = hash_words(words, WAIT_KEYS / 2);
	probe = intern_probe(hash);
	while ((id1 = intern_next(&bag->ids, &probe))) {
		if (!memcmp(bag->sums.data[id1 - 1].key, key, sizeof(sum.key)))
			return &bag->sums.data[id1 - 1].stat;
	}
	memcpy(sum.key, key, sizeof(sum.key));
	wait_stat_init(&sum.stat, bag->ngroups);
	vec_push(&bag->sums, sum);
	return &bag->sums.data[intern_add(&bag->ids, hash)].stat;
}

void wait_bag_free(struct wait_bag *bag)
{
	vec_for_each(s, &bag->sums)
		wait_stat_fini(&s->stat);
	intern_free(&bag->ids);
	vec_free(&bag->sums);
}

void wait_bag_by(const struct wait_bag *from, unsigned mask, struct wait_bag *ret)
{
	*ret = (struct wait_bag){ .ngroups = from->ngroups, .by_difference = from->by_difference };
	vec_for_each(s, &from->sums) {
		uint32_t key[WAIT_KEYS] = { 0 };

		for (int i = 0; i < WAIT_KEYS; i++)
			key[i] = mask >> i & 1 ? s->key[i] : 0;
		wait_stat_merge(wait_bag_at(ret, key), &s->stat);
	}
}

static int64_t difference(const struct wait_stat *ws)
{
	int64_t d = ws->groups[ws->ngroups - 1].time_ns - ws->groups[0].time_ns;

	return d < 0 ? -d : d;
}

/* Keys break ties, so that the order of packets does not change a report. */
static int keys_cmp(const struct wait_sum *a, const struct wait_sum *b)
{
	return memcmp(a->key, b->key, sizeof(a->key));
}

static int sum_cmp(const void *pa, const void *pb)
{
	const struct wait_sum *a = *(const struct wait_sum *const *)pa;
	const struct wait_sum *b = *(const struct wait_sum *const *)pb;

	if (a->stat.time_ns != b->stat.time_ns)
		return a->stat.time_ns > b->stat.time_ns ? -1 : 1;
	return keys_cmp(a, b);
}

static int difference_cmp(const void *pa, const void *pb)
{
	const struct wait_sum *a = *(const struct wait_sum *const *)pa;
	const struct wait_sum *b = *(const struct wait_sum *const *)pb;
	int64_t da = difference(&a->stat), db = difference(&b->stat);

	if (da != db)
		return da > db ? -1 : 1;
	return keys_cmp(a, b);
}

static void sort_sums(const struct wait_bag *bag, sum_vec *sums)
{
	vec_sort(sums, bag->by_difference ? difference_cmp : sum_cmp);
}

void wait_bag_sorted(const struct wait_bag *bag, sum_vec *ret)
{
	*ret = (sum_vec){ 0 };
	vec_for_each(s, &bag->sums)
		vec_push(ret, s);
	sort_sums(bag, ret);
}

struct wait_stat wait_bag_total(const struct wait_bag *bag)
{
	struct wait_stat total;

	wait_stat_init(&total, bag->ngroups);
	vec_for_each(s, &bag->sums)
		wait_stat_merge(&total, &s->stat);
	return total;
}

/* --- groups --- */

static uint64_t hash_keys(const uint32_t *key, size_t n)
{
	uint64_t hash = n;

	for (size_t i = 0; i < n; i++)
		hash = hash64(hash ^ key[i]);
	return hash;
}

/* The number + 1 of the group with these keys; 0: there is none. */
static uint32_t find_group(const struct wait_groups *g, const uint32_t *key)
{
	struct intern_probe probe = intern_probe(hash_keys(key, g->nkeys));
	uint32_t id1;

	while ((id1 = intern_next(&g->ids, &probe))) {
		if (!memcmp(g->bag->sums.data[g->one[id1 - 1]].key, key, g->nkeys * sizeof(*key)))
			break;
	}
	return id1;
}

void wait_groups_init(struct wait_groups *g, const struct wait_bag *bag, size_t nkeys)
{
	size_t n = bag->sums.len;
	uint32_t *group = xcalloc(n + 1, sizeof(*group));

	*g = (struct wait_groups){ .bag = bag, .nkeys = nkeys, .one = xcalloc(n + 1, sizeof(*g->one)) };
	for (size_t i = 0; i < n; i++) {
		const uint32_t *key = bag->sums.data[i].key;
		uint32_t id1 = find_group(g, key);

		group[i] = id1 ? id1 - 1 : intern_add(&g->ids, hash_keys(key, nkeys));
		if (!id1)
			g->one[group[i]] = i;
	}
	g->order = sort_by_group(group, n, g->ids.len, &g->first);
	free(group);
}

void wait_groups_sorted(const struct wait_groups *g, const uint32_t *key, sum_vec *ret)
{
	uint32_t id1 = find_group(g, key);

	*ret = (sum_vec){ 0 };
	for (uint32_t i = id1 ? g->first[id1 - 1] : 0; id1 && i < g->first[id1]; i++)
		vec_push(ret, &g->bag->sums.data[g->order[i]]);
	sort_sums(g->bag, ret);
}

void wait_groups_free(struct wait_groups *g)
{
	intern_free(&g->ids);
	free(g->one);
	free(g->order);
	free(g->first);
}
