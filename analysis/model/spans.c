/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/model/spans.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/wrap.h"
#include "analysis/experiment/exp_spans.h"
#include "analysis/model/model.h"

enum { SOURCES_MAX = UINT16_MAX };

static uint64_t thread_key(const struct experiment *e, int64_t thread)
{
	return (uint64_t)e->origin->id << 32 | (uint32_t)thread;
}

/* --- reading --- */

/* A call while threads are not in order yet. */
struct raw_call {
	uint64_t thread;
	struct span_call c;
};

struct reading {
	struct spans *sp;
	VEC(struct raw_call) raw;
};

static uint32_t name_id(struct spans *sp, const char *name)
{
	uint32_t id = strtab_id(&sp->name_ids, name);

	if (id == sp->names.len)
		vec_push(&sp->names, (struct span_name){ .sum.name = strtab_intern(&sp->name_ids, name) });
	return id;
}

/* A name that spans.xml lacks is called by its number: the recorder may have been killed. */
static uint32_t name_of(struct spans *sp, const struct experiment *e, int64_t number)
{
	const struct span_row *row = experiment_span(e, number);
	char text[32];

	if (row)
		return name_id(sp, row->name);
	snprintf(text, sizeof(text), "span %lld", (long long)number);
	return name_id(sp, text);
}

static void source_init(struct span_source *src, struct experiment *e, const struct exp_stream *st)
{
	*src = (struct span_source){
		.e = e, .stream = st,
		.name = stream_field(st, "SPAN"), .dur = stream_field(st, "SPANDUR"),
		.flags = stream_field(st, "SPANFLAGS"), .id = stream_field(st, "SPANID"),
		.time = stream_field(st, "TSTAMP"), .thread = stream_field(st, "THRID"),
		.lwp = stream_field(st, "LWPID"),
	};
}

static void read_call(struct reading *r, const struct span_source *src, const struct packet *p)
{
	const struct experiment *e = src->e;
	int64_t dur = packet_int(p, src->dur);
	struct raw_call raw = {
		.thread = thread_key(e, packet_int(p, src->thread)),
		.c = { .end_ns = wrap_minus(packet_int(p, src->time), e->origin->start_ns),
		       .id = packet_int(p, src->id), .packet = p->p, .size = p->size,
		       .source = r->sp->sources.len - 1, .flags = packet_int(p, src->flags),
		       .name = name_of(r->sp, e, packet_int(p, src->name)) },
	};

	raw.c.begin_ns = dur > 0 ? wrap_minus(raw.c.end_ns, dur) : raw.c.end_ns;
	vec_push(&r->raw, raw);
}

static void read_stream(struct reading *r, struct experiment *e, struct exp_stream *st)
{
	struct span_source src;
	struct packet_iter it;
	struct packet p;

	if (r->sp->sources.len == SOURCES_MAX)
		return;
	source_init(&src, e, st);
	vec_push(&r->sp->sources, src);
	packet_iter_init(&it, e, st);
	while (packet_next(&it, &p) && r->raw.len < UINT32_MAX)
		read_call(r, &src, &p);
	packet_iter_report(&it, e, st);
}

/* --- threads --- */

static int by_thread(const void *pa, const void *pb)
{
	const struct raw_call *a = pa, *b = pb;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->c.begin_ns != b->c.begin_ns)
		return a->c.begin_ns < b->c.begin_ns ? -1 : 1;
	if (a->c.end_ns != b->c.end_ns)
		return a->c.end_ns > b->c.end_ns ? -1 : 1;
	return (a->c.id > b->c.id) - (a->c.id < b->c.id);
}

static void add_call(struct spans *sp, const struct raw_call *raw)
{
	struct span_thread *th;
	bool fresh;
	uint64_t *at = map_put(&sp->thread_by_key, raw->thread, &fresh);

	if (fresh) {
		*at = sp->threads.len;
		vec_push(&sp->threads, (struct span_thread){ .first = sp->calls.len });
	}
	th = &sp->threads.data[*at];
	th->n++;
	vec_push(&sp->calls, raw->c);
}

/* The calls between a call and its `outer` end no later than the call does. */
static void link_outer(struct spans *sp, const struct span_thread *th)
{
	for (uint32_t i = th->first + 1; i < th->first + th->n; i++) {
		struct span_call *c = &sp->calls.data[i];
		uint32_t o = i; /* + 1 */

		while (o && sp->calls.data[o - 1].end_ns <= c->end_ns)
			o = sp->calls.data[o - 1].outer;
		c->outer = o;
	}
}

/* --- sums --- */

