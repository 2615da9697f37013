/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions are compared by name and by the name of their object's file, so they may have moved,
 * in another build or in another directory.
 *
 * The CPU time of a recording is exact. A function's share p of it is sampled, so the variance of
 * its time is p (1 - p) times the sum of all samples' squared weights. Of a part of the threads' time, such
 * as a range, even the total is sampled, and the variance is p times that sum. p is taken from both
 * recordings together: the question is whether they could be equal, and few samples of one alone
 * say too little about their own variance. Waits come at random, and two
 * equal loads do not wait equally often. So the variance of their time is that of a compound
 * Poisson process, of which the sum of squares is an estimate; it includes that of sampling.
 */
#include "analysis/views/diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/wrap.h"
#include "analysis/metrics/difference.h"
#include "analysis/metrics/tally.h"
#include "analysis/model/source.h"
#include "analysis/views/columns.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

enum { GROUPS = 2, SHOWN = 20 };

/* The chance that two equal recordings seem to differ in any function, by sampling alone. */
static const double chance = 0.01;

/*
 * What is compared. Sleep is not: waiting for work or messages is not slow. Of waits for a CPU only
 * the total is shown, and it counts as no change: it depends on what else the machine does.
 */
static const struct compared {
	const char *metric, *otherwise; /* the second for recordings without the first */
	const char *title[2];           /* exclusive, inclusive */
	bool on_cpu, total_only;
} compared[] = {
	{ "cpu", "totalcpu", { "CPU time", "CPU time, with callees" }, .on_cpu = true },
	{ "lock", .title = { "User locks", "User locks, with callees" } },
	{ "datapfault", .title = { "Data page faults", "Data page faults, with callees" } },
	{ "textpfault", .title = { "Text page faults", "Text page faults, with callees" } },
	{ "wait", NULL, { "Waits for a CPU" }, .total_only = true },
};

enum { NCOMPARED = sizeof(compared) / sizeof(compared[0]) };

/* All functions of one name, in one metric and flavor. */
struct difference {
	const char *name;
	struct estimate of[GROUPS];
	double sample; /* time of the mean sample, weighted by time */
	bool total;
	enum change change;
};

/*
 * All functions without time in the first recording, as if they were one: `of[1]`. `of[0]` are those without time in
 * the second. If a function was renamed, both have its time.
 */
struct renewal {
	struct difference sum;
	bool listed, slower;
};

struct diff {
	struct view_state *v;
	struct table *t;
	enum diff_unit unit;
	double per[GROUPS]; /* what values are divided by: seconds, or number of recordings */
	double z;
	size_t nslower;
	char *first_slower; /* of so many rows */
	struct renewal renewals[NCOMPARED];
	bool any[GROUPS]; /* the filter leaves data that are compared */
	bool sampled; /* the filter leaves a part of threads' time */
	double before; /* the first recording's total of the metric */
	size_t nhidden;
	struct strtab names;
	VEC(struct difference) rows; /* of one metric and flavor */
	VEC(uint32_t) row_of;        /* by name: row + 1 */
};

/* The function's name without the PID that functions of processes that were not followed have. */
static uint32_t name_of(struct diff *x, const struct func *f)
{
	const char *name = func_name(x->v, f), *pid = name[0] == '<' ? strstr(name, "_PID_") : NULL;
	bool own = f->obj->pseudo || f->obj->kernel || name[0] == '<';
	struct buf b = { 0 };
	uint32_t id;

	if (pid)
		buf_printf(&b, "%.*s>", (int)(pid - name), name);
	else if (own)
		buf_puts(&b, name);
	else
		buf_printf(&b, "%s [%s]", name, base_name(f->obj->path));
	id = strtab_id(&x->names, b.data);
	buf_free(&b);
	return id;
}

static struct difference *row_of(struct diff *x, const struct func *f)
{
	uint32_t name = name_of(x, f);

	while (x->row_of.len <= name)
		vec_push(&x->row_of, 0);
	if (!x->row_of.data[name]) {
		vec_push(&x->rows, (struct difference){ .name = x->names.strings[name] });
		x->row_of.data[name] = x->rows.len;
	}
	return &x->rows.data[x->row_of.data[name] - 1];
}

/* Add a function's value and squares, in nanoseconds and in nanoseconds squared. */
static void add_values(struct diff *x, const struct metric *m, struct difference *row,
		       const int64_t *values)
{
	for (int g = 0; g < GROUPS; g++) {
		row->of[g].value += (double)values[m->groups[g].id];
		row->of[g].variance += 1e6 * (double)values[m->squares[g].id];
	}
}

