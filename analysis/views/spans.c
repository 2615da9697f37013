/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spans: for each span how many calls there were, how long they lasted, and in which states; next to
 * it the same of the slowest hundredth. A first line says what slow calls have most more of.
 */
#include "analysis/metrics/spanstat.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/base/buf.h"
#include "analysis/views/columns.h"
#include "analysis/views/spanrows.h"

enum {
	COL_CALLS, COL_RATE, COL_SUM, COL_P50, COL_P90, COL_P99, COL_MAX,
	COL_MEAN, COL_SHARE, COL_SLOW_MEAN, COL_SLOW_SHARE,
	COL_STATE, COL_REASON, COL_NAME, COL_TEXT,
};

static const char all[] = "All calls", slowest[] = "Slowest 1 %";

static void put_columns(struct table *t)
{
	static const struct column columns[] = {
		[COL_CALLS] = { .kind = CELL_COUNT, .title = { "Calls" } },
		[COL_RATE] = { .kind = CELL_RATIO, .title = { "Calls", "a sec." }, .spare = 5 },
		[COL_SUM] = { .kind = CELL_TIME, .title = { "Sum", "", "sec." }, .sorted = true },
		[COL_P50] = { .kind = CELL_MSEC, .title = { "p50", "", "ms" }, .spare = 2 },
		[COL_P90] = { .kind = CELL_MSEC, .title = { "p90", "", "ms" }, .spare = 4 },
		[COL_P99] = { .kind = CELL_MSEC, .title = { "p99", "", "ms" }, .spare = 1 },
		[COL_MAX] = { .kind = CELL_MSEC, .title = { "Max", "", "ms" }, .spare = 3 },
		[COL_MEAN] = { .kind = CELL_MSEC, .title = { "Mean", "", "ms" }, .group = all },
		[COL_SHARE] = { .kind = CELL_PERCENT, .title = { "Mean", "", "%" }, .group = all },
		[COL_SLOW_MEAN] = { .kind = CELL_MSEC, .title = { "Mean", "", "ms" },
				    .group = slowest },
		[COL_SLOW_SHARE] = { .kind = CELL_PERCENT, .title = { "Mean", "", "%" },
				     .group = slowest },
		[COL_STATE] = { .kind = CELL_TEXT, .title = { "State" }, .hidden = true },
		[COL_REASON] = { .kind = CELL_TEXT, .title = { "Reason" }, .hidden = true },
		[COL_NAME] = { .kind = CELL_TEXT, .title = { "Span" }, .hidden = true },
		[COL_TEXT] = { .kind = CELL_TEXT, .title = { "Span, state" }, .wrap = true },
	};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		vec_push(&t->columns, columns[i]);
}

enum { SHORT_NS = 100000, MSEC_NS = 1000000 };

/* Durations are in microseconds if half of the calls of each name are too short for milliseconds. */
static void choose_unit(struct table *t, const span_stat_vec *stats)
{
	bool brief = true;

	vec_for_each(st, stats)
		brief &= st->quantile_ns[0] < SHORT_NS;
	vec_for_each(c, &t->columns) {
		if (!brief || c->kind != CELL_MSEC)
			continue;
		c->kind = CELL_USEC;
		c->title[2] = "us";
	}
}

/* Add a duration, in the unit of its column. */
static void put_length(struct table *t, struct row *r, int col, double ns, bool estimate)
{
	r->cells[col] = (struct cell){ .kind = t->columns.data[col].kind, .i = llround(ns),
				       .estimate = estimate };
}

static void put_percent(struct row *r, int col, double part, double whole, bool estimate)
{
	if (whole > 0)
		r->cells[col] = (struct cell){ .kind = CELL_PERCENT, .d = 100 * part / whole,
					       .estimate = estimate };
}

static bool has_spans(const struct spans *sp, const struct experiment *founder)
{
	vec_for_each(src, &sp->sources) {
		if (src->e == founder || src->e->founder == founder)
			return true;
	}
	return founder->spans.len > 0;
}

