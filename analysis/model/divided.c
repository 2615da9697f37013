/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A part that is open at the end of its segment goes on with the part of the same thread and state that continues
 * a wait and begins at that time. Parts are found by reading all packets of segments once.
 */
#include "analysis/model/divided.h"

#include <stdlib.h>

#include "analysis/base/alloc.h"
#include "analysis/base/wrap.h"
#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/exp_stacks.h"
#include "analysis/model/model.h"

/* Lengths are exact, and times have an error that may be milliseconds. A segment is at least a second long. */
enum { MOMENT_NS = 100000000 };

const uint32_t divided_flags = WFLAG_OPEN_START | WFLAG_OPEN_END | WFLAG_WAKER_IRQ | WFLAG_WAKER_TIMER;

struct part {
	struct experiment *e;
	const unsigned char *packet;
	int64_t thread, state, time, length, stack, waker, waker_pid, waker_stack, holder, holder_pid;
	uint32_t flags;
};

typedef VEC(struct part) part_vec;

struct divided {
	VEC(struct divided_wait) waits;
	struct map by_packet; /* to index in `waits` */
};

struct part_fields {
	struct field_ref thread, state, time, length, flags, stack, waker, waker_pid, waker_stack, holder, holder_pid;
};

static struct part_fields fields_of(const struct exp_stream *st)
{
	return (struct part_fields){
		.thread = stream_field(st, "THRID"), .state = stream_field(st, "MSTATE"),
		.time = stream_field(st, "TSTAMP"), .length = stream_field(st, "WLEN"),
		.flags = stream_field(st, "WFLAGS"), .stack = stream_field(st, "FRINFO"),
		.waker = stream_field(st, "WAKER"),
		.waker_pid = stream_field(st, "WAKERPID"), .waker_stack = stream_field(st, "WAKERSTACK"),
		.holder = stream_field(st, "HOLDER"), .holder_pid = stream_field(st, "HOLDERPID"),
	};
}

static void read_stream(part_vec *parts, struct experiment *e, struct exp_stream *st)
{
	const struct part_fields f = fields_of(st);
	struct packet_iter it;
	struct packet p;

	packet_iter_init(&it, e, st);
	while (packet_next(&it, &p)) {
		uint32_t flags = packet_int(&p, f.flags);

		if (!(flags & (WFLAG_OPEN_END | WFLAG_CONTINUED)) || flags & WFLAG_REST)
			continue;
		vec_push(parts, (struct part){
			.e = e, .packet = p.p, .flags = flags, .thread = packet_int(&p, f.thread),
			.state = packet_int(&p, f.state), .time = packet_int(&p, f.time),
			.length = packet_int(&p, f.length),
			.stack = experiment_stack(e, packet_int(&p, f.stack)), .waker = packet_int(&p, f.waker),
			.waker_pid = packet_int(&p, f.waker_pid), .waker_stack = packet_int(&p, f.waker_stack),
			.holder = packet_int(&p, f.holder), .holder_pid = packet_int(&p, f.holder_pid) });
	}
	packet_iter_report(&it, e, st);
}

static int by_place(const struct part *a, const struct part *b)
{
	if (a->e->origin != b->e->origin)
		return a->e->origin->id < b->e->origin->id ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->state > b->state) - (a->state < b->state);
}

static int by_place_and_time(const void *pa, const void *pb)
{
	const struct part *a = pa, *b = pb;
	int order = by_place(a, b);

	if (order)
		return order;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->packet > b->packet) - (a->packet < b->packet);
}

/* A weight that is too large for one packet has several, each with the length of the part. */
static bool is_same_part(const struct part *a, const struct part *b)
{
	return !by_place(a, b) && a->time == b->time;
}

static bool goes_on(const struct part *a, const struct part *next)
{
	int64_t gap = wrap_minus(wrap_minus(next->time, next->length), a->time);

	return !by_place(a, next) && a->flags & WFLAG_OPEN_END && next->flags & WFLAG_CONTINUED &&
	       gap > -MOMENT_NS && gap < MOMENT_NS;
}

static uint32_t depth_of(const struct experiment *e, int64_t stack)
{
	return stack < 0 ? 0 : e->stacks.data[stack].npcs;
}

/* Take the part's stack if it is the longest. A part without a stack has a function that says so. */
static void offer_stack(struct divided_wait *w, const struct part *p)
{
	if (w->stack_in && depth_of(p->e, p->stack) <= depth_of(w->stack_in, w->stack))
		return;
	w->stack_in = p->e;
	w->stack = p->stack;
	w->stack_time = wrap_minus(p->time, p->e->start_ns);
}

/* Parts `first` to `last` are one wait. */
static void add_wait(struct divided *d, const struct part *first, const struct part *last)
{
	struct divided_wait w = {
		.length_ns = first->length, .last_in = last->e, .last_time = last->time, .waker = last->waker,
		.waker_pid = last->waker_pid, .waker_stack = last->waker_stack,
		.flags = (first->flags & WFLAG_OPEN_START) | (last->flags & divided_flags & ~WFLAG_OPEN_START),
	};

	if (is_same_part(first, last))
		return;
	for (const struct part *p = first; p <= last; p++) {
		if (p > first && !is_same_part(p - 1, p))
			add_to(&w.length_ns, p->length);
		offer_stack(&w, p);
		if (p->holder) {
			w.holder = p->holder;
			w.holder_pid = p->holder_pid;
		}
		*map_put(&d->by_packet, (uintptr_t)p->packet, NULL) = d->waits.len;
	}
	vec_push(&d->waits, w);
}

static void join_parts(struct divided *d, const part_vec *parts)
{
	for (size_t i = 0, last; i < parts->len; i = last + 1) {
		for (last = i; last + 1 < parts->len; last++) {
			const struct part *p = &parts->data[last];

			if (!is_same_part(p, p + 1) && !goes_on(p, p + 1))
				break;
		}
		add_wait(d, &parts->data[i], &parts->data[last]);
	}
}

static bool has_segments(const struct session *s)
{
	vec_for_each(e, &s->experiments) {
		if (experiment_founder(*e) != (*e)->origin)
			return true;
	}
	return false;
}

static struct divided *divided_new(struct session *s)
{
	struct divided *d = xcalloc(1, sizeof(*d));
	part_vec parts = { 0 };

	vec_for_each(e, &s->experiments) {
		vec_for_each(st, &(*e)->streams) {
			if (st->waits)
				read_stream(&parts, *e, st);
		}
	}
	vec_sort(&parts, by_place_and_time);
	join_parts(d, &parts);
	vec_free(&parts);
	return d;
}

void divided_free(struct divided *d)
{
	if (!d)
		return;
	vec_free(&d->waits);
	map_free(&d->by_packet);
	free(d);
}

const struct divided *session_divided(struct session *s)
{
	struct session_impl *impl = s->impl;

	if (impl->divided_of != s->experiments.len) {
		divided_free(impl->divided);
		impl->divided = has_segments(s) ? divided_new(s) : NULL;
		impl->divided_of = s->experiments.len;
	}
	return impl->divided;
}

const struct divided_wait *divided_find(const struct divided *d, const unsigned char *packet)
{
	const uint64_t *at = map_get(&d->by_packet, (uintptr_t)packet);

	return at ? &d->waits.data[*at] : NULL;
}