/* From sums of squares to variances, and to the unit. */
static void finish_row(const struct diff *x, const struct compared *c, struct difference *row,
		       const struct difference *total)
{
	double whole = total->of[0].value + total->of[1].value;
	double p = whole > 0 ? (row->of[0].value + row->of[1].value) / whole : 0;

	p = p < 1 ? p : 1;
	for (int g = 0; g < GROUPS; g++) {
		struct estimate *e = &row->of[g];
		double of_sample = total->of[g].value > 0 ?
				   total->of[g].variance / total->of[g].value / x->per[g] : 0;

		row->sample = of_sample > row->sample ? of_sample : row->sample;
		if (c->on_cpu)
			e->variance = total->of[g].variance * p * (x->sampled ? 1 : 1 - p);
		e->value /= x->per[g];
		e->variance /= x->per[g] * x->per[g];
	}
}

/* <Unknown>, <Stack-unwind-failed> and the like, which say something about the recording. */
static bool is_about_recording(const struct func *f)
{
	return f->flags & FUNC_PSEUDO && !strstr(f->name, "_PID_");
}

static struct renewal *renewal_of(struct diff *x, const struct compared *c)
{
	return &x->renewals[c - compared];
}

/* Exclusive times: those with callees would count a new function's time for each of its new callers. */
static void sum_renewal(struct diff *x, const struct compared *c, const struct difference *total)
{
	struct difference *sum = &renewal_of(x, c)->sum;

	vec_for_each(row, &x->rows) {
		for (int g = 0; g < GROUPS; g++) {
			if (row->of[!g].value > 0)
				continue;
			sum->of[g].value += row->of[g].value;
			sum->of[g].variance += row->of[g].variance;
		}
	}
	finish_row(x, c, sum, total);
}

static void add_functions(struct diff *x, const struct compared *c, const struct metric *m, bool incl)
{
	const struct tally *tally = view_tally(x->v);
	const struct session *s = x->v->session;
	struct difference total = { .name = "<Total>", .total = true }, whole;

	add_values(x, m, &total, tally->total);
	for (int g = 0; g < GROUPS; g++)
		x->any[g] |= total.of[g].value > 0;
	for (size_t i = 0; i < tally->nfuncs && !c->total_only; i++) {
		const struct func *f = s->funcs.data[i];
		const int64_t *values = incl ? tally_incl(tally, f->id) : tally_excl(tally, f->id);

		if (values[m->id] && !is_about_recording(f))
			add_values(x, m, row_of(x, f), values);
	}
	whole = total;
	if (!incl)
		sum_renewal(x, c, &whole);
	vec_for_each(row, &x->rows)
		finish_row(x, c, row, &whole);
	finish_row(x, c, &total, &whole);
	x->before = total.of[0].value;
	if (!incl)
		vec_push(&x->rows, total);
}

static double by_how_much(const struct difference *d)
{
	return fabs(d->of[1].value - d->of[0].value);
}

/* The total first, then what takes more, then what takes less, the largest difference first. */
static int difference_cmp(const void *pa, const void *pb)
{
	const struct difference *a = pa, *b = pb;
	bool more_a = a->of[1].value > a->of[0].value, more_b = b->of[1].value > b->of[0].value;

	if (a->total != b->total)
		return a->total ? -1 : 1;
	if (more_a != more_b)
		return more_a ? -1 : 1;
	if (by_how_much(a) != by_how_much(b))
		return by_how_much(a) > by_how_much(b) ? -1 : 1;
	return strcmp(a->name, b->name);
}

enum { COL_A, COL_B, COL_DIFF, COL_ERROR, COL_PERCENT, COL_CHANGE, COL_WHAT, COL_NAME };

static void put_columns(struct diff *x)
{
	const char *unit = x->unit == DIFF_RATE ? "ms/s" : "sec.";
	enum cell_kind kind = x->unit == DIFF_RATE ? CELL_MSEC : CELL_TIME;
	const struct column columns[] = {
		[COL_A] = { .kind = kind, .title = { "Before", "", unit } },
		[COL_B] = { .kind = kind, .title = { "After", "", unit } },
		[COL_DIFF] = { .kind = kind, .title = { "Change", "", unit }, .sorted = true },
		[COL_ERROR] = { .kind = kind, .title = { "Std.", "Error", unit },
				.full = { "Standard", "Error" } },
		[COL_PERCENT] = { .kind = CELL_TEXT, .title = { "Change", "", "%" } },
		[COL_CHANGE] = { .kind = CELL_TEXT, .title = { "Verdict" } },
		[COL_WHAT] = { .kind = CELL_TEXT, .title = { "Metric" }, .hidden = true },
		[COL_NAME] = { .kind = CELL_TEXT, .title = { "Name" } },
	};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		vec_push(&x->t->columns, columns[i]);
}

static const char *const verdicts[] = {
	[CHANGE_NONE] = "same", [CHANGE_MORE] = "slower", [CHANGE_LESS] = "faster",
	[CHANGE_NEW] = "new", [CHANGE_GONE] = "gone",
};