static void add_hist(struct span_name *n, const uint64_t *hist)
{
	if (!n->hist)
		n->hist = xcalloc(SPAN_BUCKETS, sizeof(*n->hist));
	for (int i = 0; i < SPAN_BUCKETS; i++)
		n->hist[i] += hist[i];
	n->sum.hist = n->hist;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void add_row(struct span_row *to, const struct span_row *row)
{
	if (!to->spec) {
		to->spec = row->spec;
		to->split = row->split;
	}
	to->sites += row->sites;
	to->threshold_ns = larger(to->threshold_ns, row->threshold_ns);
	to->count += row->count;
	to->dur_ns += row->dur_ns;
	to->max_ns = larger(to->max_ns, row->max_ns);
	to->run_ns += row->run_ns;
	for (int i = 0; i < MS_COUNT; i++)
		to->state_ns[i] += row->state_ns[i];
	to->split &= row->split;
	to->stolen_ns += row->stolen_ns;
	to->waits += row->waits;
	to->minflt += row->minflt;
	to->majflt += row->majflt;
	to->unended += row->unended;
	to->nobegin += row->nobegin;
	to->noroom += row->noroom;
	to->lost += row->lost;
}

static void add_sums(struct spans *sp, const struct experiment *e)
{
	vec_for_each(row, &e->spans) {
		uint32_t id = name_id(sp, row->name);
		struct span_name *n = &sp->names.data[id];

		add_row(&n->sum, row);
		n->max_unknown |= row->count && !row->max_ns;
		if (row->hist)
			add_hist(n, row->hist);
	}
}

/* Forget the sums of names that have a recording without a histogram. */
static void check_sums(struct spans *sp)
{
	vec_for_each(n, &sp->names) {
		uint64_t sum = 0;

		for (int i = 0; n->hist && i < SPAN_BUCKETS; i++)
			sum += n->hist[i];
		if (n->hist && sum == n->sum.count)
			continue;
		free(n->hist);
		n->hist = NULL;
		n->sum.hist = NULL;
	}
}

/* --- ranks --- */

static int64_t length(const struct span_call *c)
{
	return wrap_minus(c->end_ns, c->begin_ns);
}

static int by_length(const void *pa, const void *pb, void *calls)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	const struct span_call *ca = (const struct span_call *)calls + a;
	const struct span_call *cb = (const struct span_call *)calls + b;

	if (ca->name != cb->name)
		return ca->name < cb->name ? -1 : 1;
	if (length(ca) != length(cb))
		return length(ca) > length(cb) ? -1 : 1;
	return a < b ? -1 : 1;
}

/* The number of calls that are longer, of n, as a percentage: the longest has 99. */
static uint8_t percent_of(double longer, uint64_t n)
{
	double share = n ? longer * 100 / n : 0;

	return share >= 99 ? 0 : 99 - (int)share;
}

/* Every whole call has a record. Other calls are compared with them. */
static void set_percents(struct spans *sp, const struct span_name *n)
{
	uint64_t longer = 0;

	for (size_t i = 0; i < n->n; i++) {
		struct span_call *c = &sp->calls.data[sp->ranked.data[n->first + i]];

		c->percent = percent_of(longer, n->nwhole);
		longer += span_is_whole(c->flags);
	}
}

/* Recorded calls are a part: those in one bucket are spread evenly over its calls. */
static void set_percents_by_hist(struct spans *sp, const struct span_name *n)
{
	unsigned bucket = SPAN_BUCKETS;
	uint64_t above = 0;
	size_t to;

	for (size_t i = 0; i < n->n; i = to) {
		const uint32_t *ranked = &sp->ranked.data[n->first];
		unsigned b = span_bucket(length(&sp->calls.data[ranked[i]]));

		while (bucket > b + 1)
			above += n->hist[--bucket];
		for (to = i; to < n->n && span_bucket(length(&sp->calls.data[ranked[to]])) == b;)
			to++;
		for (size_t k = i; k < to; k++)
			sp->calls.data[ranked[k]].percent = percent_of(
				above + (double)n->hist[b] * (k - i) / (to - i), n->sum.count);
	}
}

static void rank_calls(struct spans *sp)
{
	for (uint32_t i = 0; i < sp->calls.len; i++)
		vec_push(&sp->ranked, i);
	if (sp->ranked.len)
		qsort_r(sp->ranked.data, sp->ranked.len, sizeof(*sp->ranked.data), by_length, sp->calls.data);
	for (size_t i = 0; i < sp->ranked.len; i++) {
		struct span_call *c = &sp->calls.data[sp->ranked.data[i]];
		struct span_name *n = &sp->names.data[c->name];

		if (!n->n++)
			n->first = i;
		c->rank = n->n;
		n->nwhole += span_is_whole(c->flags);
		n->nover += span_is_whole(c->flags) && c->flags & SPAN_OVER;
	}
	vec_for_each(n, &sp->names) {
		if (span_all_recorded(n))
			set_percents(sp, n);
		else
			set_percents_by_hist(sp, n);
	}
}

