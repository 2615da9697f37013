/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The summary of one function (fsummary, fsingle), of a line, or of a pc. */
#include "analysis/views/summary.h"

#include <string.h>

#include "analysis/metrics/tally.h"
#include "analysis/model/source.h"
#include "analysis/views/functions.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

struct summary {
	struct view_state *v;
	struct table *t;
	const struct tally *tally;
	int group;
};

static struct row *line(struct summary *s, const char *label)
{
	struct row *r = table_row(s->t);

	r->group = s->group;
	put_textf(s->t, r, 0, "  %s:", label);
	return r;
}

static void metric_line(struct summary *s, const struct metric *m, const char *flavor,
			const int64_t *values)
{
	int64_t value = metric_value(m, values), whole = metric_value(m, s->tally->total);
	__cleanup(freep) char *label = xasprintf("%s %s", flavor, m->uname);
	struct row *r = line(s, label);

	r->cells[1] = metric_plain_cell(m, value);
	if (m->unit == UNIT_RATIO)
		return;
	r->cells[2] = (struct cell){ .kind = CELL_PERCENT, .d = metric_percent(m, value, whole) };
}

static void text_line(struct summary *s, const char *label, const char *text)
{
	put_text(line(s, label), 1, text && *text ? text : "");
}

void summary_put(struct view_state *v, struct table *t, int group, const struct summary_item *item)
{
	struct summary s = { .v = v, .t = t, .tally = view_tally(v), .group = group };
	const struct func *f = item->func;
	struct row *r = table_row(t);

	r->group = group;
	put_text(r, 0, item->label);
	vec_for_each(m, &v->metric_set->all) {
		metric_line(&s, m, "Exclusive", item->excl);
		metric_line(&s, m, "Inclusive", item->incl);
	}
	line(&s, "Size")->cells[1] = (struct cell){ .kind = CELL_COUNT, .i = f->size };
	line(&s, "PC Address")->cells[1] = (struct cell){ .kind = CELL_ADDRESS, .n = f->obj->id,
							   .i = f->addr };
	text_line(&s, "Source File", item->source ? item->source : "(unknown)");
	text_line(&s, "Object File", "(unknown)");
	text_line(&s, "Load Object", f->obj->path);
	text_line(&s, "Mangled Name", f->outline || strcmp(f->mangled, f->name) ? f->mangled : NULL);
	text_line(&s, "Aliases", func_aliases(v->session, f));
}

void summary_columns(struct table *t)
{
	t->name = "summary";
	text_column(t, NULL);
	vec_push(&t->columns, (struct column){ .kind = CELL_TIME });
	vec_push(&t->columns, (struct column){ .kind = CELL_PERCENT });
}

static void add_function(struct view_state *v, struct table *t, int group, const struct func *f)
{
	const struct tally *tally = view_tally(v);

	summary_put(v, t, group, &(struct summary_item){
		.label = func_label(v, f, t), .excl = tally_excl(tally, f->id),
		.incl = tally_incl(tally, f->id), .func = f,
		.source = func_source(v->session, f) });
}

int view_summary(struct view_state *v, const struct func *only, struct table *t, struct diag *d)
{
	ranked_vec funcs = { 0 };
	int group = 0;

	summary_columns(t);
	if (only) {
		add_function(v, t, group, only);
		return 0;
	}
	functions_ranked(v, &funcs);
	vec_for_each(r, &funcs)
		add_function(v, t, group++, r->func);
	vec_free(&funcs);
	return 0;
}
