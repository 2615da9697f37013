/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>

#include "analysis/base/json.h"
#include "analysis/experiment/mstate.h"
#include "analysis/export/firefox_impl.h"
#include "analysis/export/outfile.h"
#include "analysis/metrics/spanstat.h"
#include "analysis/metrics/timeline.h"
#include "analysis/model/session.h"
#include "analysis/views/spanrows.h"

/* A thread number may be used again by another process. */
static bool is_shown(const struct firefox *f, const struct timeline *t, uint32_t i)
{
	return f->marks[i] != SPAN_MARK_NONE && span_pid(f->spans, &f->spans->calls.data[i]) == t->pid;
}

size_t firefox_count_spans(const struct firefox *f, const struct timeline *t)
{
	const struct span_thread *th = span_thread_of(f->spans, t->origin, t->tid);
	size_t n = 0;

	for (uint32_t i = 0; th && i < th->n; i++)
		n += is_shown(f, t, th->first + i);
	return n;
}

/* "Sleep 51.000000 ms, CPU 1.000000 ms" */
static void put_states(const struct firefox *f, const struct span_call *c, struct buf *b)
{
	enum er_mstate states[MS_COUNT];
	size_t n = span_states(c->flags & SPAN_SPLIT, states);

	for (size_t i = 0; i < n; i++) {
		int64_t ns = span_state_ns(f->spans, c, states[i]);

		if (ns <= 0)
			continue;
		buf_printf(b, "%s%s ", b->len ? ", " : "", span_state_name(states[i]));
		firefox_put_ms(b, ns);
		buf_puts(b, " ms");
	}
}

static void put_data(struct firefox *f, const struct span_call *c)
{
	__cleanup(buf_free) struct buf states = { 0 };
	__cleanup(buf_free) struct buf facts = { 0 };
	struct buf *b = &f->out->buf;

	put_states(f, c, &states);
	span_put_numbers(f->spans, c, &facts);
	buf_puts(b, "{\"type\":\"span\",\"states\":");
	json_put_string(b, states.len ? states.data : "");
	buf_printf(b, ",\"rank\":%" PRIu32, c->rank);
	if (facts.len) {
		buf_puts(b, ",\"facts\":");
		json_put_string(b, facts.data);
	}
	buf_puts(b, "}");
}

static void put_value(struct firefox *f, const struct span_call *c, enum firefox_column column)
{
	struct buf *b = &f->out->buf;

	switch (column) {
	case FIREFOX_DATA:
		put_data(f, c);
		break;
	case FIREFOX_NAME:
		buf_printf(b, "%u", firefox_string(f, f->spans->names.data[c->name].sum.name));
		break;
	case FIREFOX_BEGIN:
		firefox_put_ms(b, c->begin_ns);
		break;
	case FIREFOX_END:
		firefox_put_ms(b, c->end_ns);
		break;
	case FIREFOX_PHASE:
		buf_printf(b, "%d", FIREFOX_INTERVAL);
		break;
	case FIREFOX_CATEGORY:
		buf_printf(b, "%d", FIREFOX_OTHER);
		break;
	}
}

void firefox_put_spans(struct firefox *f, const struct timeline *t, enum firefox_column column,
		       const char **before)
{
	const struct span_thread *th = span_thread_of(f->spans, t->origin, t->tid);

	for (uint32_t i = 0; th && i < th->n; i++) {
		if (!is_shown(f, t, th->first + i))
			continue;
		buf_puts(&f->out->buf, *before);
		put_value(f, &f->spans->calls.data[th->first + i], column);
		outfile_flush(f->out, 1 << 16);
		*before = ",";
	}
}

void firefox_add_threads(const struct firefox *f, struct timelines *tl)
{
	struct map known = { 0 };
	bool fresh;

	vec_for_each(t, &tl->threads)
		map_put(&known, (uint64_t)t->origin->id << 32 | (uint32_t)t->tid, &fresh);
	vec_for_each(th, &f->spans->threads) {
		const struct span_call *c = &f->spans->calls.data[th->first];
		const struct experiment *e = f->spans->sources.data[c->source].e;
		struct timeline t = { .origin = e->origin, .pid = span_pid(f->spans, c),
				      .tid = span_int(f->spans, c, "THRID") };

		map_put(&known, (uint64_t)t.origin->id << 32 | (uint32_t)t.tid, &fresh);
		if (fresh && firefox_count_spans(f, &t))
			vec_push(&tl->threads, t);
	}
	map_free(&known);
}
