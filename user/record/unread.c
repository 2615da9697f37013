/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/unread.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "user/record/stacks.h"

enum {
	PATIENCE_NS = 1000000000,
	MAX_BYTES = 4 << 20, /* held; a hostile process may make any number of such stacks */
};

struct held {
	struct er_stack *first; /* NULL: it has not come yet, */
	struct er_stack *again; /* and the second walk */
	uint64_t id;
	uint64_t since_ns;      /* 0: no call has seen it yet */
};

struct unread {
	struct stacks *stacks;
	VEC(struct held) held;
	struct map places; /* by id: 1 + the index in `held` */
	size_t bytes;
	uint64_t nheld, nagain, ncomplete, nmended;
};

struct unread *unread_new(struct stacks *stacks)
{
	struct unread *u = xcalloc(1, sizeof(*u));

	u->stacks = stacks;
	return u;
}

static size_t size_of(const struct er_stack *s)
{
	return s ? sizeof(*s) + ((size_t)s->nkernel + s->nuser) * sizeof(s->pcs[0]) : 0;
}

static void held_free(struct unread *u, struct held *h)
{
	u->bytes -= size_of(h->first) + size_of(h->again);
	free(h->first);
	free(h->again);
}

void unread_free(struct unread *u)
{
	if (!u)
		return;
	vec_for_each(h, &u->held)
		held_free(u, h);
	vec_free(&u->held);
	map_free(&u->places);
	free(u);
}

void unread_restart(struct unread *u)
{
	u->nheld = u->nagain = u->ncomplete = u->nmended = 0;
	vec_for_each(h, &u->held)
		u->nheld += h->first != NULL;
}

static struct held *held_of(struct unread *u, uint64_t id)
{
	uint64_t *place = map_put(&u->places, id, NULL);

	if (!*place) {
		vec_push(&u->held, (struct held){ .id = id });
		*place = u->held.len;
	}
	return &u->held.data[*place - 1];
}

/* Pass it on as if BPF had sent it like this. */
static void hand_on(struct unread *u, const struct er_stack *s)
{
	struct {
		struct er_stack s;
		uint64_t pcs[ER_MAX_FRAMES];
	} whole;

	memcpy(&whole, s, size_of(s));
	whole.s.flags &= ~(ER_STACK_UNREAD | ER_STACK_AGAIN);
	stacks_keep_equal(u->stacks, &whole.s);
}

void unread_take(struct unread *u, const struct er_stack *s)
{
	struct held *h;
	struct er_stack **at;

	if (u->bytes >= MAX_BYTES && !unread_pending(u, s->id)) {
		if (s->flags & ER_STACK_UNREAD)
			hand_on(u, s);
		return;
	}
	h = held_of(u, s->id);
	at = s->flags & ER_STACK_UNREAD ? &h->first : &h->again;
	if (*at)
		return;
	*at = memcpy(xmalloc(size_of(s)), s, size_of(s));
	u->bytes += size_of(s);
	u->nheld += at == &h->first;
}

/* The kernel frames of the first, the user frames of the second. */
static void hand_on_both(struct unread *u, const struct held *h)
{
	const uint16_t of_walk = ER_STACK_USER_TRUNCATED | ER_STACK_USER_FAILED | ER_STACK_GUESSED;
	const struct er_stack *first = h->first, *again = h->again;
	struct {
		struct er_stack s;
		uint64_t pcs[ER_MAX_FRAMES];
	} both = { .s = *first };

	both.s.flags = (first->flags & ~of_walk) | (again->flags & of_walk);
	both.s.end = again->end;
	both.s.nuser = again->nuser;
	memcpy(both.pcs, first->pcs, first->nkernel * sizeof(first->pcs[0]));
	memcpy(both.pcs + first->nkernel, again->pcs + again->nkernel, again->nuser * sizeof(first->pcs[0]));
	u->nagain++;
	u->ncomplete += again->end == ER_END_PROVEN;
	u->nmended += !first->nuser && again->nuser;
	hand_on(u, &both.s);
}

/* False: it is to be held on. The second walk may find less, if tables were replaced meanwhile. */
static bool settle(struct unread *u, const struct held *h, bool late)
{
	if (h->first && h->again && (h->again->nuser >= h->first->nuser || h->again->end == ER_END_PROVEN))
		hand_on_both(u, h);
	else if (h->first && (h->again || late))
		hand_on(u, h->first);
	else
		return late;
	return true;
}

void unread_process(struct unread *u, uint64_t now_ns, bool last)
{
	size_t n = 0;

	for (size_t i = 0; i < u->held.len; i++) {
		struct held h = u->held.data[i];
		bool late = last || (h.since_ns && h.since_ns + PATIENCE_NS < now_ns);

		if (settle(u, &h, late)) {
			map_remove(&u->places, h.id);
			held_free(u, &h);
			continue;
		}
		h.since_ns = h.since_ns ? h.since_ns : now_ns;
		u->held.data[n++] = h;
		*map_put(&u->places, h.id, NULL) = n;
	}
	u->held.len = n;
}

bool unread_pending(const struct unread *u, uint64_t id)
{
	return map_get(&u->places, id);
}

size_t unread_waiting(const struct unread *u)
{
	return u->held.len;
}

uint64_t unread_oldest(const struct unread *u, uint64_t now_ns)
{
	vec_for_each(h, &u->held)
		if (h->first && h->first->h.time_ns < now_ns)
			now_ns = h->first->h.time_ns;
	return now_ns;
}

uint64_t unread_mended(const struct unread *u)
{
	return u->nmended;
}

void unread_write(const struct unread *u, struct buf *b)
{
	buf_printf(b, "<unread held=\"%" PRIu64 "\" again=\"%" PRIu64 "\" complete=\"%" PRIu64 "\"/>\n", u->nheld,
		   u->nagain, u->ncomplete);
}
