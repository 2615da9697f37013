/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/metrics/code_tally.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/interrupt.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "analysis/metrics/tally.h"
#include "analysis/model/session.h"

struct summing {
	struct code_tally *p;
	struct session *session;
	const struct tally *t;
	code_key key;
	void *ctx;
	VEC(uint32_t) by_frame;	 /* key + 2; CODE_KEY_NONE is 1; 0: not asked */
	struct map by_whole;	 /* function id, to the same */
	VEC(uint32_t) last_seen; /* by key: last stack counted + 1 */
	VEC(uint32_t) keys;	 /* of the current stack, leaf last */
};

static uint32_t ask(struct summing *s, const struct frame *f, const struct func *whole)
{
	uint32_t key = s->key(s->ctx, f, whole);

	if (key != CODE_KEY_NONE && key >= s->p->nkeys)
		s->p->nkeys = key + 1;
	return key == CODE_KEY_NONE ? 1 : key + 2;
}

static uint32_t key_of(struct summing *s, uint32_t frame, const struct func *whole)
{
	struct frame f = frame_at(s->t->session, frame);
	uint32_t *known;

	if (whole) {
		uint64_t *at = map_put(&s->by_whole, whole->id, NULL);

		if (!*at)
			*at = ask(s, &f, whole);
		return *at - 2;
	}
	known = &s->by_frame.data[frame];
	if (!*known)
		*known = ask(s, &f, NULL);
	return *known - 2; /* 1 becomes CODE_KEY_NONE */
}

/* The keys of a stack, from its root: entries into objects are recognized in that order. */
static void stack_keys(struct summing *s, uint32_t id)
{
	struct session *ss = s->session;
	const struct stack *st = &ss->stacks.data[id];
	struct func *caller = NULL;

	s->keys.len = 0;
	for (uint32_t i = st->n; i > 0; i--) {
		uint32_t frame = ss->stack_frames.data[st->first + i - 1];
		struct func *f = frame_func(ss, frame);
		struct func *shown = shown_func(ss, f, caller);

		if (shown->obj->show == SHOW_ALL || shown != caller)
			vec_push(&s->keys,
				 key_of(s, frame, f->obj->show == SHOW_ALL ? NULL : shown));
		caller = shown;
	}
}

/* Grow the sums of keys; existing sums are kept. */
static void make_room(struct summing *s, size_t *cap)
{
	struct code_tally *p = s->p;
	size_t want = p->nkeys, row = p->nmetrics * sizeof(*p->excl);

	while (s->last_seen.len < p->nkeys)
		vec_push(&s->last_seen, 0);
	if (want <= *cap)
		return;
	want = want > 2 * *cap ? want : 2 * *cap;
	p->excl = xrealloc_array(p->excl, want * p->nmetrics, sizeof(*p->excl));
	p->incl = xrealloc_array(p->incl, want * p->nmetrics, sizeof(*p->incl));
	memset(p->excl + *cap * p->nmetrics, 0, (want - *cap) * row);
	memset(p->incl + *cap * p->nmetrics, 0, (want - *cap) * row);
	*cap = want;
}

static void add_stack(struct summing *s, uint32_t id)
{
	const struct code_tally *p = s->p;
	const int64_t *values = tally_stack(s->t, id);

	for (size_t i = 0; i < s->keys.len; i++) {
		uint32_t key = s->keys.data[i];

		if (key == CODE_KEY_NONE)
			continue;
		if (i + 1 == s->keys.len)
			tally_add(s->t, &p->excl[key * p->nmetrics], values);
		if (s->last_seen.data[key] == id + 1)
			continue;
		s->last_seen.data[key] = id + 1;
		tally_add(s->t, &p->incl[key * p->nmetrics], values);
	}
}

void code_tally_init(struct code_tally *p, struct session *ss, const struct tally *t, code_key key,
		 void *ctx)
{
	struct summing s = { .p = p, .session = ss, .t = t, .key = key, .ctx = ctx };
	size_t cap = 0;

	*p = (struct code_tally){ .nmetrics = t->nmetrics };
	vec_reserve(&s.by_frame, t->session->frames.len + 1);
	memset(s.by_frame.data, 0, (t->session->frames.len + 1) * sizeof(*s.by_frame.data));
	for (uint32_t id = 0; id < t->nstacks && !interrupt_pending(); id++) {
		if (!t->seen[id])
			continue;
		stack_keys(&s, id);
		make_room(&s, &cap);
		add_stack(&s, id);
	}
	vec_free(&s.by_frame);
	map_free(&s.by_whole);
	vec_free(&s.last_seen);
	vec_free(&s.keys);
}

void code_tally_free(struct code_tally *p)
{
	free(p->excl);
	free(p->incl);
	*p = (struct code_tally){ 0 };
}