static void put_row(struct diff *x, const struct compared *c, const struct difference *d,
		    const char *what, int group)
{
	enum cell_kind kind = x->t->columns.data[COL_A].kind;
	double a = d->of[0].value, b = d->of[1].value;
	struct row *r = table_row(x->t);

	r->group = group;
	r->cells[COL_A] = (struct cell){ .kind = kind, .i = llround(a) };
	r->cells[COL_B] = (struct cell){ .kind = kind, .i = llround(b) };
	r->cells[COL_DIFF] = (struct cell){ .kind = kind, .i = wrap_minus(llround(b), llround(a)), .n = 1 };
	r->cells[COL_ERROR] = (struct cell){ .kind = kind,
					     .i = llround(change_error(&d->of[0], &d->of[1])) };
	if (a > 0)
		put_textf(x->t, r, COL_PERCENT, "%+.1f", 100 * (b - a) / a);
	else
		put_text(r, COL_PERCENT, "");
	put_text(r, COL_CHANGE, c->total_only ? "-" : verdicts[d->change]);
	put_text(r, COL_WHAT, what);
	put_textf(x->t, r, COL_NAME, "%s%s%s", d->name, d->total ? " " : "", d->total ? what : "");
}

/*
 * Whether the function has enough samples in one of the recordings to be judged: with fewer than z
 * squared it cannot differ from nothing by z standard errors.
 */
static bool is_large(const struct diff *x, const struct difference *d)
{
	double most = d->of[0].value > d->of[1].value ? d->of[0].value : d->of[1].value;

	return most >= x->z * x->z * d->sample;
}

/*
 * The threshold is a share of the function's value before. If that is 0, it is a share of the total
 * before.
 */
static enum change judge(const struct diff *x, const struct difference *d)
{
	double base = d->of[0].value > 0 ? d->of[0].value : x->before;

	return change_of(&d->of[0], &d->of[1], x->v->threshold * base, x->z);
}

static void count_slower(struct diff *x, const char *name, const char *what)
{
	if (!x->nslower++)
		x->first_slower = xasprintf("%s %s", name, what);
}

/* A new function is not slower by itself: it may be another name of one that is gone (judge_renewal). */
static void note_change(struct diff *x, const struct compared *c, const struct difference *d, const char *what)
{
	__cleanup(freep) char *name = xasprintf("%s%s", d->name, d->total ? "" : ",");

	if (d->change == CHANGE_NEW && !d->total)
		renewal_of(x, c)->listed = true;
	else if (d->change == CHANGE_NEW || d->change == CHANGE_MORE)
		count_slower(x, name, what);
}

/* What is new against what is gone. */
static void judge_renewal(struct diff *x, const struct compared *c)
{
	struct renewal *r = renewal_of(x, c);
	enum change change = judge(x, &r->sum);

	r->slower = r->listed && (change == CHANGE_MORE || change == CHANGE_NEW);
	if (r->slower)
		count_slower(x, "new functions,", c->title[0]);
}

/* The rows of a metric and a flavor: the total of the metric, and what changed. */
static void put_rows(struct diff *x, const struct compared *c, const char *what, int group)
{
	size_t most = view_most(x->v, SHOWN), nshown = 0;

	vec_sort(&x->rows, difference_cmp);
	vec_for_each(d, &x->rows) {
		if (!c->total_only && is_large(x, d))
			d->change = judge(x, d);
		note_change(x, c, d, what);
		if (d->change == CHANGE_NONE &&
		    !(d->total && (d->of[0].value > 0 || d->of[1].value > 0)))
			continue;
		if (nshown++ <= most)
			put_row(x, c, d, what, group);
		else
			x->nhidden++;
	}
}

static const struct metric *metric_of(const struct diff *x, const struct compared *c)
{
	const struct metric *m = metric_find(x->v->metric_set, c->metric);

	return m || !c->otherwise ? m : metric_find(x->v->metric_set, c->otherwise);
}

/* How many comparisons are made: each may be wrong. */
static size_t count_comparisons(struct diff *x)
{
	const struct tally *tally = view_tally(x->v);
	size_t n = 0;

	for (size_t c = 0; c < NCOMPARED; c++) {
		const struct metric *m = metric_of(x, &compared[c]);

		for (size_t i = 0; m && !compared[c].total_only && i < tally->nfuncs; i++)
			n += (tally_excl(tally, i)[m->id] != 0) + (tally_incl(tally, i)[m->id] != 0);
	}
	return n;
}

