/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "analysis/views/columns.h"

int view_experiment_list(struct view_state *v, struct table *t, struct diag *d)
{
	t->name = "experiment_list";
	vec_push(&t->columns, (struct column){ .kind = CELL_COUNT, .title = { "ID" } });
	text_column(t, "Sel");
	vec_push(&t->columns, (struct column){ .kind = CELL_COUNT, .title = { "PID" } });
	text_column(t, "Experiment");
	vec_for_each(ep, &v->session->experiments) {
		const struct experiment *e = *ep;
		struct row *r = table_row(t);

		r->cells[0] = (struct cell){ .kind = CELL_COUNT, .i = e->id };
		put_text(r, 1, "yes");
		r->cells[2] = (struct cell){ .kind = CELL_COUNT, .i = e->pid };
		put_text(r, 3, e->path);
	}
	return 0;
}

/* Samples lie between their events: of n events there are n-1. */
static int64_t count_samples(const struct experiment *e)
{
	int64_t n = 0;

	vec_for_each(ev, &e->events)
		n += !strcmp(ev->kind, "sample");
	return n ? n - 1 : 0;
}

int view_sample_list(struct view_state *v, struct table *t, struct diag *d)
{
	t->name = "sample_list";
	vec_push(&t->columns, (struct column){ .kind = CELL_COUNT, .title = { "Exp" } });
	text_column(t, "Sel");
	vec_push(&t->columns, (struct column){ .kind = CELL_COUNT, .title = { "Total" } });
	vec_for_each(e, &v->session->experiments) {
		struct row *r = table_row(t);

		r->cells[0] = (struct cell){ .kind = CELL_COUNT, .i = (*e)->id };
		put_text(r, 1, "all");
		r->cells[2] = (struct cell){ .kind = CELL_COUNT, .i = count_samples(*e) };
	}
	return 0;
}
