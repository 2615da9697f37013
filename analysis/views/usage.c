/* SPDX-License-Identifier: GPL-2.0-or-later */
/* overview and statistics: the whole of an experiment at a glance. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "analysis/metrics/tally.h"
#include "analysis/views/columns.h"

struct usage_row {
	const char *label;
	size_t member;
};

#define ROW(label, m) { label, offsetof(struct exp_usage, m) }

static const struct usage_row times[] = {
	ROW("User CPU:", user_ns),	      ROW("System CPU:", system_ns),
	ROW("Trap CPU:", trap_ns),	      ROW("User Lock:", lock_ns),
	ROW("Data Page Fault:", dfault_ns),   ROW("Text Page Fault:", tfault_ns),
	ROW("Kernel Page Fault:", kfault_ns), ROW("Stopped:", stop_ns),
	ROW("Wait CPU:", wait_ns),	      ROW("Sleep:", sleep_ns),
};

static const struct usage_row counts[] = {
	ROW("Minor Page Faults:", minflt),	    ROW("Major Page Faults:", majflt),
	ROW("Process swaps:", nswap),		    ROW("Input blocks:", inblock),
	ROW("Output blocks:", oublock),		    ROW("Messages sent:", msgsnd),
	ROW("Messages received:", msgrcv),	    ROW("Signals handled:", nsignals),
	ROW("Voluntary context switches:", vctx),   ROW("Involuntary context switches:", ictx),
	ROW("System calls:", syscalls),		    ROW("Characters of I/O:", ioch),
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static uint64_t member(const struct exp_usage *u, const struct usage_row *r)
{
	return *(const uint64_t *)((const char *)u + r->member);
}

enum { NWORDS = offsetof(struct exp_usage, nthreads) / sizeof(uint64_t) };

static void add_words(struct exp_usage *to, const struct exp_usage *from, int sign)
{
	for (size_t i = 0; i < NWORDS; i++)
		((uint64_t *)to)[i] += sign * ((const uint64_t *)from)[i];
}

static uint64_t all_times(const struct exp_usage *u)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < COUNT(times); i++)
		sum += member(u, &times[i]);
	return sum;
}

/*
 * What the selected samples used: records are cumulative, sample n is what record
 * n has more than the one before. A sample whose states do not fill its duration
 * slept for the rest, as gprofng has it: many recorders leave that out. time_ns
 * becomes the duration. False when there are no records.
 */
static bool usage_selected(const struct view_state *v, const struct experiment *e,
			   struct exp_usage *ret)
{
	size_t n = experiment_nusages(e);

	*ret = (struct exp_usage){ 0 };
	for (size_t i = n > 1; i < n; i++) {
		struct exp_usage u, before = { 0 };
		uint64_t filled;

		if (!selection_has_id(&v->selection, e->id, SELECT_SAMPLE, i))
			continue;
		experiment_usage(e, i, &u);
		if (i)
			experiment_usage(e, i - 1, &before);
		add_words(&u, &before, -1);
		filled = all_times(&u);
		if (u.time_ns > filled && i)
			u.sleep_ns += u.time_ns - filled;
		add_words(ret, &u, 1);
	}
	return n;
}

static void put_time(struct table *t, const char *label, int64_t ns, uint64_t whole)
{
	struct row *r = table_row(t);

	put_text(r, 0, label);
	r->cells[1] = (struct cell){ .kind = CELL_TIME, .i = ns };
	if (whole)
		r->cells[2] = (struct cell){ .kind = CELL_PERCENT, .d = percent_of(ns, whole) };
}

