/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_reports.h"

#include <errno.h>

#include "analysis/base/diag.h"
#include "analysis/export/export.h"
#include "analysis/export/page_events.h"
#include "analysis/export/page_functions.h"
#include "analysis/export/page_pack.h"
#include "analysis/export/page_table.h"
#include "analysis/metrics/leaks.h"
#include "analysis/model/spans.h"
#include "analysis/views/table.h"
#include "analysis/views/view.h"
#include "analysis/views/view_state.h"

static int make_locks(struct view_state *v, struct table *t, struct diag *d)
{
	return view_locks(v, false, t, d);
}

static int make_header(struct view_state *v, struct table *t, struct diag *d)
{
	return view_header(v, NULL, t, d);
}

static int make_overview(struct view_state *v, struct table *t, struct diag *d)
{
	return view_overview(v, NULL, t, d);
}

static int make_statistics(struct view_state *v, struct table *t, struct diag *d)
{
	return view_statistics(v, NULL, t, d);
}

static int make_sample_detail(struct view_state *v, struct table *t, struct diag *d)
{
	return view_sample_detail(v, NULL, t, d);
}

static int make_leaks(struct view_state *v, struct table *t, struct diag *d)
{
	return view_stacks(v, STACKS_LEAKS, t, d);
}

static int make_allocs(struct view_state *v, struct table *t, struct diag *d)
{
	return view_stacks(v, STACKS_ALLOCS, t, d);
}

/* Most recordings have none, and need not be read to know it. */
static int make_spans(struct view_state *v, struct table *t, struct diag *d)
{
	return session_has_spans(v->session) ? view_spans(v, t, d) : -ENODATA;
}

/* Functions, lines and pcs by hardware counters. */
static bool has_counters(const struct view_state *v)
{
	vec_for_each(c, &v->metrics.cols) {
		if (c->metric && c->metric->tag >= 0)
			return true;
	}
	return false;
}

static int make_counters(struct view_state *v, struct table *t, struct diag *d)
{
	return has_counters(v) ? view_functions(v, t, d) : -ENODATA;
}

static int make_lines(struct view_state *v, struct table *t, struct diag *d)
{
	return has_counters(v) ? view_places(v, PLACES_LINES, t, d) : -ENODATA;
}

static int make_pcs(struct view_state *v, struct table *t, struct diag *d)
{
	return has_counters(v) ? view_places(v, PLACES_PCS, t, d) : -ENODATA;
}

static const struct {
	const char *command; /* of er_print; also the report's name */
	bool tells;          /* --redact leaves it out: it names paths, hosts or functions */
	/*
	 * Whether the page makes it itself: if it has the events of page_counts.h; also if they are
	 * exact or the page has the calls of page_heap.h; only if it has these calls. TALLIED: it does
	 * not; the tally that the report needs is at hand where the code of the page is made.
	 */
	enum made_by { AS_IT_IS, TALLIED, COUNTED, COUNTED_EXACT, HEAP_CALLS } by;
	int (*make)(struct view_state *v, struct table *t, struct diag *d);
} reports[] = {
	{ "locks", true, AS_IT_IS, make_locks },
	{ "experiment_list", true, AS_IT_IS, view_experiment_list },
	{ "header", true, AS_IT_IS, make_header },
	{ "unwinding", false, AS_IT_IS, view_unwinding },
	{ "lifetimes", true, AS_IT_IS, view_lifetimes },
	{ "overview", true, TALLIED, make_overview },
	{ "statistics", true, AS_IT_IS, make_statistics },
	{ "sample_detail", true, AS_IT_IS, make_sample_detail },
	{ "functions", true, COUNTED, make_counters },
	{ "lines", true, COUNTED, make_lines },
	{ "pcs", true, COUNTED, make_pcs },
	{ "data_objects", true, COUNTED, view_data_objects },
	{ "data_layout", true, COUNTED, view_data_layout },
	{ "leaks", true, COUNTED_EXACT, make_leaks },
	{ "allocs", true, COUNTED_EXACT, make_allocs },
	{ "heappeak", true, HEAP_CALLS, view_heappeak },
	{ "heapuse", false, HEAP_CALLS, view_heapuse },
	{ "heapstat", false, HEAP_CALLS, view_heapstat },
	{ "ioactivity", true, COUNTED, view_ioactivity },
	{ "iodetail", true, COUNTED, view_iodetail },
	{ "iostat", false, COUNTED, view_iostat },
	{ "spans", true, AS_IT_IS, make_spans },
};

