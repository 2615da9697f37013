/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * span NAME N: one call as a timeline. Each recorded wait in it has a row. What was not recorded is a
 * row for each state, so that the rows add up to the duration. Calls inside it are named between
 * them; their time is in the other rows.
 */
#include <inttypes.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/wrap.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/spanstat.h"
#include "analysis/views/columns.h"
#include "analysis/views/singlewait.h"
#include "analysis/views/spanrows.h"

enum { STACKS_SHOWN = 3, MUCH = 10 /* percent of the call */ };

/* A moment of the call: a wait, or the begin of a call inside it. */
struct moment {
	int64_t at_ns;   /* since the call's begin */
	int64_t part_ns; /* the part of the wait that is in the call */
	struct single_wait wait;
	const struct span_call *inner; /* NULL: a wait */
};

/* Clock samples in the call with one stack. */
struct sampled {
	uint32_t stack;
	uint64_t n;
};

struct timeline {
	struct wait_report w; /* first member: the report's functions are given its address */
	const struct spans *sp;
	const struct span_call *call;
	int64_t rest_ns[MS_COUNT];
	VEC(struct moment) moments;
	VEC(struct sampled) samples;
};

static int64_t length(const struct span_call *c)
{
	return wrap_minus(c->end_ns, c->begin_ns);
}

static bool is_inside(const struct hit *h, const struct span_call *call)
{
	const struct span_call *c;
	struct span_walk w;

	hit_spans(h, &w);
	while ((c = span_walk_next(&w))) {
		if (c == call)
			return true;
	}
	return false;
}

static void add_sample(struct timeline *tl, uint32_t stack)
{
	vec_for_each(s, &tl->samples) {
		if (s->stack == stack) {
			s->n++;
			return;
		}
	}
	vec_push(&tl->samples, (struct sampled){ stack, 1 });
}

static void add_hit(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct timeline *tl = ctx;
	struct moment m;

	if (h->stream->kind != ER_PKT_CLOCK || !is_inside(h, tl->call))
		return;
	if (!hit_is_wait(h)) {
		add_sample(tl, h->stack);
		return;
	}
	m = (struct moment){ .wait = single_wait_of(h) };
	m.at_ns = wrap_minus(wrap_minus(m.wait.end_ns, hit_part_length(h)), tl->call->begin_ns);
	m.at_ns = m.at_ns > 0 ? m.at_ns : 0;
	m.part_ns = wrap_minus(wrap_minus(m.wait.end_ns, tl->call->begin_ns), m.at_ns);
	add_to(&tl->rest_ns[m.wait.state], -(uint64_t)m.part_ns);
	vec_push(&tl->moments, m);
}

/* The calls that the thread made directly inside this one. */
static void add_inner(struct timeline *tl)
{
	uint32_t self = tl->call - tl->sp->calls.data;

	vec_for_each(th, &tl->sp->threads) {
		if (self < th->first || self >= th->first + th->n)
			continue;
		for (uint32_t i = self + 1; i < th->first + th->n; i++) {
			const struct span_call *c = &tl->sp->calls.data[i];

			if (c->begin_ns >= tl->call->end_ns)
				break;
			if (c->outer == self + 1)
				vec_push(&tl->moments, (struct moment){
					.at_ns = wrap_minus(c->begin_ns, tl->call->begin_ns),
					.inner = c });
		}
	}
}

static int by_time(const void *pa, const void *pb)
{
	const struct moment *a = pa, *b = pb;

	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns ? -1 : 1;
	/* A call is named before the waits in it. */
	if (!a->inner != !b->inner)
		return a->inner ? -1 : 1;
	return a->wait.end_ns < b->wait.end_ns ? -1 : a->wait.end_ns > b->wait.end_ns;
}

