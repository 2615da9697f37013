/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_coarse.h"

#include <string.h>

#include "analysis/base/intern.h"
#include "analysis/base/map.h"
#include "analysis/base/wrap.h"
#include "analysis/export/page_events.h"
#include "analysis/export/page_pack.h"

/* At the last level all slices are one range. */
enum { LEVELS = 5 };

typedef VEC(struct page_event) event_vec;

/* A range that can become coarse. */
struct candidate {
	double keep;          /* the smallest becomes coarse first */
	unsigned first;       /* slice */
	bool chosen;
	event_vec merged;
};

struct coarsening {
	struct page_coarse *c;
	struct page_events *events;
	size_t first[COARSE_SLICES + 1]; /* index of the first event of each slice */
	double keep[COARSE_SLICES];
	struct candidate candidates[COARSE_SLICES];
	size_t n;
};

static unsigned slices_of(int level)
{
	return 1U << 2 * (level - 1);
}

/* Where a slice begins. */
static int64_t edge(const struct page_coarse *c, unsigned slice)
{
	uint64_t span = (uint64_t)c->end - (uint64_t)c->begin, each = span / COARSE_SLICES + 1;

	if (slice && each > span / slice)
		return c->end;
	return wrap_plus(c->begin, (int64_t)(each * slice));
}

static void find_slices(struct coarsening *co)
{
	size_t i = 0;

	for (unsigned s = 0; s <= COARSE_SLICES; s++) {
		int64_t from = edge(co->c, s);

		while (i < co->events->all.len &&
		       (s == COARSE_SLICES || co->events->all.data[i].end < from))
			i++;
		co->first[s] = i;
	}
	co->first[0] = 0;
}

/*
 * What is worth keeping: the newest slices, and those with the most CPU time. Each counts from 0
 * to 1.
 */
static void rate_slices(struct coarsening *co)
{
	double cpu[COARSE_SLICES] = { 0 }, most = 1;

	for (unsigned s = 0; s < COARSE_SLICES; s++) {
		for (size_t i = co->first[s]; i < co->first[s + 1]; i++) {
			const struct page_event *ev = &co->events->all.data[i];

			if (!class_is_wait(&co->events->classes.data[ev->event_class]))
				cpu[s] += (double)ev->weight;
		}
		most = cpu[s] > most ? cpu[s] : most;
	}
	for (unsigned s = 0; s < COARSE_SLICES; s++)
		co->keep[s] = (double)s / COARSE_SLICES + cpu[s] / most;
}

/* The event in `merged` that differs from `ev` only in time and length; made if there is none. */
static struct page_event *merged_at(struct page_events *events, event_vec *merged, struct intern *ids,
				    const struct page_event *ev)
{
	uint32_t key[] = { ev->thread, ev->path, ev->event_class, ev->waker, ev->holder,
			   ev->waker_path, ev->cpu, ev->length > 0, ev->spans, ev->variant, ev->lock, ev->objects };
	uint64_t words[sizeof(key) / sizeof(uint64_t)], hash;
	struct intern_probe probe;
	uint32_t id1;

	memcpy(words, key, sizeof(words));
	hash = hash_words(words, sizeof(words) / sizeof(words[0]));
	probe = intern_probe(hash);
	while ((id1 = intern_next(ids, &probe))) {
		struct page_event *m = &merged->data[id1 - 1];

		if (m->thread == ev->thread && m->path == ev->path && m->cpu == ev->cpu &&
		    m->event_class == ev->event_class && m->waker == ev->waker &&
		    m->holder == ev->holder && m->waker_path == ev->waker_path && m->spans == ev->spans &&
		    m->variant == ev->variant && m->lock == ev->lock && m->objects == ev->objects &&
		    (m->length > 0) == (ev->length > 0))
			return m;
	}
	vec_push(merged, *ev);
	intern_add(ids, hash);
	merged->data[merged->len - 1].weight = 0;
	merged->data[merged->len - 1].merged = 0;
	merged->data[merged->len - 1].sums = events->sums.len;
	vec_push(&events->sums, (struct merged_sums){ 0 });
	return &merged->data[merged->len - 1];
}

static int by_end(const void *pa, const void *pb)
{
	const struct page_event *a = pa, *b = pb;

	return (a->end > b->end) - (a->end < b->end);
}

/* An event that equals no other one stays as it was recorded. */
static void keep_single(struct coarsening *co, struct candidate *ca, const size_t *firsts)
{
	for (size_t i = 0; i < ca->merged.len; i++) {
		if (ca->merged.data[i].merged == 1)
			ca->merged.data[i] = co->events->all.data[firsts[i]];
	}
	vec_sort(&ca->merged, by_end);
}

