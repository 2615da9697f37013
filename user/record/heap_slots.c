/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/heap_slots.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "analysis/experiment/packet.h"

enum {
	MAX_NAMES = 1 << 16,  /* threads of one process */
	WAITING_MOST = 1 << 22, /* numbers that threads took and wait for their slots */
	PUBLISH_EVERY = 1024, /* slots: frees them for a process that waits */
};

struct name {
	char comm[16];
};

struct heap_reader {
	uint64_t tail;      /* the next slot to read */
	struct map threads; /* tid, to an index in `names` */
	VEC(struct name) names;
	/* A stack of which some slots are still to come. */
	struct {
		uint64_t id, time_ns;
		uint32_t tid, n, end, have; /* frames there are, and have come */
		bool open;
		uint64_t pcs[HEAP_FRAMES];
	} stack;
	/* Of heap_reader_counts. */
	VEC(uint64_t) seen;  /* the count of each slot as it was read last; DONE: there is nothing more to read */
	uint64_t counted_ns; /* when that was */
};

#define DONE UINT64_MAX

struct heap_reader *heap_reader_new(void)
{
	return xcalloc(1, sizeof(struct heap_reader));
}

void heap_reader_free(struct heap_reader *r)
{
	if (!r)
		return;
	map_free(&r->threads);
	vec_free(&r->names);
	vec_free(&r->seen);
	free(r);
}

/* Copy the slot. False: it has not been filled. */
static bool copy_slot(const struct heap_ring *ring, uint64_t number, struct heap_slot *ret)
{
	const struct heap_slot *s = (const struct heap_slot *)((const char *)ring + HEAP_SLOTS_AT) +
				    (number & (HEAP_SLOTS - 1));

	if (__atomic_load_n(&s->number, __ATOMIC_ACQUIRE) != number + 1)
		return false;
	memcpy(ret, s, sizeof(*ret));
	return true;
}

static void take_name(struct heap_reader *r, const struct heap_slot *s)
{
	uint64_t *at = map_get(&r->threads, s->tid);
	struct name n;

	memcpy(n.comm, s->words, sizeof(n.comm));
	n.comm[sizeof(n.comm) - 1] = 0;
	if (at) {
		r->names.data[*at] = n;
	} else if (r->names.len < MAX_NAMES) {
		*map_put(&r->threads, s->tid, NULL) = r->names.len;
		vec_push(&r->names, n);
	}
}

/* Take frames from the words of a slot. The stack is handed on when it is whole. */
static void take_frames(struct heap_reader *r, const uint64_t *words, uint32_t n,
			const struct heap_process *p, const struct heap_sink *sink)
{
	for (uint32_t i = 0; i < n && r->stack.have < r->stack.n; i++)
		r->stack.pcs[r->stack.have++] = words[i];
	if (r->stack.have < r->stack.n)
		return;
	r->stack.open = false;
	sink->stack(sink->ctx, p, r->stack.id, r->stack.time_ns, r->stack.pcs, r->stack.n, r->stack.end);
}

static bool begin_stack(struct heap_reader *r, const struct heap_slot *s)
{
	uint32_t n = s->words[2];

	r->stack.open = false;
	if (n > HEAP_FRAMES || !s->words[0])
		return false;
	r->stack.open = true;
	r->stack.id = s->words[0];
	r->stack.time_ns = s->words[1];
	r->stack.n = n;
	r->stack.end = s->words[2] >> 32;
	r->stack.tid = s->tid;
	r->stack.have = 0;
	return true;
}

static void hand_event(struct heap_reader *r, const struct heap_slot *s, const struct heap_process *p,
		       const struct heap_sink *sink)
{
	const uint64_t *at = map_get(&r->threads, s->tid);
	struct heap_record e = { .kind = s->kind, .tid = s->tid, .time_ns = s->words[0],
				 .stack = s->words[1], .size = s->words[2], .address = s->words[3],
				 .old = s->words[4] };

	if (at)
		memcpy(e.comm, r->names.data[*at].comm, sizeof(e.comm));
	sink->event(sink->ctx, p, &e);
}

static void hand_sample(struct heap_reader *r, const struct heap_slot *s, const struct heap_process *p,
			const struct heap_sink *sink)
{
	const uint64_t *at = map_get(&r->threads, s->tid);
	struct heap_sample k = { .tid = s->tid, .cpu = s->words[4], .time_ns = s->words[0],
				 .stack = s->words[1], .user_us = s->words[2], .system_us = s->words[3] };

	if (at)
		memcpy(k.comm, r->names.data[*at].comm, sizeof(k.comm));
	sink->sample(sink->ctx, p, &k);
}

