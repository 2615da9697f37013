/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * statistics and sample_detail: the resources that were used, as the recorder noted them at each
 * sample point. A sample is the time between two points. Samples that are not selected do not
 * count.
 */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "analysis/experiment/exp_recorder.h"
#include "analysis/experiment/mstate.h"
#include "analysis/experiment/usage.h"
#include "analysis/views/columns.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

struct usage_row {
	const char *label, *name; /* name: attribute of element usage in recorder.xml */
	size_t member;
};

#define ROW(label, m) { label, #m, offsetof(struct exp_usage, m) }

/* Times by state, in the order of gprofng. */
static const enum er_mstate times[] = { MS_USER,   MS_SYSTEM, MS_TRAP,    MS_USER_LOCK, MS_DFAULT,
					MS_TFAULT, MS_KFAULT, MS_STOPPED, MS_WAIT_CPU,  MS_SLEEP };

static const struct usage_row counts[] = {
	ROW("Minor Page Faults:", minflt),	    ROW("Major Page Faults:", majflt),
	ROW("Process swaps:", nswap),		    ROW("Input blocks:", inblock),
	ROW("Output blocks:", oublock),		    ROW("Messages sent:", msgsnd),
	ROW("Messages received:", msgrcv),	    ROW("Signals handled:", nsignals),
	ROW("Voluntary context switches:", vctx),   ROW("Involuntary context switches:", ictx),
	ROW("System calls:", syscalls),		    ROW("Characters of I/O:", ioch),
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The members of a usage record that are sums, counted in words. */
enum { WORDS = offsetof(struct exp_usage, nthreads) / sizeof(uint64_t) };

/* What was used in a period; times count from the start of the experiment. */
struct used {
	struct exp_usage usage;
	int64_t start_ns, end_ns, duration_ns;
	size_t nsamples;
	const struct experiment *e; /* NULL: several experiments */
};

static uint64_t member(const struct exp_usage *u, const struct usage_row *r)
{
	return *(const uint64_t *)((const char *)u + r->member);
}

static uint64_t state_time(const struct exp_usage *u, enum er_mstate state)
{
	struct exp_usage copy = *u;

	return *mstate_usage(&copy, &mstate_descs[state]);
}

/* Records are cumulative: add the difference of two records. Wraps around as unsigned sums do. */
static void add_difference(struct exp_usage *to, const struct exp_usage *from,
			   const struct exp_usage *until)
{
	uint64_t *sum = (uint64_t *)to;

	for (size_t i = 0; i < WORDS; i++)
		sum[i] += ((const uint64_t *)until)[i] - ((const uint64_t *)from)[i];
}

/* The sample points of an experiment, in order. Record i belongs to event i. */
typedef VEC(const struct exp_event *) point_vec;

static void points_of(const struct experiment *e, point_vec *ret)
{
	size_t n = experiment_nusages(e);

	vec_for_each(ev, &e->events) {
		if (!strcmp(ev->kind, "sample") && ret->len < n)
			vec_push(ret, ev);
	}
}

static uint64_t all_times(const struct exp_usage *u)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < COUNT(times); i++)
		sum += state_time(u, times[i]);
	return sum;
}

/*
 * The sample that ends at point i; i is not 0. Time that its states do not cover counts as sleep,
 * as in gprofng, because many recorders leave sleep out.
 */
static void sample_used(const struct experiment *e, const point_vec *points, size_t i,
			struct used *ret)
{
	struct exp_usage from, until;
	uint64_t filled;

	*ret = (struct used){ .start_ns = points->data[i - 1]->time_ns,
			      .end_ns = points->data[i]->time_ns, .nsamples = 1, .e = e };
	ret->duration_ns = ret->end_ns - ret->start_ns;
	experiment_usage(e, i - 1, &from);
	experiment_usage(e, i, &until);
	add_difference(&ret->usage, &from, &until);
	filled = all_times(&ret->usage);
	if (ret->usage.time_ns > filled)
		ret->usage.sleep_ns += ret->usage.time_ns - filled;
}

