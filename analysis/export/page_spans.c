/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_spans.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/alloc.h"
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
	int64_t *threads;  /* by call that is drawn: the page's index of the thread; others: -1 */
	uint32_t *numbers; /* by call: its place among those that are drawn, from 1; 0: not drawn */
	size_t drawn, passing;
};

static uint64_t key_of(const struct experiment *e, int64_t tid)
{
	return (uint64_t)e->origin->id << 32 | (uint32_t)tid;
}

/* The page's threads, by origin and thread, to index. */
static struct map threads_of(const struct page_events *events)
{
	struct map ret = { 0 };

	for (size_t i = 0; i < events->threads.len; i++)
		*map_put(&ret, key_of(events->threads.data[i].origin, events->threads.data[i].tid), NULL) = i;
	return ret;
}

/* The page's index of the thread of call i; -1: it has no events. */
static int64_t thread_of(const struct page_spans *s, const struct map *threads, size_t i)
{
	const struct span_call *c = &s->sp->calls.data[i];
	const uint64_t *thread = map_get(threads, key_of(s->sp->sources.data[c->source].e,
							 span_int(s->sp, c, "THRID")));

	return thread ? (int64_t)*thread : -1;
}

/* The calls that pass the filter are drawn, up to MAX_CALLS, and the slowest first. */
static void spans_init(struct page_spans *s, const struct export *x, const struct page_events *events)
{
	const struct spans *sp = session_spans(x->view->session);
	__cleanup(freep) uint8_t *marks = span_marks(x->view->session, x->view->filter);
	struct map threads = threads_of(events);
	uint32_t most = UINT32_MAX;

	*s = (struct page_spans){ .x = x, .sp = sp,
				  .threads = xcalloc(sp->calls.len, sizeof(*s->threads)),
				  .numbers = xcalloc(sp->calls.len, sizeof(*s->numbers)) };
	for (size_t i = 0; i < sp->calls.len; i++)
		s->passing += marks[i] != SPAN_MARK_NONE;
	if (s->passing > MAX_CALLS)
		most = MAX_CALLS / sp->names.len;
	for (size_t i = 0; i < sp->calls.len; i++) {
		bool wanted = marks[i] != SPAN_MARK_NONE && sp->calls.data[i].rank <= most;

		s->threads[i] = wanted ? thread_of(s, &threads, i) : -1;
		s->numbers[i] = s->threads[i] >= 0 ? ++s->drawn : 0;
	}
	map_free(&threads);
}

static void spans_fini(struct page_spans *s)
{
	free(s->threads);
	free(s->numbers);
}

void put_span_names(const struct export *x, const struct page_events *events, struct buf *b)
{
	struct page_spans s;

	spans_init(&s, x, events);
	if (s.drawn) {
		buf_puts(b, ",\"spans\":{\"names\":[");
		for (size_t i = 0; i < s.sp->names.len; i++) {
			buf_puts(b, i ? "," : "");
			json_put_string(b, s.sp->names.data[i].sum.name);
		}
		buf_printf(b, "],\"drawn\":%zu,\"recorded\":%zu}", s.drawn, s.passing);
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

/* Whether all calls that contain an event are in the page. */
static bool sets_are_whole(const struct page_spans *s, const struct span_sets *sets)
{
	bool ret = s->drawn && !sets->cut;

	vec_for_each(call, &sets->calls)
		ret = ret && s->numbers[*call];
	return ret;
}

/* Without the section the page refuses to filter by spans. */
static void put_sets(const struct page_spans *s, const struct span_sets *sets, struct pack *p)
{
	if (!sets_are_whole(s, sets))
		return;
	pack_begin(p, "spst");
	for (size_t i = 1; i <= sets->ends.len; i++) {
		const uint32_t *calls;
		size_t n = span_set_calls(sets, i, &calls);

		pack_uint(p, n);
		for (size_t k = 0; k < n; k++)
			pack_uint(p, s->numbers[calls[k]]);
	}
	pack_end(p);
}

static void put_calls(const struct page_spans *s, struct pack *p)
{
	int64_t last = 0;

	pack_begin(p, "span");
	for (size_t i = 0; i < s->sp->calls.len; i++) {
		const struct span_call *c = &s->sp->calls.data[i];

		if (!s->numbers[i])
			continue;
		pack_uint(p, s->threads[i]);
		pack_uint(p, c->name);
		pack_int(p, c->begin_ns - last);
		pack_uint(p, c->end_ns > c->begin_ns ? c->end_ns - c->begin_ns : 0);
		pack_uint(p, c->rank);
		pack_uint(p, c->percent);
		pack_uint(p, c->flags);
		put_times(s, c, p);
		put_arguments(s, c, p);
		last = c->begin_ns;
	}
	pack_end(p);
}

void put_span_calls(const struct export *x, const struct page_events *events, struct pack *p)
{
	struct page_spans s;

	spans_init(&s, x, events);
	put_calls(&s, p);
	put_sets(&s, &events->span_sets, p);
	spans_fini(&s);
}
