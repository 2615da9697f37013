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

/* What the last record has more than the first: records are cumulative. */
static bool usage_between(const struct experiment *e, struct exp_usage *ret)
{
	size_t n = experiment_nusages(e);
	struct exp_usage first = { 0 };
	uint64_t *to = (uint64_t *)ret;

	if (!n)
		return false;
	experiment_usage(e, n - 1, ret);
	if (n > 1)
		experiment_usage(e, 0, &first);
	for (size_t i = 0; i < offsetof(struct exp_usage, nthreads) / sizeof(*to); i++)
		to[i] -= ((const uint64_t *)&first)[i];
	return true;
}

static void put_time(struct table *t, const char *label, int64_t ns, uint64_t whole)
{
	struct row *r = table_row(t);

	put_text(r, 0, label);
	r->cells[1] = (struct cell){ .kind = CELL_TIME, .i = ns };
	if (whole)
		r->cells[2] = (struct cell){ .kind = CELL_PERCENT, .d = percent_of(ns, whole) };
}

static void put_usage(struct table *t, const struct experiment *e)
{
	struct exp_usage u;
	uint64_t whole = 0;

	put_textf(t, table_row(t), 0, "Experiment: %s", e->path);
	put_time(t, "Duration (sec.):", e->end_ns, 0);
	if (!usage_between(e, &u)) {
		put_text(table_row(t), 0, "No usage was recorded (-S off)");
		return;
	}
	for (size_t i = 0; i < COUNT(times); i++)
		whole += member(&u, &times[i]);
	put_time(t, "Total Thread Time (sec.):", whole, 0);
	put_text(table_row(t), 0, "Process Times (sec.):");
	for (size_t i = 0; i < COUNT(times); i++)
		put_time(t, times[i].label, member(&u, &times[i]), whole);
	for (size_t i = 0; i < COUNT(counts); i++) {
		struct row *r = table_row(t);

		put_text(r, 0, counts[i].label);
		r->cells[1] = (struct cell){ .kind = CELL_COUNT, .i = member(&u, &counts[i]) };
	}
}

static void usage_columns(struct table *t)
{
	text_column(t, NULL);
	vec_push(&t->columns, (struct column){ .kind = CELL_TIME });
	vec_push(&t->columns, (struct column){ .kind = CELL_PERCENT });
}

int view_statistics(struct view_state *v, const struct experiment *e, struct table *t,
		    struct diag *d)
{
	t->name = "statistics";
	usage_columns(t);
	vec_for_each(ep, &v->session->experiments) {
		if (!e || e == *ep)
			put_usage(t, *ep);
	}
	return 0;
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
