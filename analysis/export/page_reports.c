/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_reports.h"

#include "analysis/base/diag.h"
#include "analysis/export/export.h"
#include "analysis/export/page_functions.h"
#include "analysis/export/page_pack.h"
#include "analysis/export/page_table.h"
#include "analysis/views/table.h"
#include "analysis/views/view.h"
#include "analysis/views/view_state.h"

static int make_lines(struct view_state *v, struct table *t, struct diag *d)
{
	return view_places(v, PLACES_LINES, t, d);
}

static int make_pcs(struct view_state *v, struct table *t, struct diag *d)
{
	return view_places(v, PLACES_PCS, t, d);
}

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

static const struct {
	const char *command; /* of er_print; also the report's name */
	bool tells;          /* --redact leaves it out: it names paths, hosts or functions */
	int (*make)(struct view_state *v, struct table *t, struct diag *d);
} reports[] = {
	{ "lines", true, make_lines },
	{ "pcs", true, make_pcs },
	{ "locks", true, make_locks },
	{ "experiment_list", true, view_experiment_list },
	{ "header", true, make_header },
	{ "unwinding", false, view_unwinding },
	{ "lifetimes", true, view_lifetimes },
	{ "overview", true, make_overview },
	{ "statistics", true, make_statistics },
	{ "sample_detail", true, make_sample_detail },
};

/* By default, er_print shows few rows of the reports on waits. */
enum { ROWS_MAX = 10000 };

/* A report that cannot be made is left out. */
static size_t put_all(const struct export *x, struct buf *b)
{
	size_t n = 0;

	for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
		struct diag kept = { 0 };
		struct table t = { 0 };

		if (x->redact && reports[i].tells)
			continue;
		if (!reports[i].make(x->view, &t, &kept)) {
			buf_puts(b, n++ ? "," : "");
			put_table_json(b, reports[i].command, &t);
		}
		table_free(&t);
		diag_free(&kept);
	}
	return n;
}

void make_reports(const struct export *x, const struct page_tree *tree, struct pack *ret)
{
	size_t limit = x->view->limit;

	x->view->limit = limit ? limit : ROWS_MAX;
	pack_begin(ret, "json");
	buf_puts(&ret->bytes, "[");
	if (put_all(x, &ret->bytes))
		buf_puts(&ret->bytes, x->redact ? "" : ",");
	if (!x->redact)
		put_functions(x->view->session, tree, &ret->bytes);
	buf_puts(&ret->bytes, "]");
	pack_end(ret);
	x->view->limit = limit;
}
