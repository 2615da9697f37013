/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_spans.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/json.h"
#include "analysis/base/map.h"
#include "analysis/experiment/mstate.h"
#include "analysis/export/export.h"
#include "analysis/export/page_events.h"
#include "analysis/export/page_pack.h"
#include "analysis/metrics/spanstat.h"
#include "analysis/model/session.h"
#include "analysis/views/spanrows.h"
#include "analysis/views/view_state.h"

enum { MAX_CALLS = 50000 }; /* in a page */

struct page_spans {
	const struct export *x;
	const struct spans *sp;
	uint8_t *marks;
	struct map threads;  /* of the page, by founder and thread, to index */
	uint32_t most;       /* so many of the slowest of a name are drawn */
};

static uint64_t key_of(const struct experiment *e, int64_t tid)
{
	const struct experiment *founder = e->founder ? e->founder : e;

	return (uint64_t)founder->id << 32 | (uint32_t)tid;
}

/* The calls that pass the filter are drawn, up to MAX_CALLS, and the slowest first. */
static void spans_init(struct page_spans *s, const struct export *x, const struct page_events *events)
{
	size_t passing = 0;

	*s = (struct page_spans){ .x = x, .sp = session_spans(x->view->session), .most = UINT32_MAX };
	s->marks = span_marks(x->view->session, x->view->filter);
	for (size_t i = 0; i < events->threads.len; i++)
		*map_put(&s->threads, key_of(events->threads.data[i].founder, events->threads.data[i].tid), NULL) = i;
	for (size_t i = 0; i < s->sp->calls.len; i++)
		passing += s->marks[i] != SPAN_MARK_NONE;
	if (passing > MAX_CALLS)
		s->most = MAX_CALLS / s->sp->names.len;
}

static void spans_fini(struct page_spans *s)
{
	free(s->marks);
	map_free(&s->threads);
}

/* The page's index of the thread of call i; -1: the call is not drawn. */
static int64_t drawn_on(const struct page_spans *s, size_t i)
{
	const struct span_call *c = &s->sp->calls.data[i];
	const uint64_t *thread = map_get(&s->threads, key_of(s->sp->sources.data[c->source].e,
							     span_int(s->sp, c, "THRID")));

	return thread && s->marks[i] != SPAN_MARK_NONE && c->rank <= s->most ? (int64_t)*thread : -1;
}

void put_span_names(const struct export *x, const struct page_events *events, struct buf *b)
{
	struct page_spans s;
	size_t drawn = 0, passing = 0;

	spans_init(&s, x, events);
	for (size_t i = 0; i < s.sp->calls.len; i++) {
		drawn += drawn_on(&s, i) >= 0;
		passing += s.marks[i] != SPAN_MARK_NONE;
	}
	if (drawn) {
		buf_puts(b, ",\"spans\":{\"names\":[");
		for (size_t i = 0; i < s.sp->names.len; i++) {
			buf_puts(b, i ? "," : "");
			json_put_string(b, s.sp->names.data[i].sum.name);
		}
		buf_printf(b, "],\"drawn\":%zu,\"recorded\":%zu}", drawn, passing);
	}
	spans_fini(&s);
}

/* A mask of the states that have a time, and the times; the time on a CPU is MS_LINUX_CPU's. */
static void put_times(const struct page_spans *s, const struct span_call *c, struct pack *p)
{
	enum er_mstate states[MS_COUNT];
	size_t n = span_states(c->flags & SPAN_SPLIT, states);
	uint64_t mask = 0;

	for (size_t i = 0; i < n; i++)
		mask |= span_state_ns(s->sp, c, states[i]) > 0 ? 1ULL << states[i] : 0;
	pack_uint(p, mask);
	for (int state = 0; state < MS_COUNT; state++)
		if (mask >> state & 1)
			pack_uint(p, span_state_ns(s->sp, c, state));
}

/* In two halves: JavaScript's numbers have 53 bits. */
static void put_whole(struct pack *p, int64_t v)
{
	pack_int(p, v >> 32);
	pack_uint(p, v & UINT32_MAX);
}

static void put_arguments(const struct page_spans *s, const struct span_call *c, struct pack *p)
{
	static const char *const fields[SPAN_ARGS] = { "SPANA1", "SPANA2", "SPANA3", "SPANA4" };
	int n = s->x->redact ? 0 : SPAN_ARGS;

	while (n && !span_int(s->sp, c, fields[n - 1]))
		n--;
	pack_uint(p, n);
	for (int i = 0; i < n; i++)
		put_whole(p, span_int(s->sp, c, fields[i]));
}

void put_span_calls(const struct export *x, const struct page_events *events, struct pack *p)
{
	struct page_spans s;
	int64_t last = 0;

	spans_init(&s, x, events);
	pack_begin(p, "span");
	for (size_t i = 0; i < s.sp->calls.len; i++) {
		const struct span_call *c = &s.sp->calls.data[i];
		int64_t thread = drawn_on(&s, i);

		if (thread < 0)
			continue;
		pack_uint(p, thread);
		pack_uint(p, c->name);
		pack_int(p, c->begin_ns - last);
		pack_uint(p, c->end_ns > c->begin_ns ? c->end_ns - c->begin_ns : 0);
		pack_uint(p, c->rank);
		pack_uint(p, c->flags);
		put_times(&s, c, p);
		put_arguments(&s, c, p);
		last = c->begin_ns;
	}
	pack_end(p);
	spans_fini(&s);
}
