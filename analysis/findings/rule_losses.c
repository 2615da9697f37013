/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules on losses: a recording that was cut, and records that found no room. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/experiment/exp_recorder.h"
#include "analysis/findings/rules.h"
#include "analysis/views/loss_report.h"

/* With several experiments the header of one is requested by its number. */
static void add(struct finder *f, const struct rule *r, const struct experiment *e,
		const char *text, int64_t figure_ns, double error_ns)
{
	char *command = e->id == 1 ? xstrdup("-header") : xasprintf("-header %u", e->id);

	finder_add(f, r, text, figure_ns, error_ns, command, NULL);
	free(command);
}

/* When the size limit was reached, in nanoseconds; 0: it was not, or that is not known. */
static int64_t limit_ns(const struct experiment *e)
{
	vec_for_each(el, &e->recorder) {
		if (!strcmp(el->name, "limit"))
			return element_int(el, "reached_ns");
	}
	return 0;
}

/* The figure is the missing time; if that is not known, the recorded time. */
static void find_cut(struct finder *f, const struct rule *r, const struct experiment *e)
{
	int64_t end = limit_ns(e), figure = end && end < e->end_ns ? e->end_ns - end : e->end_ns;
	char *why[LOSSES_ENDS];
	size_t n = losses_ends(e, why);
	struct buf text = { 0 };

	if (n) {
		buf_puts(&text, figure < e->end_ns ? "The recording lacks " : "The recording ends early, after ");
		put_time(&text, figure);
		buf_printf(&text, ": %c%s.", tolower((unsigned char)why[0][0]), why[0] + 1);
		add(f, r, e, text.data, figure, 0);
	}
	for (size_t i = 0; i < n; i++)
		free(why[i]);
	buf_free(&text);
}

/* The figure is the estimated CPU time of the lost samples. */
static void find_lost(struct finder *f, const struct rule *r, const struct experiment *e)
{
	struct loss_report *report = loss_report_new(f->facts.w.v->session, e);
	struct record_loss rec = loss_report_records(report);
	uint64_t lost = rec.lost[ER_RING_CLOCK] + rec.missing[ER_RING_CLOCK];
	uint64_t produced = rec.produced[ER_RING_CLOCK];
	struct buf text = { 0 };
	double share, ns;

	loss_report_free(report);
	share = produced ? (double)lost / (double)produced : 0;
	if (!lost || share < r->of_whole)
		return;
	ns = share < 1 ? (double)facts_all(&f->facts)->run_ns * share / (1 - share) : 0;
	buf_printf(&text, "%.1f %% of the clock samples (%" PRIu64 " of %" PRIu64 ") were lost, about ",
		   100 * share, lost, produced);
	put_time(&text, ns);
	buf_puts(&text, " of CPU time: the times of functions are too small.");
	add(f, r, e, text.data, (int64_t)ns, ns / sqrt((double)lost));
	buf_free(&text);
}

void find_losses(struct finder *f, const struct rule *r)
{
	vec_for_each(ep, &f->facts.w.v->session->experiments) {
		if ((*ep)->founder || !(*ep)->recorder.len)
			continue;
		find_cut(f, r, *ep);
		find_lost(f, r, *ep);
	}
}