/* By default, er_print shows few rows of the reports on waits. */
enum { ROWS_MAX = 10000 };

/* Append a report of this name, which takes the pack. */
static void add_report(struct packed pack, const char *name, size_t nrows, packed_vec *ret, struct buf *rows)
{
	vec_push(ret, pack);
	buf_printf(rows, "%s\"%s\":%zu", ret->len > 1 ? "," : "", name, nrows);
}

/* Compress what `p` has, as the report of this name, and empty it. */
static void end_report(struct pack *p, const char *name, size_t nrows, packed_vec *ret,
		       struct buf *rows)
{
	pack_end(p);
	add_report(pack_compress(p), name, nrows, ret, rows);
	pack_clear(p);
}

/* Which reports the page makes itself: a bit for each enum made_by. */
static unsigned made_by_page(const struct export *x, const struct page_counts *counts, bool has_heap)
{
	unsigned ret = 0;

	if (counts->all.len && !counts->left_out)
		ret |= 1U << COUNTED;
	/* Sums of a sampled heap have standard errors, which need the sizes of the calls. */
	if (ret && (has_heap || !leaks_sampled(x->view->session)))
		ret |= 1U << COUNTED_EXACT;
	return has_heap ? ret | 1U << HEAP_CALLS : ret;
}

/* A report that cannot be made, or that only says that there are no data, is left out. */
static void make_report(const struct export *x, size_t which, struct made_reports *ret)
{
	size_t limit = x->view->limit;
	struct diag kept = { 0 };
	struct table t = { 0 };
	struct pack p = { 0 };

	x->view->limit = limit ? limit : ROWS_MAX;
	if (!reports[which].make(x->view, &t, &kept) && t.columns.len) {
		pack_begin(&p, "json");
		put_table_json(&p.bytes, reports[which].command, &t);
		pack_end(&p);
		vec_push(&ret->all, (struct made_report){ which, t.rows.len, pack_compress(&p) });
	}
	x->view->limit = limit;
	pack_free(&p);
	table_free(&t);
	diag_free(&kept);
}

static void make_those(const struct export *x, bool fixed, unsigned by_page, struct made_reports *ret)
{
	for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
		if ((reports[i].by == AS_IT_IS) == fixed && !(x->redact && reports[i].tells) &&
		    !(by_page >> reports[i].by & 1))
			make_report(x, i, ret);
	}
}

void make_fixed_reports(const struct export *x, struct made_reports *ret)
{
	make_those(x, true, 0, ret);
}

void made_reports_free(struct made_reports *made)
{
	vec_for_each(r, &made->all)
		packed_free(&r->pack);
	vec_free(&made->all);
}

/* Append the packs and empty the vector. */
static void take_reports(struct made_reports *from, packed_vec *ret, struct buf *rows)
{
	vec_for_each(r, &from->all)
		add_report(r->pack, reports[r->which].command, r->nrows, ret, rows);
	vec_free(&from->all);
}

static void put_subject_list(const struct page_counts *c, struct pack *p, packed_vec *ret, struct buf *rows)
{
	if (!c->subjects.all.len || c->left_out)
		return;
	pack_begin(p, "json");
	buf_puts(&p->bytes, "{\"command\":\"subjects\",\"rows\":");
	put_subjects(&c->subjects, &p->bytes);
	buf_puts(&p->bytes, "}");
	end_report(p, "subjects", c->subjects.all.len, ret, rows);
}

void make_reports(const struct export *x, const struct page_events *events, bool has_heap, struct made_reports *fixed,
		  packed_vec *ret, struct buf *rows)
{
	const struct page_counts *counts = &events->counts;
	struct made_reports others = { 0 };
	struct pack p = { 0 };

	make_those(x, false, made_by_page(x, counts, has_heap), &others);
	take_reports(fixed, ret, rows);
	take_reports(&others, ret, rows);
	if (!x->redact) {
		pack_begin(&p, "json");
		put_functions(x->view->session, &events->tree, &p.bytes);
		end_report(&p, "fsummary", events->tree.funcs.len, ret, rows);
		put_subject_list(counts, &p, ret, rows);
	}
	pack_free(&p);
}