static void add_used(struct used *to, const struct used *s)
{
	static const struct exp_usage none;

	to->e = !to->nsamples || to->e == s->e ? s->e : NULL;
	if (!to->nsamples || s->start_ns < to->start_ns)
		to->start_ns = s->start_ns;
	if (!to->nsamples || s->end_ns > to->end_ns)
		to->end_ns = s->end_ns;
	to->duration_ns += s->duration_ns;
	to->nsamples += s->nsamples;
	add_difference(&to->usage, &none, &s->usage);
}

static bool is_selected(const struct view_state *v, const struct experiment *e,
			const struct exp_event *point)
{
	return selection_has_id(&v->selection, e->id, SELECT_SAMPLE, point->id);
}

/* The sum of all selected samples of an experiment. */
static void experiment_used(const struct view_state *v, const struct experiment *e,
			    struct used *ret)
{
	point_vec points = { 0 };
	struct used s;

	*ret = (struct used){ 0 };
	points_of(e, &points);
	for (size_t i = 1; i < points.len; i++) {
		if (!is_selected(v, e, points.data[i]))
			continue;
		sample_used(e, &points, i, &s);
		add_used(ret, &s);
	}
	vec_free(&points);
}

struct lines {
	struct table *t;
	int group;
};

static struct row *line(struct lines *l, const char *label)
{
	struct row *r = table_row(l->t);

	r->group = l->group;
	put_text(r, 0, label);
	return r;
}

static void time_cells(struct row *r, int64_t ns, uint64_t whole)
{
	r->cells[1] = (struct cell){ .kind = CELL_TIME, .i = ns };
	if (whole)
		r->cells[2] = (struct cell){ .kind = CELL_PERCENT, .d = percent_of(ns, whole) };
}

static void put_time(struct lines *l, const char *label, int64_t ns, uint64_t whole)
{
	time_cells(line(l, label), ns, whole);
}

/* Whether the resource was counted. The recorder says which of its zeros mean that it was not. */
static bool is_counted(const struct used *u, const char *name)
{
	size_t len = strlen(name);

	if (!u->e)
		return true;
	vec_for_each(el, &u->e->recorder) {
		const char *at = strcmp(el->name, "usage") ? NULL : element_get(el, "uncounted");

		for (; at && (at = strstr(at, name)); at += len) {
			if (at[len] == ' ' || !at[len])
				return false;
		}
	}
	return true;
}

static void put_state(struct lines *l, const struct used *u, const struct mstate_desc *state,
		      uint64_t whole)
{
	struct row *r = line(l, NULL);

	put_textf(l->t, r, 0, "%s:", state->uname);
	/* Sleep includes the time that no other state covers. */
	if (is_counted(u, state->attr) || state->state == MS_SLEEP)
		time_cells(r, state_time(&u->usage, state->state), whole);
	else
		put_text(r, 1, "not counted");
}

static void put_used(struct lines *l, const struct used *u, bool interval)
{
	uint64_t whole = all_times(&u->usage);

	if (interval) {
		put_time(l, "Start Time (sec.):", u->start_ns, 0);
		put_time(l, "End Time (sec.):", u->end_ns, 0);
	}
	put_time(l, "Duration (sec.):", u->duration_ns, 0);
	put_time(l, "Total Thread Time (sec.):", whole, 0);
	if (u->duration_ns > 0)
		line(l, "Average number of Threads:")->cells[1] =
			(struct cell){ .kind = CELL_RATIO, .d = (double)whole / u->duration_ns };
	line(l, "Process Times (sec.):");
	for (size_t i = 0; i < COUNT(times); i++)
		put_state(l, u, &mstate_descs[times[i]], whole);
	for (size_t i = 0; i < COUNT(counts); i++) {
		struct row *r = line(l, counts[i].label);

		if (is_counted(u, counts[i].name))
			r->cells[1] = (struct cell){ .kind = CELL_COUNT,
						     .i = member(&u->usage, &counts[i]) };
		else
			put_text(r, 1, "not counted");
	}
}