/* --- the session's --- */

static struct spans *spans_new(const struct session *s)
{
	struct spans *sp = xcalloc(1, sizeof(*sp));
	struct reading r = { .sp = sp };

	vec_for_each(e, &s->experiments) {
		add_sums(sp, *e);
		vec_for_each(st, &(*e)->streams) {
			if (st->kind == ER_PKT_SPAN)
				read_stream(&r, *e, st);
		}
	}
	check_sums(sp);
	vec_sort(&r.raw, by_thread);
	vec_for_each(raw, &r.raw)
		add_call(sp, raw);
	vec_free(&r.raw);
	vec_for_each(th, &sp->threads)
		link_outer(sp, th);
	rank_calls(sp);
	return sp;
}

void spans_free(struct spans *sp)
{
	if (!sp)
		return;
	vec_for_each(n, &sp->names)
		free(n->hist);
	vec_free(&sp->calls);
	vec_free(&sp->ranked);
	vec_free(&sp->names);
	vec_free(&sp->sources);
	vec_free(&sp->threads);
	map_free(&sp->thread_by_key);
	strtab_free(&sp->name_ids);
	free(sp);
}

const struct spans *session_spans(struct session *s)
{
	struct session_impl *impl = s->impl;

	if (!impl->spans || impl->spans_of != s->experiments.len) {
		spans_free(impl->spans);
		impl->spans = spans_new(s);
		impl->spans_of = s->experiments.len;
	}
	return impl->spans;
}

bool session_has_spans(const struct session *s)
{
	vec_for_each(e, &s->experiments) {
		if ((*e)->spans.len)
			return true;
		vec_for_each(st, &(*e)->streams) {
			if (st->kind == ER_PKT_SPAN && st->file.size)
				return true;
		}
	}
	return false;
}

/* --- looking up --- */

/* The number of calls of the thread that begin no later. */
static uint32_t begun(const struct spans *sp, const struct span_thread *th, int64_t time_ns)
{
	uint32_t lo = 0, hi = th->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (sp->calls.data[th->first + mid].begin_ns <= time_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct span_thread *span_thread_of(const struct spans *sp, const struct experiment *e, int64_t thread)
{
	const uint64_t *at = map_get(&sp->thread_by_key, thread_key(e, thread));

	return at ? &sp->threads.data[*at] : NULL;
}

void span_walk_begin(struct span_walk *w, const struct spans *sp, const struct experiment *e,
		     int64_t thread, int64_t time_ns)
{
	const struct span_thread *th = span_thread_of(sp, e, thread);

	*w = (struct span_walk){ .spans = sp, .time_ns = time_ns };
	if (th) {
		w->first = th->first;
		w->at = th->first + begun(sp, th, time_ns);
	}
}

const struct span_call *span_walk_next(struct span_walk *w)
{
	while (w->at > w->first && w->steps++ < SPAN_WALK_MAX) {
		const struct span_call *c = &w->spans->calls.data[w->at - 1];

		if (c->end_ns > w->time_ns) {
			w->at--;
			return c;
		}
		w->at = c->outer;
	}
	return NULL;
}

const struct span_call *span_of_packet(const struct spans *sp, const struct experiment *e,
				       int64_t thread, const struct packet *p)
{
	const struct span_thread *th = span_thread_of(sp, e, thread);
	int64_t begin;

	if (!th)
		return NULL;
	vec_for_each(src, &sp->sources) {
		int64_t dur;

		if (src->e != e)
			continue;
		dur = packet_int(p, src->dur);
		begin = wrap_minus(packet_int(p, src->time), e->origin->start_ns);
		begin = dur > 0 ? wrap_minus(begin, dur) : begin;
		for (uint32_t i = begun(sp, th, begin); i > 0; i--) {
			const struct span_call *c = &sp->calls.data[th->first + i - 1];

			if (c->packet == p->p)
				return c;
			if (c->begin_ns != begin)
				break;
		}
	}
	return NULL;
}

struct packet span_packet_of(const struct spans *sp, const struct span_call *c)
{
	return (struct packet){ .p = c->packet, .size = c->size,
				.swap = sp->sources.data[c->source].e->swap };
}

int64_t span_int(const struct spans *sp, const struct span_call *c, const char *field)
{
	struct packet p = span_packet_of(sp, c);

	return packet_int(&p, stream_field(sp->sources.data[c->source].stream, field));
}

const char *span_text(const struct spans *sp, const struct span_call *c)
{
	return experiment_span_text(sp->sources.data[c->source].e, span_int(sp, c, "SPANTEXT"));
}

const struct span_call *span_ranked(const struct spans *sp, const struct span_name *n, size_t rank)
{
	return rank >= 1 && rank <= n->n ? &sp->calls.data[sp->ranked.data[n->first + rank - 1]] : NULL;
}
