/* SPDX-License-Identifier: GPL-2.0-or-later */
/* overview: which kinds of data were recorded, and how much of each is selected. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "analysis/metrics/tally.h"
#include "analysis/views/columns.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

static void put_experiment(struct table *t, const struct experiment *e)
{
	time_t start = e->start_epoch;
	char text[64] = "(unknown)";
	struct tm tm;

	if (start && localtime_r(&start, &tm))
		strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &tm);
	put_textf(t, table_row(t), 0, "Experiment: %s", e->path);
	put_textf(t, table_row(t), 0, "  Target: '%s'", e->command);
	put_textf(t, table_row(t), 0, "  Host: %s (%s, %s)", e->hostname, e->arch, e->os);
	put_textf(t, table_row(t), 0, "  Start Time: %s", text);
	put_textf(t, table_row(t), 0, "  Duration: %.3f sec.", (double)e->end_ns / 1e9);
	put_spans(t, "  ", e);
}

static bool is_listed(const struct metric_list *l, const struct metric *m)
{
	vec_for_each(c, &l->cols) {
		if (c->metric == m && !(c->vis & VIS_HIDDEN))
			return true;
	}
	return false;
}

/* Every metric that was recorded, with its total under the current filter and selections. */
static void put_metrics(struct view_state *v, struct table *t)
{
	const struct tally *tally = view_tally(v);
	const char *title = NULL;

	vec_for_each(m, &v->metric_set->all) {
		const char *kind = packet_desc(m->kind)->title;
		struct row *r;

		if (!title || strcmp(title, kind))
			put_text(table_row(t), 0, kind);
		title = kind;
		r = table_row(t);
		put_textf(t, r, 0, "  [%c] %s - %s:", is_listed(&v->metrics, m) ? 'X' : ' ',
			  m->uname, m->name);
		r->cells[1] = metric_plain_cell(m, metric_value(m, tally->total));
	}
	put_textf(t, table_row(t), 0, "Packets: %" PRIu64, tally->npackets);
}

int view_overview(struct view_state *v, const struct experiment *e, struct table *t,
		  struct diag *d)
{
	t->name = "overview";
	text_column(t, NULL);
	vec_push(&t->columns, (struct column){ .kind = CELL_TIME });
	vec_for_each(ep, &v->session->experiments) {
		if (e ? e == *ep : !(*ep)->founder)
			put_experiment(t, *ep);
	}
	put_metrics(v, t);
	vec_push(&t->notes, "[X] marks the metrics that lists show; `metrics' chooses them.");
	return 0;
}