/* Begin a new block of lines. */
static void begin(struct lines *l)
{
	if (l->t->rows.len)
		l->group++;
}

static void put_experiment(struct view_state *v, struct lines *l, const struct experiment *e)
{
	struct used u;

	begin(l);
	put_textf(l->t, line(l, ""), 0, "Experiment: %s", e->path);
	experiment_used(v, e, &u);
	if (u.nsamples)
		put_used(l, &u, true);
	else
		line(l, experiment_nusages(e) ? "No sample of it is selected" :
			"No usage was recorded; er_kernel does unless -S off says not to");
}

/*
 * Add the sum over all experiments, and return how many have samples. Processes that er_kernel
 * follows have none of their own; the founder's samples cover them. If only one experiment has
 * samples, they are the sum.
 */
static size_t put_sum(struct view_state *v, struct lines *l)
{
	const struct experiment *last = v->session->experiments.data[0];
	struct used sum = { 0 }, u;
	size_t n = 0;

	vec_for_each(ep, &v->session->experiments) {
		if (!experiment_nusages(*ep))
			continue;
		experiment_used(v, *ep, &u);
		add_used(&sum, &u);
		last = *ep;
		n++;
	}
	if (n < 2) {
		put_experiment(v, l, last);
		return n;
	}
	begin(l);
	line(l, "<Sum across selected experiments>");
	put_used(l, &sum, false);
	return n;
}

static void usage_columns(struct table *t, const char *name)
{
	t->name = name;
	text_column(t, NULL);
	vec_push(&t->columns, (struct column){ .kind = CELL_TIME });
	vec_push(&t->columns, (struct column){ .kind = CELL_PERCENT });
}

int view_statistics(struct view_state *v, const struct experiment *e, struct table *t,
		    struct diag *d)
{
	struct lines l = { .t = t };

	usage_columns(t, "statistics");
	if (e)
		put_experiment(v, &l, e);
	else
		put_sum(v, &l);
	return 0;
}

int view_statistics_all(struct view_state *v, const struct experiment *e, struct table *t,
			struct diag *d)
{
	struct lines l = { .t = t };

	usage_columns(t, "statistics");
	if (put_sum(v, &l) < 2)
		return 0;
	vec_for_each(ep, &v->session->experiments) {
		if (experiment_nusages(*ep))
			put_experiment(v, &l, *ep);
	}
	return 0;
}

static const char *label_of(const struct exp_event *point)
{
	return *point->label ? point->label : "(none)";
}

static void put_samples(struct view_state *v, struct lines *l, const struct experiment *e)
{
	point_vec points = { 0 };
	struct used u;

	points_of(e, &points);
	for (size_t i = 1; i < points.len; i++) {
		if (!is_selected(v, e, points.data[i]))
			continue;
		begin(l);
		put_textf(l->t, line(l, ""), 0, "Sample Number: %" PRId64, points.data[i]->id);
		put_text(line(l, "Start Label:"), 1, label_of(points.data[i - 1]));
		put_text(line(l, "End Label:"), 1, label_of(points.data[i]));
		sample_used(e, &points, i, &u);
		put_used(l, &u, true);
	}
	vec_free(&points);
}

int view_sample_detail(struct view_state *v, const struct experiment *e, struct table *t,
		       struct diag *d)
{
	struct lines l = { .t = t };

	usage_columns(t, "sample_detail");
	vec_for_each(ep, &v->session->experiments) {
		if (e ? e != *ep : !experiment_nusages(*ep))
			continue;
		put_experiment(v, &l, *ep);
		put_samples(v, &l, *ep);
	}
	return 0;
}
