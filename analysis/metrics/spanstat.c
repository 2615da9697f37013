/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/metrics/spanstat.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/wrap.h"
#include "analysis/experiment/exp_stacks.h"
#include "analysis/metrics/filter.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/pass.h"

const double span_quantiles[3] = { 0.5, 0.9, 0.99 };

/* The slowest hundredth. */
enum { SLOW_PERCENT = 99, SLOW_PART = 100 };

/* --- marks --- */

struct marking {
	struct session *session;
	const struct spans *sp;
	struct filter *filter;
	struct hit_fields *fields; /* by source */
	uint8_t *marks;
};

static bool passes(const struct marking *m, const struct span_call *c)
{
	const struct span_source *src = &m->sp->sources.data[c->source];
	struct packet p = span_packet_of(m->sp, c);
	struct hit h = { .session = m->session, .e = src->e, .stream = src->stream, .packet = &p,
			 .fields = &m->fields[c->source], .span = c };

	if (!m->filter)
		return true;
	h.stack = session_resolve(m->session, src->e,
				  experiment_stack(src->e, packet_int(&p, h.fields->stack)),
				  wrap_minus(packet_int(&p, src->time), src->e->start_ns));
	return filter_match(m->filter, &h);
}

double span_weight(const struct span_name *n, const struct span_call *c)
{
	if (span_all_recorded(n) || c->flags & SPAN_OVER)
		return 1;
	return (double)(n->sum.count - n->nover) / (n->nwhole - n->nover);
}

/* All calls that pass are a part of the recorded ones, so the slowest are found among them. */
static void mark_slowest(struct marking *m, const struct span_name *n)
{
	const uint32_t *ranked = &m->sp->ranked.data[n->first];
	double whole = 0, slow = 0;

	for (size_t i = 0; i < n->n; i++) {
		if (m->marks[ranked[i]] == SPAN_MARK_REST)
			whole += span_weight(n, &m->sp->calls.data[ranked[i]]);
	}
	for (size_t i = 0; i < n->n && slow * SLOW_PART < whole; i++) {
		if (m->marks[ranked[i]] != SPAN_MARK_REST)
			continue;
		m->marks[ranked[i]] = SPAN_MARK_SLOW;
		slow += span_weight(n, &m->sp->calls.data[ranked[i]]);
	}
}

static void mark_by_percent(struct marking *m, const struct span_name *n)
{
	const uint32_t *ranked = &m->sp->ranked.data[n->first];

	for (size_t i = 0; i < n->n; i++) {
		if (m->marks[ranked[i]] == SPAN_MARK_REST &&
		    m->sp->calls.data[ranked[i]].percent >= SLOW_PERCENT)
			m->marks[ranked[i]] = SPAN_MARK_SLOW;
	}
}

uint8_t *span_marks(struct session *s, struct filter *filter)
{
	const struct spans *sp = session_spans(s);
	struct marking m = { .session = s, .sp = sp, .filter = filter,
			     .fields = xcalloc(sp->sources.len, sizeof(*m.fields)),
			     .marks = xcalloc(sp->calls.len, 1) };

	for (size_t i = 0; i < sp->sources.len; i++)
		hit_fields_init(&m.fields[i], sp->sources.data[i].stream);
	for (size_t i = 0; i < sp->calls.len; i++) {
		const struct span_call *c = &sp->calls.data[i];

		if (passes(&m, c))
			m.marks[i] = span_is_whole(c->flags) ? SPAN_MARK_REST : SPAN_MARK_PART;
	}
	vec_for_each(n, &sp->names) {
		if (filter || span_all_recorded(n))
			mark_slowest(&m, n);
		else
			mark_by_percent(&m, n);
	}
	free(m.fields);
	return m.marks;
}

/* --- sums of recorded calls --- */

/* The fields of a source that are added up. */
struct sum_fields {
	struct field_ref dur, run, states[MS_COUNT];
};

static void sum_fields_init(struct sum_fields *f, const struct exp_stream *st)
{
	*f = (struct sum_fields){ .dur = stream_field(st, "SPANDUR"),
				  .run = stream_field(st, "SPANRUN") };
	for (int i = 0; i < MS_COUNT; i++) {
		if (mstate_descs[i].span)
			f->states[i] = stream_field(st, mstate_descs[i].span);
	}
}

static void add_call(struct span_sum *sum, const struct packet *p, const struct sum_fields *f,
		     double weight)
{
	sum->count += weight;
	sum->dur_ns += weight * packet_int(p, f->dur);
	sum->run_ns += weight * packet_int(p, f->run);
	for (int i = 0; i < MS_COUNT; i++)
		sum->state_ns[i] += weight * packet_int(p, f->states[i]);
}