/* The duration of all recordings that have spans, in seconds. */
static double duration(struct session *s)
{
	double ns = 0;

	vec_for_each(e, &s->experiments) {
		if (!(*e)->founder && has_spans(session_spans(s), *e))
			ns += (double)(*e)->end_ns;
	}
	return ns / 1e9;
}

static double mean_duration(const struct span_sum *sum)
{
	return sum->count > 0 ? sum->dur_ns / sum->count : 0;
}

/* "q: slow by 50.191 ms of Sleep, writeback". Long times are in ms even if the columns are in us. */
static const char *headline(struct table *t, const struct span_stat *st)
{
	struct buf b = { 0 };
	int state = span_slow_state(st);
	enum er_reason reason;

	buf_puts(&b, st->name->sum.name);
	if (state >= 0) {
		double more = span_mean(&st->slow, state) - span_rest_mean(st, state);
		bool brief = t->columns.data[COL_MEAN].kind == CELL_USEC && more < MSEC_NS;

		reason = span_slow_reason(st, state);
		buf_printf(&b, ": slow by %s%.3f %s of %s", st->slow_sampled ? "~" : "",
			   more / (brief ? 1e3 : 1e6), brief ? "us" : "ms", span_state_name(state));
		buf_printf(&b, "%s%s", reason ? ", " : "", reason ? reason_descs[reason].uname : "");
	}
	return span_keep(t, &b);
}

static void put_name(struct view_state *v, struct table *t, const struct span_stat *st, int group)
{
	static const int columns[] = { COL_P50, COL_P90, COL_P99 };
	struct row *r = table_row(t);
	double seconds = duration(v->session);

	r->group = group;
	r->cells[COL_CALLS] = (struct cell){ .kind = CELL_COUNT, .i = llround(st->all.count),
					     .estimate = st->estimated };
	if (seconds > 0)
		r->cells[COL_RATE] = (struct cell){ .kind = CELL_RATIO, .estimate = st->estimated,
						    .d = st->all.count / seconds };
	r->cells[COL_SUM] = (struct cell){ .kind = CELL_TIME, .i = llround(st->all.dur_ns),
					   .estimate = st->estimated };
	if (st->all.count > 0) {
		for (int q = 0; q < 3; q++)
			put_length(t, r, columns[q], st->quantile_ns[q], st->rough);
		put_length(t, r, COL_MAX, st->max_ns, st->max_rough);
		put_length(t, r, COL_MEAN, mean_duration(&st->all), st->estimated);
	}
	if (st->slow.count > 0)
		put_length(t, r, COL_SLOW_MEAN, mean_duration(&st->slow), st->slow_sampled);
	put_text(r, COL_NAME, st->name->sum.name);
	put_text(r, COL_TEXT, headline(t, st));
}

struct state_row {
	enum er_mstate state;
	double all, slow, more;
};

static int by_more(const void *pa, const void *pb)
{
	const struct state_row *a = pa, *b = pb;

	if (a->more != b->more)
		return a->more > b->more ? -1 : 1;
	return a->state < b->state ? -1 : a->state > b->state;
}

static void put_state(struct table *t, const struct span_stat *st, const struct state_row *s,
		      int group)
{
	enum er_reason reason = s->more > 0 ? span_slow_reason(st, s->state) :
					      span_reason(&st->all, s->state);
	struct row *r = table_row(t);

	r->group = group;
	put_length(t, r, COL_MEAN, s->all, st->estimated);
	put_percent(r, COL_SHARE, s->all, mean_duration(&st->all), st->estimated);
	if (st->slow.count > 0) {
		put_length(t, r, COL_SLOW_MEAN, s->slow, st->slow_sampled);
		put_percent(r, COL_SLOW_SHARE, s->slow, mean_duration(&st->slow), st->slow_sampled);
	}
	put_text(r, COL_NAME, st->name->sum.name);
	put_text(r, COL_STATE, span_state_name(s->state));
	put_text(r, COL_REASON, reason ? reason_descs[reason].uname : "");
	put_textf(t, r, COL_TEXT, "  %s%s%s", span_state_name(s->state), reason ? ": " : "",
		  reason ? reason_descs[reason].uname : "");
}