/* A slot of er_clock.so. */
static bool take_clock(struct heap_reader *r, const struct heap_slot *s, const struct heap_process *p,
		       const struct heap_sink *sink)
{
	if (!sink->sample)
		return false;
	switch (s->kind) {
	case HEAP_SLOT_CLOCK:
		hand_sample(r, s, p, sink);
		return true;
	case HEAP_SLOT_PROCESS:
		sink->process(sink->ctx, p, &(struct heap_sample){ .tid = s->tid, .time_ns = s->words[0],
								  .user_us = s->words[1],
								  .system_us = s->words[2] });
		return true;
	case HEAP_SLOT_CODE:
		sink->code(sink->ctx, p, s->words[0]);
		return true;
	}
	return false;
}

/* False: no library writes such a slot here. */
static bool take_slot(struct heap_reader *r, const struct heap_slot *s, const struct heap_process *p,
		      const struct heap_sink *sink, struct heap_counts *counts)
{
	if (s->kind == HEAP_SLOT_FRAMES) {
		if (!r->stack.open || s->tid != r->stack.tid)
			return false;
		take_frames(r, s->words, HEAP_WORDS, p, sink);
		return true;
	}
	if (r->stack.open) { /* the slots of a stack are consecutive */
		r->stack.open = false;
		counts->malformed++;
	}
	if (s->kind < HEAP_SLOT_EVENTS) {
		hand_event(r, s, p, sink);
		counts->events++;
		return true;
	}
	if (s->kind == HEAP_SLOT_THREAD) {
		take_name(r, s);
		return true;
	}
	if (s->kind != HEAP_SLOT_STACK)
		return take_clock(r, s, p, sink);
	if (!begin_stack(r, s))
		return false;
	take_frames(r, s->words + HEAP_STACK_WORDS, HEAP_WORDS - HEAP_STACK_WORDS, p, sink);
	return true;
}

static void free_slots(struct heap_reader *r, struct heap_ring *ring)
{
	__atomic_store_n(&ring->tail, r->tail, __ATOMIC_RELEASE);
}

bool heap_reader_read(struct heap_reader *r, struct heap_ring *ring, uint64_t mark,
		      const struct heap_process *p, const struct heap_sink *sink, size_t most,
		      bool last, struct heap_counts *counts)
{
	uint64_t ahead = mark - r->tail, n = ahead < HEAP_SLOTS ? ahead : HEAP_SLOTS;
	struct heap_slot s;

	if (ahead > HEAP_SLOTS + WAITING_MOST) { /* not a number that the library can have taken */
		counts->malformed++;
		return last;
	}
	if (!last && n > most)
		n = most;
	for (uint64_t i = 0; i < n; i++, r->tail++) {
		if (copy_slot(ring, r->tail, &s))
			counts->malformed += !take_slot(r, &s, p, sink, counts);
		else if (last)
			counts->lost++;
		else
			break;
		if (i % PUBLISH_EVERY == 0)
			free_slots(r, ring);
	}
	if (last) {
		counts->lost += mark - r->tail;
		r->tail = mark;
	}
	free_slots(r, ring);
	return r->tail == mark;
}

/* --- counts of locks --- */

static void hand_lock(struct heap_reader *r, const struct heap_slot *s, uint64_t n, const struct heap_process *p,
		      const struct heap_sink *sink)
{
	const uint64_t *at = map_get(&r->threads, s->tid);
	uint64_t made_ns = s->words[COUNT_TIME];
	struct heap_lock l = { .tid = s->tid, .object = s->words[COUNT_LOCK], .caller = s->words[COUNT_CALLER],
			       .kind = s->words[COUNT_KIND], .n = n,
			       .began_ns = made_ns > r->counted_ns ? made_ns : r->counted_ns };

	if (at)
		memcpy(l.comm, r->names.data[*at].comm, sizeof(l.comm));
	sink->lock(sink->ctx, p, &l);
}

static bool is_lock(const struct heap_slot *s)
{
	return s->kind == HEAP_SLOT_LOCK && s->words[COUNT_KIND] && s->words[COUNT_KIND] < ER_LOCK_KINDS &&
	       s->words[COUNT_TIMES] <= INT64_MAX;
}

void heap_reader_counts(struct heap_reader *r, const struct heap_ring *ring, uint64_t mark,
			const struct heap_process *p, const struct heap_sink *sink, uint64_t now_ns,
			struct heap_counts *counts)
{
	size_t n = mark < HEAP_SLOTS ? mark : HEAP_SLOTS;
	struct heap_slot s;

	while (r->seen.len < n)
		vec_push(&r->seen, 0);
	for (size_t i = 0; i < r->seen.len; i++) {
		uint64_t *seen = &r->seen.data[i];

		if (*seen == DONE || !copy_slot(ring, i, &s))
			continue;
		if (!is_lock(&s)) {
			if (s.kind == HEAP_SLOT_THREAD)
				take_name(r, &s);
			else
				counts->malformed++;
			*seen = DONE;
		} else if (s.words[COUNT_TIMES] > *seen) {
			hand_lock(r, &s, s.words[COUNT_TIMES] - *seen, p, sink);
			*seen = s.words[COUNT_TIMES];
		}
	}
	r->counted_ns = now_ns;
}