/* What values of a group are divided by. False: no time was recorded. */
static bool find_units(struct diff *x)
{
	vec_for_each(e, &x->v->session->experiments) {
		unsigned g = (*e)->group;

		if (!(*e)->founder && g >= 1 && g <= GROUPS)
			x->per[g - 1] += x->unit == DIFF_RATE ? (double)(*e)->end_ns / 1e9 : 1;
	}
	return x->per[0] > 0 && x->per[1] > 0;
}

/* Whether the total of a thread is not that of the recording, which is exact. */
static bool divides_threads(const struct view_state *v)
{
	vec_for_each(e, &v->selection.experiments) {
		if (!e->off && (!e->all[SELECT_SAMPLE] || !e->all[SELECT_CPU]))
			return true;
	}
	return v->filter && filter_chooses(v->filter) == CHOOSES_PACKETS;
}

static void note_slower(struct diff *x)
{
	__cleanup(freep) char *more = x->nslower > 1 ? xasprintf(" and %zu more", x->nslower - 1) : xstrdup("");
	__cleanup(freep) char *which = x->nslower ? xasprintf("Something got slower: %s%s.", x->first_slower, more) :
					 xstrdup("Nothing got slower.");

	put_note(x->t, "Listed is what changed by more than %.4g %% and %.1f standard errors. %s",
		 100 * x->v->threshold, x->z, which);
}

static void note_renewals(struct diff *x)
{
	double unit = x->unit == DIFF_RATE ? 1e6 : 1e9;

	for (size_t i = 0; i < NCOMPARED; i++) {
		const struct renewal *r = &x->renewals[i];

		if (r->listed)
			put_note(x->t, "%s: what is new took %.3f %s, and what is gone %.3f. What is new %s as slower.",
				 compared[i].title[0], r->sum.of[1].value / unit, x->unit == DIFF_RATE ? "ms/s" : "sec.",
				 r->sum.of[0].value / unit, r->slower ? "counts" : "does not count");
	}
}

static void put_notes(struct diff *x)
{
	note_slower(x);
	note_renewals(x);
	if (x->sampled)
		put_note(x->t, "The filter leaves a part of the threads' time: its totals are sampled, too.");
	if (x->nhidden)
		put_note(x->t, "%zu more; `limit' shows more.", x->nhidden);
	if (x->unit == DIFF_RATE && fabs(x->per[1] - x->per[0]) > x->v->threshold * x->per[0])
		put_note(x->t, "The recordings lasted %.1f s and %.1f s; `diff time' compares times instead "
			 "of times in a second.", x->per[0], x->per[1]);
	put_builds(x->t, x->v->session, "functions are compared by name");
}

/*
 * Of nothing, nothing got slower. A build server whose filter has an old name of the program would be told so for ever.
 */
static int refuse_nothing(const struct diff *x, struct diag *d)
{
	const struct session *s = x->v->session;
	bool filtered = x->v->filter, neither = !x->any[0] && !x->any[1];
	const char *which = s->groups.data[x->any[0] ? 1 : 0];
	__cleanup(freep) char *where = neither ? xstrdup("either experiment") : xasprintf("'%s'", which);

	if (filtered)
		return diag_error(d, "diff: nothing to compare: no data of %s passes the filter: correct it; `comms' and "
				  "`processes' list names and PIDs", where);
	return diag_error(d, "diff: nothing to compare: %s has no time on a CPU and no waits that diff compares: record "
			  "for longer, or a load that uses a CPU", where);
}

int view_diff(struct view_state *v, enum diff_unit unit, bool *slower, struct table *t,
	      struct diag *d)
{
	struct diff x = { .v = v, .t = t, .unit = unit };

	if (v->session->groups.len != GROUPS)
		return diag_error(d, "diff: compares two experiments or groups, and %zu %s open: name two",
				  v->session->groups.len, v->session->groups.len == 1 ? "is" : "are");
	if (!find_units(&x))
		return diag_error(d, "diff: an experiment has no time: it is empty");
	t->name = "diff";
	t->title = "What changed from the first to the second recording, by function";
	put_columns(&x);
	x.sampled = divides_threads(v);
	x.z = errors_for(chance, count_comparisons(&x));
	for (size_t i = 0; i < NCOMPARED; i++) {
		const struct metric *m = metric_of(&x, &compared[i]);

		for (int incl = 0; m && incl < 2 && compared[i].title[incl]; incl++) {
			add_functions(&x, &compared[i], m, incl);
			put_rows(&x, &compared[i], compared[i].title[incl], 2 * i + incl);
			vec_free(&x.rows);
			vec_free(&x.row_of);
		}
		if (!compared[i].total_only)
			judge_renewal(&x, &compared[i]);
	}
	put_notes(&x);
	strtab_free(&x.names);
	free(x.first_slower);
	if (!x.any[0] || !x.any[1])
		return refuse_nothing(&x, d);
	*slower = x.nslower;
	return 0;
}