static int by_number(const void *pa, const void *pb)
{
	const struct sampled *a = pa, *b = pb;

	if (a->n != b->n)
		return a->n > b->n ? -1 : 1;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

enum { COL_AT, COL_LENGTH, COL_SHARE, COL_STATE, COL_REASON, COL_TEXT };

static void put_columns(struct table *t)
{
	static const struct column columns[] = {
		[COL_AT] = { .kind = CELL_MSEC, .title = { "At", "", "ms" } },
		[COL_LENGTH] = { .kind = CELL_MSEC, .title = { "Length", "", "ms" } },
		[COL_SHARE] = { .kind = CELL_PERCENT, .title = { "Length", "", "%" } },
		[COL_STATE] = { .kind = CELL_TEXT, .title = { "State" } },
		[COL_REASON] = { .kind = CELL_TEXT, .title = { "Reason" }, .spare = 1 },
		[COL_TEXT] = { .kind = CELL_TEXT, .title = { "Stack; end" }, .wrap = true },
	};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		vec_push(&t->columns, columns[i]);
}

static struct row *put_part(struct timeline *tl, enum er_mstate state, int64_t ns)
{
	struct row *r = table_row(tl->w.t);

	r->cells[COL_LENGTH] = (struct cell){ .kind = CELL_MSEC, .i = ns };
	r->cells[COL_SHARE] = (struct cell){ .kind = CELL_PERCENT,
					     .d = percent_of(ns, length(tl->call)) };
	put_text(r, COL_STATE, span_state_name(state));
	put_text(r, COL_REASON, "");
	return r;
}

static void put_inner(struct timeline *tl, const struct moment *m)
{
	struct row *r = table_row(tl->w.t);
	struct buf b = { 0 };

	put_text(r, COL_STATE, "");
	put_text(r, COL_REASON, "");
	buf_printf(&b, "span %s %" PRIu32 ", %.3f ms", tl->sp->names.data[m->inner->name].sum.name,
		   m->inner->rank, (double)length(m->inner) / 1e6);
	r->cells[COL_AT] = (struct cell){ .kind = CELL_MSEC, .i = m->at_ns };
	put_text(r, COL_TEXT, span_keep(tl->w.t, &b));
}

static void put_wait(struct timeline *tl, const struct moment *m)
{
	struct row *r = put_part(tl, m->wait.state, m->part_ns);

	r->cells[COL_AT] = (struct cell){ .kind = CELL_MSEC, .i = m->at_ns };
	put_text(r, COL_REASON, m->wait.reason);
	put_text(r, COL_TEXT, single_wait_where(&tl->w, &m->wait));
}

/* "3 samples: 2 in parse < query < main, 1 in …" */
static const char *samples_text(struct timeline *tl)
{
	struct buf b = { 0 };
	uint64_t n = 0;

	vec_for_each(s, &tl->samples)
		n += s->n;
	vec_sort(&tl->samples, by_number);
	if (!n)
		return "no sample";
	buf_printf(&b, "%" PRIu64 " sample%s: ", n, n == 1 ? "" : "s");
	for (size_t i = 0; i < tl->samples.len && i < STACKS_SHOWN; i++)
		buf_printf(&b, "%s%" PRIu64 " in %s", i ? ", " : "", tl->samples.data[i].n,
			   wait_path_brief(&tl->w, wait_path(&tl->w.paths, tl->samples.data[i].stack)));
	return span_keep(tl->w.t, &b);
}

/* The times that no row has yet. */
static void put_rests(struct timeline *tl, const enum er_mstate *states, size_t n)
{
	bool samples = false;
	int64_t without = 0;

	for (size_t i = 0; i < n; i++) {
		bool on_cpu = mstate_descs[states[i]].on_cpu;
		int64_t ns = tl->rest_ns[states[i]];
		struct row *r;

		if (!ns)
			continue;
		r = put_part(tl, states[i], ns);
		put_text(r, COL_TEXT, on_cpu && !samples ? samples_text(tl) :
				      on_cpu ? "" : "waits without a record");
		samples |= on_cpu;
		without += on_cpu ? 0 : ns;
	}
	if (percent_of(without, length(tl->call)) > MUCH)
		put_note(tl->w.t, "Waits without a record are short or were not sampled: `er_kernel -s on' records each long one.");
}

static void put_title(struct timeline *tl)
{
	const struct span_name *n = &tl->sp->names.data[tl->call->name];
	struct buf b = { 0 }, facts = { 0 };

	buf_printf(&b, "Call %" PRIu32 " of %zu of span %s: %.3f ms, began at %.6f sec., in %s",
		   tl->call->rank, n->n, n->sum.name, (double)length(tl->call) / 1e6,
		   (double)tl->call->begin_ns / 1e9, span_thread_text(tl->w.v, tl->w.t, tl->call));
	span_put_facts(tl->sp, tl->call, &facts);
	if (facts.len)
		buf_printf(&b, "; %s", facts.data);
	buf_free(&facts);
	tl->w.t->title = span_keep(tl->w.t, &b);
}

/* Which call this one was made in. */
static void put_outer(struct timeline *tl)
{
	int64_t parent = span_int(tl->sp, tl->call, "SPANPARENT");

	for (uint32_t o = tl->call->outer; o && parent; o = tl->sp->calls.data[o - 1].outer) {
		const struct span_call *c = &tl->sp->calls.data[o - 1];

		if ((int64_t)c->id != parent)
			continue;
		put_note(tl->w.t, "Called in span %s %" PRIu32 ", which took %.3f ms.",
			 tl->sp->names.data[c->name].sum.name, c->rank, (double)length(c) / 1e6);
		return;
	}
	if (parent)
		put_note(tl->w.t, "Called in a call of a span that has no record.");
}

static void put_sum(struct timeline *tl, const enum er_mstate *states, size_t n)
{
	int64_t stolen = span_int(tl->sp, tl->call, "SPANSTOLEN"), over = 0;

	for (size_t i = 0; i < n; i++)
		over += tl->rest_ns[states[i]] < 0;
	put_note(tl->w.t, "The lengths add up to %.3f ms.", (double)length(tl->call) / 1e6);
	if (over)
		put_note(tl->w.t, "A negative length corrects recorded waits that are longer than the "
			 "call's own count of that state.");
	if (stolen > 0)
		put_note(tl->w.t, "%.3f ms of Wait CPU were stolen: the hypervisor or an interrupt had "
			 "the CPU.", (double)stolen / 1e6);
}

static void put_rows(struct timeline *tl)
{
	enum er_mstate states[MS_COUNT];
	size_t n = span_states(tl->call->flags & SPAN_SPLIT, states);

	for (size_t i = 0; i < n; i++)
		add_to(&tl->rest_ns[states[i]], span_state_ns(tl->sp, tl->call, states[i]));
	vec_sort(&tl->moments, by_time);
	vec_for_each(m, &tl->moments) {
		if (m->inner)
			put_inner(tl, m);
		else
			put_wait(tl, m);
	}
	put_rests(tl, states, n);
	put_outer(tl);
	put_sum(tl, states, n);
}

int view_span(struct view_state *v, const char *name, size_t rank, struct table *t, struct diag *d)
{
	struct timeline tl = { .sp = session_spans(v->session) };
	const struct span_name *n = span_named(tl.sp, name);

	if (!n)
		return span_unknown(tl.sp, name, d);
	if (!n->n)
		return diag_error(d, "span '%s': no call was recorded; spans shows its counts", name);
	tl.call = span_ranked(tl.sp, n, rank);
	if (!tl.call)
		return diag_error(d, "span: %s has %zu recorded calls: give a number from 1 (the "
				  "slowest) to %zu", name, n->n, n->n);
	t->name = "span";
	wait_report_init(&tl.w, v, t);
	put_columns(t);
	put_title(&tl);
	pass_run(v->session, NULL, NULL, add_hit, NULL, &tl);
	add_inner(&tl);
	put_rows(&tl);
	wait_report_end(&tl.w);
	vec_free(&tl.moments);
	vec_free(&tl.samples);
	return 0;
}