/* A merged event extends over its whole range. */
static void merge(struct coarsening *co, struct candidate *ca, int level)
{
	unsigned last = ca->first + slices_of(level);
	int64_t from = edge(co->c, ca->first), to = edge(co->c, last);
	struct intern ids = { 0 };
	VEC(size_t) firsts = { 0 }; /* by merged event: the index of the first one in it */

	for (size_t i = co->first[ca->first]; i < co->first[last]; i++) {
		const struct page_event *ev = &co->events->all.data[i];
		struct page_event *m = merged_at(co->events, &ca->merged, &ids, ev);

		if (firsts.len < ca->merged.len)
			vec_push(&firsts, i);
		co->events->sums.data[m->sums].squares += page_event_squares(co->events, ev);
		co->events->sums.data[m->sums].variance += page_event_variance(co->events, ev);
		add_to(&m->weight, ev->weight);
		m->merged += ev->merged ? ev->merged : 1;
		m->end = wrap_minus(to, 1);
		m->length = m->length > 0 ? wrap_minus(to, from) : m->length;
	}
	keep_single(co, ca, firsts.data);
	ca->chosen = true;
	vec_free(&firsts);
	intern_free(&ids);
}

static int by_keep(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;

	if (a->keep != b->keep)
		return a->keep < b->keep ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

static int by_first(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;

	return (a->first > b->first) - (a->first < b->first);
}

/* The ranges of a level whose parts are all at the level before it. */
static void find_candidates(struct coarsening *co, int level)
{
	unsigned size = slices_of(level);

	co->n = 0;
	for (unsigned s = 0; s < COARSE_SLICES; s += size) {
		struct candidate ca = { .first = s };
		bool ready = true;

		for (unsigned k = s; k < s + size; k++) {
			ready &= co->c->level[k] == level - 1;
			ca.keep += co->keep[k] / size;
		}
		if (ready)
			co->candidates[co->n++] = ca;
	}
	qsort(co->candidates, co->n, sizeof(co->candidates[0]), by_keep);
}

/* Put merged events in the place of those that they were made from. */
static void replace(struct coarsening *co, int level)
{
	event_vec all = { 0 };
	size_t from = 0;

	qsort(co->candidates, co->n, sizeof(co->candidates[0]), by_first);
	for (size_t i = 0; i < co->n; i++) {
		struct candidate *ca = &co->candidates[i];
		unsigned last = ca->first + slices_of(level);

		if (!ca->chosen)
			continue;
		for (; from < co->first[ca->first]; from++)
			vec_push(&all, co->events->all.data[from]);
		vec_for_each(ev, &ca->merged)
			vec_push(&all, *ev);
		from = co->first[last];
		memset(&co->c->level[ca->first], level, slices_of(level));
		vec_free(&ca->merged);
	}
	for (; from < co->events->all.len; from++)
		vec_push(&all, co->events->all.data[from]);
	vec_free(&co->events->all);
	memcpy(&co->events->all, &all, sizeof(all));
}

static void find_ranges(struct page_coarse *c)
{
	unsigned size;

	c->ranges.len = 0;
	for (unsigned s = 0; s < COARSE_SLICES; s += size) {
		int64_t from = edge(c, s);

		size = c->level[s] ? slices_of(c->level[s]) : 1;
		if (c->level[s] && from < edge(c, s + size))
			vec_push(&c->ranges, (struct coarse_range){ from, edge(c, s + size) });
	}
}

bool page_coarsen(struct page_coarse *c, struct page_events *events, size_t most)
{
	struct coarsening co = { .c = c, .events = events };

	for (int level = 1; level <= LEVELS && events->all.len > most; level++) {
		size_t left = events->all.len;

		find_slices(&co);
		rate_slices(&co);
		find_candidates(&co, level);
		for (size_t i = 0; i < co.n && left > most; i++) {
			struct candidate *ca = &co.candidates[i];

			merge(&co, ca, level);
			left -= co.first[ca->first + slices_of(level)] - co.first[ca->first];
			left += ca->merged.len;
		}
		replace(&co, level);
	}
	find_ranges(c);
	return events->all.len <= most;
}

void put_coarse(struct pack *p, const struct page_coarse *c, const struct page_events *events)
{
	int64_t before = c->begin;

	pack_begin(p, "crse");
	pack_uint(p, events->all.len);
	vec_for_each(r, &c->ranges) {
		pack_int(p, wrap_minus(r->from, before));
		pack_uint(p, (uint64_t)r->to - (uint64_t)r->from);
		before = r->to;
	}
	pack_end(p);
}

void page_coarse_free(struct page_coarse *c)
{
	vec_free(&c->ranges);
}