struct stats {
	const struct spans *sp;
	const uint8_t *marks;
	struct span_stat *by_name;
};

static void add_calls(struct stats *x)
{
	const struct spans *sp = x->sp;
	struct sum_fields *fields = xcalloc(sp->sources.len, sizeof(*fields));

	for (size_t i = 0; i < sp->sources.len; i++)
		sum_fields_init(&fields[i], sp->sources.data[i].stream);
	for (size_t i = 0; i < sp->calls.len; i++) {
		const struct span_call *c = &sp->calls.data[i];
		struct span_stat *st = &x->by_name[c->name];
		struct packet p = span_packet_of(sp, c);

		if (x->marks[i] < SPAN_MARK_REST)
			continue;
		st->split &= !!(c->flags & SPAN_SPLIT);
		add_call(x->marks[i] == SPAN_MARK_SLOW ? &st->slow : &st->rest, &p,
			 &fields[c->source], span_weight(st->name, c));
	}
	free(fields);
}

static void join_wait(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct stats *x = ctx;
	int64_t state = hit_state(h), reason = hit_reason(h);
	const struct span_call *c;
	struct span_walk w;

	if (!hit_is_wait(h) || reason < 0 || reason >= REASON_COUNT)
		return;
	hit_spans(h, &w);
	while ((c = span_walk_next(&w))) {
		struct span_stat *st = &x->by_name[c->name];
		enum span_mark mark = x->marks[c - x->sp->calls.data];
		struct span_sum *sum = mark == SPAN_MARK_SLOW ? &st->slow : &st->rest;

		if (mark < SPAN_MARK_REST)
			continue;
		sum->reason_ns[state][reason] += hit_weight(h) * span_weight(st->name, c);
		sum->joined_ns[state] += hit_weight(h) * span_weight(st->name, c);
	}
}

static void add_sums(struct span_sum *to, const struct span_sum *from)
{
	to->count += from->count;
	to->dur_ns += from->dur_ns;
	to->run_ns += from->run_ns;
	for (int i = 0; i < MS_COUNT; i++)
		to->state_ns[i] += from->state_ns[i];
}

static void add_reasons(struct span_sum *to, const struct span_sum *from)
{
	for (int i = 0; i < MS_COUNT; i++) {
		for (int r = 0; r < REASON_COUNT; r++)
			to->reason_ns[i][r] += from->reason_ns[i][r];
		to->joined_ns[i] += from->joined_ns[i];
	}
}

/* --- all calls --- */

/* Quantiles of the recorded calls that pass. */
static void rank_quantiles(struct stats *x, struct span_stat *st)
{
	const uint32_t *ranked = &x->sp->ranked.data[st->name->first];
	double shorter = 0;
	int q = 0;

	for (size_t i = st->name->n; i-- > 0;) {
		const struct span_call *c = &x->sp->calls.data[ranked[i]];
		int64_t dur = wrap_minus(c->end_ns, c->begin_ns);

		if (x->marks[ranked[i]] < SPAN_MARK_REST)
			continue;
		shorter += span_weight(st->name, c);
		for (; q < 3 && shorter > span_rank(st->all.count, span_quantiles[q]); q++)
			st->quantile_ns[q] = dur;
		st->max_ns = dur;
	}
}

/* If the recorder does not know the longest call: the longest that is known, or the histogram's last bucket. */
static void take_max(struct span_stat *st)
{
	const struct span_row *row = &st->name->sum;
	uint64_t last = span_hist_quantile(row->hist, 1);

	st->max_rough = st->name->max_unknown;
	if (!st->max_rough || row->max_ns > st->max_ns)
		st->max_ns = row->max_ns;
	if (span_bucket(st->max_ns) < span_bucket(last))
		st->max_ns = last;
}

static void take_exact(struct span_stat *st)
{
	const struct span_row *row = &st->name->sum;

	st->all.count = row->count;
	st->all.dur_ns = row->dur_ns;
	st->all.run_ns = row->run_ns;
	for (int i = 0; i < MS_COUNT; i++)
		st->all.state_ns[i] = row->state_ns[i];
	st->split = row->split;
	st->exact = true;
	st->estimated = false;
	if (span_all_recorded(st->name))
		return;
	st->rough = true;
	take_max(st);
	for (int q = 0; q < 3; q++)
		st->quantile_ns[q] = span_hist_quantile(row->hist, span_quantiles[q]);
	st->slow_sampled = row->lost || !row->threshold_ns ||
			   span_bucket(row->threshold_ns) > span_bucket(st->quantile_ns[2]);
}

