/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/unwind/publish.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "loaders/unwind.h"

enum {
	SMALLEST = 4,       /* log 2 of the smallest room */
	CLASSES = 15 - SMALLEST,
	GRACE_NS = 1000000000, /* longer than any walk takes */
};

_Static_assert(1 << (SMALLEST + CLASSES - 1) == ER_SPACE_RANGES, "the largest room");

/* Slots that nothing refers to any more. BPF programs may still read them for GRACE_NS. */
struct free_slots {
	uint32_t first;
	uint64_t since_ns;
};

struct publisher {
	struct unwind_maps *maps;
	struct er_range *ranges;
	uint32_t used; /* slots below this one have been given out */
	VEC(struct free_slots) free[CLASSES]; /* by log 2 of their room, oldest first */
	VEC(struct image *) changed;
	VEC(struct er_range) listed; /* of one space */
	uint64_t now_ns, nfull;
};

struct publisher *publisher_new(struct unwind_maps *maps)
{
	struct publisher *p = xcalloc(1, sizeof(*p));

	p->maps = maps;
	p->ranges = unwind_maps_ranges(maps);
	return p;
}

void publisher_free(struct publisher *p)
{
	if (!p)
		return;
	for (int i = 0; i < CLASSES; i++)
		vec_free(&p->free[i]);
	vec_free(&p->changed);
	vec_free(&p->listed);
	free(p);
}

/* --- slots --- */

static unsigned class_of(size_t n)
{
	unsigned c = 0;

	while ((size_t)1 << (c + SMALLEST) < n)
		c++;
	return c;
}

static bool alloc_slots(struct publisher *p, unsigned class, uint32_t *first)
{
	uint32_t room = 1 << (class + SMALLEST);

	if (p->free[class].len && p->free[class].data[0].since_ns + GRACE_NS < p->now_ns) {
		*first = p->free[class].data[0].first;
		memmove(p->free[class].data, p->free[class].data + 1,
			--p->free[class].len * sizeof(struct free_slots));
		return true;
	}
	if (p->used + room > ER_MAX_RANGES)
		return false;
	*first = p->used;
	p->used += room;
	return true;
}

static void free_slots(struct publisher *p, struct image *im)
{
	struct image_ranges *r = &im->ranges;

	if (r->room)
		vec_push(&p->free[class_of(r->room)], (struct free_slots){ r->first, p->now_ns });
	r->room = 0;
}

/* --- publishing --- */

static void list_ranges(struct publisher *p, const struct space *sp)
{
	p->listed.len = 0;
	vec_for_each(m, &sp->maps)
		vec_push(&p->listed, (struct er_range){
			.start = m->start, .end = m->start + m->len,
			.frame = m->file ? er_frame(m->file, m->pgoff) : 0 });
}

static struct er_space_key key_of(const struct image *im)
{
	return (struct er_space_key){ .start_time = im->ranges.start_time, .tgid = im->pid,
				      .exec_id = im->ranges.exec_id };
}

/* New slots each time, so that a walk sees either the old ranges or the new ones. */
static void publish(struct publisher *p, struct image *im)
{
	struct er_space_key key = key_of(im);
	struct er_space space = { .tag = er_space_tag(&key) };
	unsigned class;

	list_ranges(p, im->space);
	class = class_of(p->listed.len);
	free_slots(p, im);
	if (class < CLASSES && alloc_slots(p, class, &space.first)) {
		memcpy(p->ranges + space.first, p->listed.data, p->listed.len * sizeof(*p->ranges));
		space.n = p->listed.len;
		im->ranges.first = space.first;
		im->ranges.room = 1 << (class + SMALLEST);
	} else {
		p->nfull++;
	}
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	unwind_maps_space(p->maps, &key, &space);
	im->ranges.changed = false;
}

void publisher_add(struct publisher *p, struct image *im, uint64_t start_time, uint32_t exec_id)
{
	if (im->ranges.known)
		return;
	im->ranges.known = true;
	im->ranges.start_time = start_time;
	im->ranges.exec_id = exec_id;
	publish(p, im);
}

bool publisher_hotspot(struct publisher *p, const struct image *im, const struct er_hotspot *vm)
{
	struct er_space_key key = key_of(im);
	struct er_hotspot tagged = *vm;

	tagged.tag = er_space_tag(&key);
	return im->ranges.known && !unwind_maps_hotspot(p->maps, &key, &tagged);
}

void publisher_changed(struct publisher *p, struct image *im)
{
	vec_push(&p->changed, im);
}

void publisher_update(struct publisher *p, uint64_t now_ns)
{
	p->now_ns = now_ns;
	vec_for_each(im, &p->changed)
		publish(p, *im);
	p->changed.len = 0;
}

static void not_changed(struct publisher *p, const struct image *im)
{
	for (size_t i = 0; i < p->changed.len; i++)
		if (p->changed.data[i] == im)
			p->changed.data[i--] = p->changed.data[--p->changed.len];
}

void publisher_forget(struct publisher *p, struct image *im, uint64_t now_ns)
{
	struct er_space_key key = key_of(im);

	if (!im->ranges.known)
		return;
	p->now_ns = now_ns;
	if (im->ranges.changed)
		not_changed(p, im);
	unwind_maps_space(p->maps, &key, NULL);
	unwind_maps_hotspot(p->maps, &key, NULL);
	free_slots(p, im);
}

uint64_t publisher_full(const struct publisher *p)
{
	return p->nfull;
}

void publisher_restart_counts(struct publisher *p)
{
	p->nfull = 0;
}
