/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A mapping is a rectangle in the plane of addresses and times. A change that replaces
 * a part of it cuts the rectangle. Each cut adds at most two pieces, so n changes leave
 * at most 3n disjoint pieces.
 *
 * While changes are added, live pieces are in a search tree. Its comparison treats
 * overlapping ranges as equal, so tfind with a range finds any live piece that overlaps
 * it. Afterwards the pieces are sorted by first address, each with the highest end of
 * all before it. A lookup goes down from the last piece that begins at or below the
 * address. Real address spaces take one or two steps. Hostile ones may take many, so
 * steps are counted; when the limit is reached addresses are unknown.
 */
#include "analysis/model/addrmap.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/vec.h"

enum { STEPS = 1 << 28 };

struct piece {
	uint64_t lo, hi; /* lo <= address < hi */
	struct span life;
	uint32_t mapping;
	uint64_t reach; /* highest hi of this and all pieces before it */
	struct piece *other; /* next piece of the same mapping, while changes are added */
	bool dead;
};

struct addrmap {
	VEC(struct mapping) mappings;
	VEC(struct piece *) pieces_of; /* by mapping */
	VEC(struct piece) pieces; /* dead ones; after addrmap_finish all */
	VEC(uint64_t) begins;     /* of pieces after addrmap_finish: all that a search reads */
	void *live;               /* tsearch tree of struct piece */
	struct arena arena;
	uint64_t steps;
};

static int piece_cmp(const void *pa, const void *pb)
{
	const struct piece *a = pa, *b = pb;

	if (a->hi <= b->lo)
		return -1;
	return a->lo >= b->hi;
}

static int piece_by_address(const void *pa, const void *pb)
{
	const struct piece *a = pa, *b = pb;

	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	return (a->life.from > b->life.from) - (a->life.from < b->life.from);
}

struct addrmap *addrmap_new(void)
{
	return xcalloc(1, sizeof(struct addrmap));
}

static void keep_node(void *p)
{
	/* pieces are freed with the arena */
}

void addrmap_free(struct addrmap *m)
{
	if (!m)
		return;
	tdestroy(m->live, keep_node);
	vec_free(&m->mappings);
	vec_free(&m->pieces_of);
	vec_free(&m->pieces);
	vec_free(&m->begins);
	arena_free(&m->arena);
	free(m);
}

static void live_add(struct addrmap *m, struct piece piece)
{
	struct piece *p = arena_alloc(&m->arena, sizeof(*p));

	*p = piece;
	p->other = m->pieces_of.data[piece.mapping];
	m->pieces_of.data[piece.mapping] = p;
	if (!tsearch(p, &m->live, piece_cmp))
		abort(); /* libc's tree is out of memory */
}

/* End the life of p within [lo, hi). A piece that began at the same moment is dropped. */
static void live_end(struct addrmap *m, struct piece *p, uint64_t lo, uint64_t hi, int64_t time_ns)
{
	struct piece dead = *p;

	tdelete(p, &m->live, piece_cmp);
	p->dead = true;
	if (dead.life.from >= time_ns)
		return;
	dead.lo = dead.lo > lo ? dead.lo : lo;
	dead.hi = dead.hi < hi ? dead.hi : hi;
	dead.life.to = time_ns;
	vec_push(&m->pieces, dead);
}

static bool same_place(const struct mapping *a, const struct mapping *b)
{
	return a->obj == b->obj && a->func == b->func &&
	       a->vaddr - (uint64_t)a->foffset == b->vaddr - (uint64_t)b->foffset;
}

void addrmap_add(struct addrmap *m, int64_t time_ns, const struct mapping *what)
{
	struct piece new = { .lo = what->vaddr, .hi = what->vaddr + what->size,
			     .life = { time_ns, INT64_MAX }, .mapping = m->mappings.len };
	struct piece **found;

	if (!what->size)
		return;
	if (new.hi < new.lo)
		new.hi = UINT64_MAX;
	while ((found = tfind(&new, &m->live, piece_cmp))) {
		struct piece *old = *found, left = *old, right = *old;

		if (old->lo <= new.lo && old->hi >= new.hi &&
		    same_place(&m->mappings.data[old->mapping], what))
			return; /* the same change again */
		live_end(m, old, new.lo, new.hi, time_ns);
		left.hi = new.lo;
		right.lo = new.hi;
		if (left.lo < left.hi)
			live_add(m, left);
		if (right.lo < right.hi)
			live_add(m, right);
	}
	vec_push(&m->mappings, *what);
	vec_push(&m->pieces_of, NULL);
	live_add(m, new);
}

void addrmap_unmap(struct addrmap *m, int64_t time_ns, uint64_t vaddr)
{
	struct piece at = { .lo = vaddr, .hi = vaddr + 1 };
	struct piece **found = tfind(&at, &m->live, piece_cmp);

	/* Ends all pieces that later mappings left of this one. */
	for (struct piece *p = found ? m->pieces_of.data[(*found)->mapping] : NULL; p; p = p->other) {
		if (!p->dead)
			live_end(m, p, 0, UINT64_MAX, time_ns);
	}
}

static void collect(const void *node, VISIT visit, void *map)
{
	struct addrmap *m = map;

	if (visit == postorder || visit == leaf)
		vec_push(&m->pieces, **(struct piece *const *)node);
}

void addrmap_finish(struct addrmap *m)
{
	uint64_t reach = 0;

	twalk_r(m->live, collect, m);
	tdestroy(m->live, keep_node);
	m->live = NULL;
	vec_sort(&m->pieces, piece_by_address);
	vec_for_each(p, &m->pieces) {
		reach = p->hi > reach ? p->hi : reach;
		p->reach = reach;
		vec_push(&m->begins, p->lo);
	}
}

/* The number of pieces that begin at or below the address. Without branches: it has no pattern. */
static size_t begun(const struct addrmap *m, uint64_t pc)
{
	const uint64_t *at = m->begins.data;
	size_t n = m->begins.len, half;

	if (!n)
		return 0;
	for (; n > 1; n -= half) {
		half = n / 2;
		at += at[half - 1] <= pc ? half : 0;
	}
	return at - m->begins.data + (*at <= pc);
}

const struct mapping *addrmap_find(struct addrmap *m, uint64_t pc, int64_t time_ns,
				   struct span *valid)
{
	const struct piece *best = NULL;
	int64_t from = INT64_MIN; /* when the previous piece here ended */

	/*
	 * Of all pieces with pc, take the one that ends first after time_ns: it is
	 * mapped now, or comes next.
	 */
	for (size_t i = begun(m, pc); i > 0; i--) {
		const struct piece *p = &m->pieces.data[i - 1];

		if (p->reach <= pc || m->steps >= STEPS)
			break;
		m->steps++;
		if (p->hi <= pc)
			continue;
		if (p->life.to <= time_ns)
			from = p->life.to > from ? p->life.to : from;
		else if (!best || p->life.to < best->life.to)
			best = p;
	}
	if (from > valid->from)
		valid->from = from;
	if (best && best->life.to < valid->to)
		valid->to = best->life.to;
	return best ? &m->mappings.data[best->mapping] : NULL;
}

bool addrmap_exhausted(const struct addrmap *m)
{
	return m->steps >= STEPS;
}
