/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A rule on calls of spans: what the slowest hundredth waits for. */
#include <ctype.h>
#include <math.h>

#include "analysis/base/buf.h"
#include "analysis/findings/rules.h"
#include "analysis/metrics/spanstat.h"
#include "analysis/views/spanrows.h"

/* With fewer calls the slowest is one of a few. Slow calls take at least so many times as long. */
enum { CALLS_MIN = 100, TIMES_MIN = 2 };

static double mean(const struct span_sum *sum)
{
	return sum->count > 0 ? sum->dur_ns / sum->count : 0;
}

/* The mean duration of the calls that are not slow. */
static double rest_mean(const struct span_stat *st)
{
	enum er_mstate states[MS_COUNT];
	size_t n = span_states(st->split, states);
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += span_rest_mean(st, states[i]);
	return sum;
}

/* The state in which slow calls spend most more time, if it explains enough of it; -1: none. */
static int explains(const struct finder *f, const struct rule *r, const struct span_stat *st)
{
	double rest = rest_mean(st), more;
	int state = span_slow_state(st);

	if (state < 0 || st->all.count < CALLS_MIN || mean(&st->slow) < TIMES_MIN * rest ||
	    st->slow.dur_ns < r->of_whole * (double)f->facts.duration_ns)
		return -1;
	more = span_mean(&st->slow, state) - span_rest_mean(st, state);
	return more >= r->of_program * (mean(&st->slow) - rest) ? state : -1;
}

/* A name that is no regular expression of its own. */
static bool is_plain(const char *name)
{
	while (isalnum((unsigned char)*name) || *name == '_' || *name == '-')
		name++;
	return !*name;
}

static void add_finding(struct finder *f, const struct rule *r, const struct span_stat *st,
			enum er_mstate state)
{
	enum er_reason reason = span_slow_reason(st, state);
	const char *name = st->name->sum.name;
	double slow = mean(&st->slow), rest = rest_mean(st);
	struct buf text = { 0 }, filter = { 0 };

	buf_printf(&text, "Slow calls of `%s` (the slowest 1 %%) spend ", name);
	put_share(&text, span_mean(&st->slow, state) / slow, 0);
	buf_printf(&text, " of their time in %s%s%s, others ", span_state_name(state),
		   reason ? ": " : "", reason ? reason_descs[reason].uname : "");
	put_share(&text, rest > 0 ? span_rest_mean(st, state) / rest : 0, 0);
	buf_puts(&text, "; they take ");
	put_time(&text, slow);
	buf_puts(&text, ", others ");
	put_time(&text, rest);
	buf_puts(&text, ".");
	buf_printf(&filter, "SPAN == '%s' && SPANPCT >= 99", name);
	/* Without a record for each slow call the error is that of a count of records. */
	finder_add(f, r, text.data, llround(st->slow.dur_ns),
		   st->slow_sampled ? st->slow.dur_ns / sqrt(st->slow.count) : 0, "-spans",
		   is_plain(name) ? filter.data : NULL);
	buf_free(&text);
	buf_free(&filter);
}

/* The span whose slow calls take the most time. */
void find_spans(struct finder *f, const struct rule *r)
{
	struct view_state *v = f->facts.w.v;
	const struct span_stat *worst = NULL;
	span_stat_vec stats;

	if (!session_has_spans(v->session))
		return;
	span_stats(v->session, v->filter, &stats);
	vec_for_each(st, &stats) {
		if (explains(f, r, st) >= 0 && (!worst || st->slow.dur_ns > worst->slow.dur_ns))
			worst = st;
	}
	if (worst)
		add_finding(f, r, worst, explains(f, r, worst));
	vec_free(&stats);
}
