/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/views/locktaken.h"

#include "analysis/base/sort.h"
#include "analysis/experiment/packet.h"

struct lock_taken *lock_takings_at(struct lock_takings *lt, uint32_t lock)
{
	bool fresh;
	uint64_t *at = map_put(&lt->by_lock, lock, &fresh);

	if (fresh) {
		*at = lt->all.len;
		vec_push(&lt->all, (struct lock_taken){ .lock = lock, .waited = LOCK_NOT_WAITED });
	}
	return &lt->all.data[*at];
}

void lock_takings_free(struct lock_takings *lt)
{
	map_free(&lt->by_lock);
	vec_free(&lt->all);
}

/* A lock that threads waited for, or one that was counted. */
struct object {
	const struct user_lock *lock;
	uint32_t id;
	struct lock_taken *taken; /* NULL: it was waited for */
};

typedef VEC(struct object) object_vec;

static int lock_cmp(const struct user_lock *a, const struct user_lock *b)
{
	if (a->origin != b->origin)
		return a->origin < b->origin ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return (a->address > b->address) - (a->address < b->address);
}

/* At equal addresses the counted object comes first. */
static int object_cmp(const void *pa, const void *pb)
{
	const struct object *a = pa, *b = pb;
	int c = lock_cmp(a->lock, b->lock);

	return c ? c : !a->taken - !b->taken;
}

static bool contains(const struct object *counted, const struct user_lock *waited)
{
	const struct user_lock *l = counted->lock;

	return l->origin == waited->origin && l->pid == waited->pid && l->address &&
	       waited->address - l->address < lock_descs[counted->taken->kind].size;
}

void lock_takings_match(struct lock_takings *lt, const struct lock_set *set, const struct map *waits)
{
	const struct object *last = NULL;
	object_vec all = { 0 };

	vec_for_each(t, &lt->all)
		vec_push(&all, (struct object){ &set->all.data[t->lock], t->lock, t });
	map_for_each(w, waits)
		vec_push(&all, (struct object){ &set->all.data[w->key], w->key, NULL });
	vec_sort(&all, object_cmp);
	vec_for_each(o, &all) {
		if (o->taken)
			last = o;
		else if (last && contains(last, o->lock) && last->taken->waited == LOCK_NOT_WAITED)
			last->taken->waited = o->id;
	}
	vec_free(&all);
}
