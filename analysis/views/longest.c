/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * longest: single waits, the longest first: when it happened, how long it was, the thread, the
 * reason, the stack, and what ended it. A wait longer than 1.5 sampling distances is always
 * recorded, so the list is complete above that length.
 */
#include <string.h>

#include "analysis/experiment/exp_recorder.h"
#include "analysis/metrics/hit.h"
#include "analysis/views/columns.h"
#include "analysis/views/singlewait.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"
#include "analysis/views/waitrows.h"

enum { SHOWN = 20 };

struct longest {
	struct wait_report w; /* first member: the report's functions are given its address */
	size_t most;          /* waits to show */
	VEC(struct single_wait) waits;
	bool no_work;         /* threads without work were left out */
	int64_t floor_ns;     /* waits shorter than this are not among the longest */
};

/* Ties are broken by time and thread, so that the order of packets does not matter. */
static int by_length(const void *pa, const void *pb)
{
	const struct single_wait *a = pa, *b = pb;

	if (a->length_ns != b->length_ns)
		return a->length_ns > b->length_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns ? -1 : 1;
	return (a->tid > b->tid) - (a->tid < b->tid);
}

/* Bound memory: from time to time drop all but the longest waits. */
static void forget_short(struct longest *l)
{
	vec_sort(&l->waits, by_length);
	if (l->waits.len <= l->most)
		return;
	l->waits.len = l->most;
	l->floor_ns = l->waits.data[l->most - 1].length_ns;
}

static void add_wait(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct longest *l = ctx;

	/* A wait is listed once, by the first packet of its last part. */
	if (!hit_is_wait(h) || hit_wait_flags(h) & (WFLAG_REST | WFLAG_GOES_ON | WFLAG_MORE) ||
	    hit_wait_length(h) < l->floor_ns || hit_wait_length(h) <= 0)
		return;
	if (hit_reason(h) == REASON_NO_WORK || hit_reason(h) == REASON_RUNTIME_IDLE) {
		l->no_work = true;
		return;
	}
	vec_push(&l->waits, single_wait_of(h));
	if (l->waits.len / 2 >= l->most && l->waits.len >= 2 * l->most + SHOWN)
		forget_short(l);
}

enum { COL_BEGIN, COL_LENGTH, COL_THREAD, COL_REASON, COL_WHERE };

static void put_columns(struct table *t)
{
	static const struct column columns[] = {
		[COL_BEGIN] = { .kind = CELL_TIME, .title = { "Begin", "", "sec." }, .spare = 1 },
		[COL_LENGTH] = { .kind = CELL_MSEC, .title = { "Length", NULL, "ms" }, .sorted = true },
		[COL_THREAD] = { .kind = CELL_TEXT, .title = { "Thread" } },
		[COL_REASON] = { .kind = CELL_TEXT, .title = { "Reason" }, .spare = 2 },
		[COL_WHERE] = { .kind = CELL_TEXT, .title = { "Stack; end" }, .wrap = true },
	};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		vec_push(&t->columns, columns[i]);
}

static void put_wait(struct longest *l, const struct single_wait *lw)
{
	struct row *r = table_row(l->w.t);
	int64_t begin = lw->end_ns - lw->length_ns;

	r->cells[COL_BEGIN] = (struct cell){ .kind = CELL_TIME, .i = begin > 0 ? begin : 0 };
	r->cells[COL_LENGTH] = (struct cell){ .kind = CELL_MSEC, .i = lw->length_ns };
	put_text(r, COL_THREAD, single_wait_thread(&l->w, lw));
	put_text(r, COL_REASON, lw->reason);
	put_text(r, COL_WHERE, single_wait_where(&l->w, lw));
}

static void put_notes(struct longest *l)
{
	const struct single_wait *last = &l->waits.data[l->waits.len - 1];
	int64_t from = 0;

	vec_for_each(e, &l->w.v->session->experiments) {
		int64_t its = recorder_all_waits_from(*e);

		from = its > from ? its : from;
	}
	if (l->waits.len == l->most && !l->w.v->limit_given)
		put_note(l->w.t, "The %zu longest; `limit n' shows n, and `limit 0' all.", l->most);
	if (last->length_ns < from)
		put_note(l->w.t, "Waits of %.3f ms or longer, blocked or for a CPU, were all recorded; of shorter ones a sample was.",
			 (double)from / 1e6);
	if (l->no_work)
		put_note(l->w.t, "Threads that had no work are left out: kernel threads, and idle workers of language runtimes.");
}

int view_longest(struct view_state *v, struct table *t, struct diag *d)
{
	struct longest l = { .most = view_most(v, SHOWN) };

	t->name = "longest";
	t->title = "Single waits, longest first";
	put_columns(t);
	wait_report_init(&l.w, v, t);
	pass_run(v->session, v->metric_set, v->filter, add_wait, NULL, &l);
	forget_short(&l);
	vec_for_each(lw, &l.waits)
		put_wait(&l, lw);
	if (l.waits.len)
		put_notes(&l);
	else
		wait_nothing(&l.w, "single waits");
	wait_report_end(&l.w);
	vec_free(&l.waits);
	return 0;
}
