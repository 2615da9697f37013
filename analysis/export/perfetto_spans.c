/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recorded calls of spans: each thread that has some has an extra track, with a slice for each call.
 * Slices of a track must contain one another or be apart, so calls that overlap in another way are on
 * further tracks. Texts are left out: they are data of the recorded programs.
 */
#include <stdio.h>

#include "analysis/base/diag.h"
#include "analysis/base/wrap.h"
#include "analysis/experiment/mstate.h"
#include "analysis/export/export.h"
#include "analysis/export/perfetto_impl.h"
#include "analysis/export/protobuf.h"
#include "analysis/metrics/spanstat.h"
#include "analysis/model/session.h"
#include "analysis/views/spanrows.h"
#include "analysis/views/view_state.h"

/* A thread can have 32 spans open at once; only a damaged recording has more. */
enum { FIRST_TRACK = 2, MAX_TRACKS = 32 };

struct lane {
	uint64_t track;
	VEC(int64_t) ends; /* of the open slices, the innermost last; absolute */
};

struct slices {
	struct perfetto *p;
	const struct spans *sp;
	struct lane lanes[MAX_TRACKS];
	size_t nlanes;
	size_t left_out;
};

static void put_end(struct slices *s, struct lane *l)
{
	perfetto_begin_event(s->p, TYPE_END, l->track);
	perfetto_put_event(s->p, l->ends.data[--l->ends.len]);
}

static const struct experiment *origin_of(const struct slices *s, const struct span_call *c)
{
	const struct experiment *e = s->sp->sources.data[c->source].e;

	return e->origin;
}

static uint64_t new_track(struct slices *s, const struct span_call *c)
{
	int64_t tid = span_int(s->sp, c, "THRID");
	uint64_t thread = perfetto_thread_track(s->p, origin_of(s, c), span_pid(s->sp, c), tid);

	return perfetto_track_below(s->p, thread, FIRST_TRACK + s->nlanes,
				    s->nlanes ? "Spans that overlap" : "Spans");
}

/* The track for a call from begin to end; slices that are over by then are ended. NULL: none is left. */
static struct lane *lane_for(struct slices *s, const struct span_call *c, int64_t begin, int64_t end)
{
	for (size_t i = 0; i < s->nlanes; i++) {
		struct lane *l = &s->lanes[i];

		while (l->ends.len && l->ends.data[l->ends.len - 1] <= begin)
			put_end(s, l);
		if (!l->ends.len || l->ends.data[l->ends.len - 1] >= end)
			return l;
	}
	if (s->nlanes == MAX_TRACKS)
		return NULL;
	s->lanes[s->nlanes].track = new_track(s, c);
	s->lanes[s->nlanes].ends.len = 0;
	return &s->lanes[s->nlanes++];
}

static void annotate_states(struct slices *s, const struct span_call *c)
{
	enum er_mstate states[MS_COUNT];
	size_t n = span_states(c->flags & SPAN_SPLIT, states);
	char name[64];

	for (size_t i = 0; i < n; i++) {
		int64_t ns = span_state_ns(s->sp, c, states[i]);

		if (ns <= 0)
			continue;
		snprintf(name, sizeof(name), "%s ns", span_state_name(states[i]));
		perfetto_annotate_number(s->p, name, ns);
	}
}

static void put_call(struct slices *s, const struct span_call *c)
{
	int64_t start = origin_of(s, c)->start_ns;
	int64_t begin = wrap_plus(start, c->begin_ns), end = wrap_plus(start, c->end_ns);
	struct lane *l = begin < end ? lane_for(s, c, begin, end) : NULL;
	__cleanup(buf_free) struct buf facts = { 0 };

	if (!l) {
		s->left_out++;
		return;
	}
	span_put_numbers(s->sp, c, &facts);
	perfetto_begin_event(s->p, TYPE_BEGIN, l->track);
	pb_string(&s->p->message, EVENT_CATEGORY, "span");
	pb_string(&s->p->message, EVENT_NAME, perfetto_text(s->p, s->sp->names.data[c->name].sum.name));
	annotate_states(s, c);
	perfetto_annotate_number(s->p, "slowest of its name, number", c->rank);
	if (facts.len)
		perfetto_annotate(s->p, "facts", facts.data);
	perfetto_put_event(s->p, begin);
	vec_push(&l->ends, end);
}

static void end_thread(struct slices *s)
{
	for (size_t i = 0; i < s->nlanes; i++)
		while (s->lanes[i].ends.len)
			put_end(s, &s->lanes[i]);
	s->nlanes = 0;
}

void perfetto_spans(struct perfetto *p)
{
	struct slices s = { .p = p, .sp = session_spans(p->session) };
	__cleanup(freep) uint8_t *marks = span_marks(p->session, p->x->view->filter);

	vec_for_each(t, &s.sp->threads) {
		for (uint32_t i = t->first; i < t->first + t->n; i++)
			if (marks[i] != SPAN_MARK_NONE)
				put_call(&s, &s.sp->calls.data[i]);
		end_thread(&s);
	}
	for (int i = 0; i < MAX_TRACKS; i++)
		vec_free(&s.lanes[i].ends);
	if (s.left_out)
		diag_note(p->x->diag, "%zu calls of spans are left out: they have no length, or too many overlap",
			  s.left_out);
}