/* What slow calls have most more of comes first. */
static void put_states(struct table *t, const struct span_stat *st, int group)
{
	enum er_mstate states[MS_COUNT];
	size_t n = span_states(st->split, states), used = 0;
	struct state_row rows[MS_COUNT];

	for (size_t i = 0; i < n; i++) {
		struct state_row row = { .state = states[i], .all = span_mean(&st->all, states[i]),
					 .slow = span_mean(&st->slow, states[i]) };

		row.more = st->slow.count > 0 ? row.slow - span_rest_mean(st, states[i]) : 0;
		if (row.all > 0 || row.slow > 0)
			rows[used++] = row;
	}
	qsort(rows, used, sizeof(*rows), by_more);
	for (size_t i = 0; i < used; i++)
		put_state(t, st, &rows[i], group);
}

static void note_count(struct table *t, const char *name, uint64_t n, const char *one, const char *many)
{
	if (n)
		put_note(t, "%s: %" PRIu64 " %s.", name, n, n == 1 ? one : many);
}

/* What is not in the figures is said for each name. */
static void put_losses(struct table *t, const struct span_name *n)
{
	const char *name = n->sum.name;

	note_count(t, name, n->sum.lost, "record was lost: that call is counted, but not listed",
		   "records were lost: those calls are counted, but not listed");
	note_count(t, name, n->sum.noroom, "call is not counted, because its thread was in 32 others already",
		   "calls are not counted, because their threads were in 32 others already");
	note_count(t, name, n->sum.unended, "call is not counted, because it did not return: longjmp, an exception, "
		   "exec, or the end of the thread or of the recording ended it",
		   "calls are not counted, because they did not return: longjmp, an exception, exec, or the end of the "
		   "thread or of the recording ended them");
	note_count(t, name, n->sum.nobegin, "end is not counted, because its begin was not recorded",
		   "ends are not counted, because their begins were not recorded");
}

/* Short waits often have no record, and so no reason. */
static void put_unrecorded(struct table *t, const struct span_stat *st)
{
	int state = span_slow_state(st);

	if (state >= 0 && !mstate_descs[state].on_cpu && !span_slow_reason(st, state))
		put_note(t, "%s: why slow calls were in %s is unknown, because none of these waits was recorded: "
			 "`er_kernel -s on' records each long wait.", st->name->sum.name, span_state_name(state));
}

static void put_notes(struct view_state *v, struct table *t, const span_stat_vec *stats)
{
	bool estimates = false;

	vec_for_each(st, stats) {
		const struct span_name *n = st->name;

		estimates |= st->rough || st->slow_sampled;
		if (!span_all_recorded(n))
			put_note(t, "%s: %zu of %" PRIu64 " calls have a record%s.", n->sum.name,
				 n->nwhole, n->sum.count, v->filter ?
				 "; the filter chooses among them" : "");
		if (!n->hist)
			put_note(t, "%s: the recorder did not write its sums; recorded calls are shown.",
				 n->sum.name);
		put_losses(t, n);
		put_unrecorded(t, st);
	}
	if (estimates)
		put_note(t, "~ marks an estimate: from a histogram, or from a sample of the calls.");
}

int view_spans(struct view_state *v, struct table *t, struct diag *d)
{
	span_stat_vec stats;
	int group = 0;

	t->name = "spans";
	t->title = "Calls of spans, and what the slowest wait for";
	span_stats(v->session, v->filter, &stats);
	if (stats.len)
		put_columns(t);
	choose_unit(t, &stats);
	for (size_t i = 0; i < stats.len && (!v->limit || i < v->limit); i++) {
		put_name(v, t, &stats.data[i], group);
		put_states(t, &stats.data[i], group++);
	}
	if (stats.len)
		put_notes(v, t, &stats);
	else
		span_nothing(v, t);
	vec_free(&stats);
	return 0;
}
