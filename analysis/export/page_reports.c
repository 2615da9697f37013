/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_reports.h"

#include "analysis/base/diag.h"
#include "analysis/export/export.h"
#include "analysis/export/outfile.h"
#include "analysis/export/page_pack.h"
#include "analysis/export/page_table.h"
#include "analysis/views/table.h"
#include "analysis/views/view.h"
#include "analysis/views/view_state.h"

static int make_lines(struct view_state *v, struct table *t, struct diag *d)
{
	return view_places(v, PLACES_LINES, t, d);
}

static int make_locks(struct view_state *v, struct table *t, struct diag *d)
{
	return view_locks(v, false, t, d);
}

static int make_header(struct view_state *v, struct table *t, struct diag *d)
{
	return view_header(v, NULL, t, d);
}

static const struct {
	const char *command; /* of er_print; also the report's name */
	bool tells;          /* --redact leaves it out: it names paths, hosts or functions */
	int (*make)(struct view_state *v, struct table *t, struct diag *d);
} reports[] = {
	{ "lines", true, make_lines },
	{ "locks", true, make_locks },
	{ "experiment_list", true, view_experiment_list },
	{ "header", true, make_header },
	{ "unwinding", false, view_unwinding },
	{ "lifetimes", true, view_lifetimes },
};

/* By default, er_print shows few rows of the reports on waits. */
enum { ROWS_MAX = 10000 };

/* A report that cannot be made is left out. */
static void put_all(const struct export *x, struct buf *b)
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
}

bool put_reports(const struct export *x, struct outfile *out)
{
	size_t limit = x->view->limit;
	struct pack p = { 0 };
	bool ok;

	x->view->limit = limit ? limit : ROWS_MAX;
	pack_begin(&p, "json");
	buf_puts(&p.bytes, "[");
	put_all(x, &p.bytes);
	buf_puts(&p.bytes, "]");
	pack_end(&p);
	x->view->limit = limit;
	ok = pack_put(&p, "reports", out);
	pack_free(&p);
	return ok;
}
