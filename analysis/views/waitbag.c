/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/views/waitbag.h"

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

void wait_bag_sorted(const struct wait_bag *bag, const uint32_t *key, size_t n, sum_vec *ret)
{
	*ret = (sum_vec){ 0 };
	vec_for_each(s, &bag->sums) {
		if (!n || !memcmp(s->key, key, n * sizeof(*key)))
			vec_push(ret, s);
	}
	vec_sort(ret, bag->by_difference ? difference_cmp : sum_cmp);
}

struct wait_stat wait_bag_total(const struct wait_bag *bag)
{
	struct wait_stat total;

	wait_stat_init(&total, bag->ngroups);
	vec_for_each(s, &bag->sums)
		wait_stat_merge(&total, &s->stat);
	return total;
}