static void put_usage(struct table *t, const char *heading, const struct exp_usage *u)
{
	uint64_t whole = all_times(u);
	size_t first = t->rows.len;
	struct row *r;

	put_text(table_row(t), 0, heading);
	put_time(t, "Duration (sec.):", u->time_ns, 0);
	put_time(t, "Total Thread Time (sec.):", whole, 0);
	r = table_row(t);
	put_text(r, 0, "Average number of Threads:");
	r->cells[1] = (struct cell){ .kind = CELL_RATIO,
				     .d = u->time_ns ? (double)whole / (double)u->time_ns : 0 };
	put_text(table_row(t), 0, "Process Times (sec.):");
	for (size_t i = 0; i < COUNT(times); i++)
		put_time(t, times[i].label, member(u, &times[i]), whole);
	for (size_t i = 0; i < COUNT(counts); i++) {
		r = table_row(t);
		put_text(r, 0, counts[i].label);
		r->cells[1] = (struct cell){ .kind = CELL_COUNT, .i = member(u, &counts[i]) };
	}
	for (size_t i = first; i < t->rows.len; i++)
		t->rows.data[i].group = first;
}

static void put_experiment_usage(struct view_state *v, struct table *t, const struct experiment *e)
{
	char *heading = xasprintf("Experiment: %s", e->path);
	struct exp_usage u;

	if (usage_selected(v, e, &u))
		put_usage(t, arena_strdup(&t->arena, heading), &u);
	free(heading);
}

static void usage_columns(struct table *t)
{
	text_column(t, NULL);
	vec_push(&t->columns, (struct column){ .kind = CELL_TIME });
	vec_push(&t->columns, (struct column){ .kind = CELL_PERCENT });
}

/* Nothing is worth a heading where only one experiment has usage of its own. */
static size_t put_sum(struct view_state *v, struct table *t)
{
	const struct experiment *last = NULL;
	struct exp_usage sum = { 0 };
	size_t n = 0;

	vec_for_each(ep, &v->session->experiments) {
		struct exp_usage u;

		if (!usage_selected(v, *ep, &u))
			continue;
		add_words(&sum, &u, 1);
		last = *ep;
		n++;
	}
	if (n == 1)
		put_experiment_usage(v, t, last);
	else if (n)
		put_usage(t, "<Sum across selected experiments>", &sum);
	return n;
}

static int end_statistics(struct table *t)
{
	if (!t->rows.len)
		put_line(t, "No usage was recorded; er_kernel does unless -S off says not to.");
	return 0;
}

int view_statistics(struct view_state *v, const struct experiment *e, struct table *t,
		    struct diag *d)
{
	t->name = "statistics";
	usage_columns(t);
	if (e)
		put_experiment_usage(v, t, e);
	else
		put_sum(v, t);
	return end_statistics(t);
}

int view_statistics_all(struct view_state *v, const struct experiment *e, struct table *t,
			struct diag *d)
{
	t->name = "statistics";
	usage_columns(t);
	if (put_sum(v, t) > 1) {
		vec_for_each(ep, &v->session->experiments)
			put_experiment_usage(v, t, *ep);
	}
	return end_statistics(t);
}

static void put_experiment(struct table *t, const struct experiment *e)
{
	put_textf(t, table_row(t), 0, "Experiment: %s", e->path);
	put_textf(t, table_row(t), 0, "  Target: '%s'", e->command);
	put_textf(t, table_row(t), 0, "  Host: %s (%s, %s)", e->hostname, e->arch, e->os);
	put_time(t, "  Duration (sec.):", e->end_ns, 0);
}

/* Every metric that was recorded, with its total under the current filter. */
int view_overview(struct view_state *v, const struct experiment *e, struct table *t,
		  struct diag *d)
{
	const struct tally *tally = view_tally(v);

	t->name = "overview";
	usage_columns(t);
	vec_for_each(ep, &v->session->experiments) {
		if (e ? e == *ep : !(*ep)->founder)
			put_experiment(t, *ep);
	}
	vec_for_each(m, &v->metric_set->all) {
		struct row *r = table_row(t);

		put_textf(t, r, 0, "%s - %s:", m->uname, m->name);
		r->cells[1] = metric_plain_cell(m, metric_value(m, tally->total));
	}
	put_textf(t, table_row(t), 0, "Packets: %" PRIu64, tally->npackets);
	return 0;
}