static void finish(struct stats *x, struct span_stat *st, bool filtered)
{
	add_sums(&st->all, &st->rest);
	add_sums(&st->all, &st->slow);
	add_reasons(&st->all, &st->rest);
	add_reasons(&st->all, &st->slow);
	rank_quantiles(x, st);
	st->estimated = st->rough = st->max_rough = st->slow_sampled = !span_all_recorded(st->name);
	if (st->name->hist && !filtered)
		take_exact(st);
}

static int by_sum(const void *pa, const void *pb)
{
	const struct span_stat *a = pa, *b = pb;

	if (a->all.dur_ns != b->all.dur_ns)
		return a->all.dur_ns > b->all.dur_ns ? -1 : 1;
	return strcmp(a->name->sum.name, b->name->sum.name);
}

void span_stats(struct session *s, struct filter *filter, span_stat_vec *ret)
{
	const struct spans *sp = session_spans(s);
	__cleanup(freep) uint8_t *marks = span_marks(s, filter);
	struct stats x = { .sp = sp, .marks = marks,
			   .by_name = xcalloc(sp->names.len, sizeof(*x.by_name)) };

	*ret = (span_stat_vec){ 0 };
	for (size_t i = 0; i < sp->names.len; i++) {
		x.by_name[i].name = &sp->names.data[i];
		x.by_name[i].split = true;
	}
	add_calls(&x);
	pass_run(s, NULL, NULL, join_wait, NULL, &x);
	for (size_t i = 0; i < sp->names.len; i++) {
		finish(&x, &x.by_name[i], filter != NULL);
		if (!filter || x.by_name[i].all.count > 0)
			vec_push(ret, x.by_name[i]);
	}
	free(x.by_name);
	vec_sort(ret, by_sum);
}

/* --- what is slow --- */

double span_mean(const struct span_sum *sum, enum er_mstate state)
{
	double ns = state == MS_LINUX_CPU ? sum->run_ns : sum->state_ns[state];

	return sum->count > 0 ? ns / sum->count : 0;
}

double span_rest_mean(const struct span_stat *st, enum er_mstate state)
{
	double all = span_mean(&st->all, state) * st->all.count;
	double slow = span_mean(&st->slow, state) * st->slow.count;

	if (!st->exact || st->all.count <= st->slow.count || all < slow)
		return span_mean(&st->rest, state);
	return (all - slow) / (st->all.count - st->slow.count);
}

size_t span_states(bool split, enum er_mstate ret[MS_COUNT])
{
	size_t n = 0;

	if (!split)
		ret[n++] = MS_LINUX_CPU;
	for (int i = 0; i < MS_COUNT; i++) {
		if (mstate_descs[i].span && (!mstate_descs[i].on_cpu || split))
			ret[n++] = i;
	}
	return n;
}

int span_slow_state(const struct span_stat *st)
{
	enum er_mstate states[MS_COUNT];
	size_t n = span_states(st->split, states);
	double most = 0;
	int ret = -1;

	if (st->slow.count <= 0 || st->all.count <= st->slow.count)
		return -1;
	for (size_t i = 0; i < n; i++) {
		double more = span_mean(&st->slow, states[i]) - span_rest_mean(st, states[i]);

		if (more > most) {
			most = more;
			ret = states[i];
		}
	}
	return ret;
}

/* The mean time of a call for a reason: a share of the state's, which is exact. */
static double reason_mean(const struct span_sum *sum, enum er_mstate state, int reason)
{
	double joined = sum->joined_ns[state];

	return joined > 0 ? span_mean(sum, state) * sum->reason_ns[state][reason] / joined : 0;
}

enum er_reason span_slow_reason(const struct span_stat *st, enum er_mstate state)
{
	enum er_reason ret = REASON_NONE;
	double most = 0;

	for (int r = REASON_NONE + 1; r < REASON_COUNT; r++) {
		double more = reason_mean(&st->slow, state, r) - reason_mean(&st->rest, state, r);

		if (more > most) {
			most = more;
			ret = r;
		}
	}
	return ret;
}

enum er_reason span_reason(const struct span_sum *sum, enum er_mstate state)
{
	enum er_reason ret = REASON_NONE;
	double most = 0;

	for (int r = REASON_NONE + 1; r < REASON_COUNT; r++) {
		if (sum->reason_ns[state][r] > most) {
			most = sum->reason_ns[state][r];
			ret = r;
		}
	}
	return ret;
}
