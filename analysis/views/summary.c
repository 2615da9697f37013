/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of one function: fsummary, fsingle. Label, value, percent of the total. */
#include <string.h>

#include "analysis/metrics/tally.h"
#include "analysis/views/functions.h"

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

static void add_function(struct summary *s, const struct func *f)
{
	struct row *r = table_row(s->t);

	r->group = s->group;
	put_text(r, 0, func_label(s->v, f, s->t));
	vec_for_each(m, &s->v->metric_set->all) {
		metric_line(s, m, "Exclusive", tally_excl(s->tally, f->id));
		metric_line(s, m, "Inclusive", tally_incl(s->tally, f->id));
	}
	line(s, "Size")->cells[1] = (struct cell){ .kind = CELL_COUNT, .i = f->size };
	line(s, "PC Address")->cells[1] = (struct cell){ .kind = CELL_ADDRESS, .n = f->obj->id,
							  .i = f->addr };
	text_line(s, "Source File", f->srcfile && *f->srcfile ? f->srcfile : "(unknown)");
	text_line(s, "Object File", "(unknown)");
	text_line(s, "Load Object", f->obj->path);
	text_line(s, "Mangled Name", strcmp(f->mangled, f->name) ? f->mangled : NULL);
	text_line(s, "Aliases", f->aliases);
	s->group++;
}

int view_summary(struct view_state *v, const struct func *only, struct table *t, struct diag *d)
{
	struct summary s = { .v = v, .t = t, .tally = view_tally(v) };
	ranked_vec funcs = { 0 };

	t->name = "summary";
	text_column(t, NULL);
	vec_push(&t->columns, (struct column){ .kind = CELL_TIME });
	vec_push(&t->columns, (struct column){ .kind = CELL_PERCENT });
	if (only) {
		add_function(&s, only);
		return 0;
	}
	functions_ranked(v, &funcs);
	vec_for_each(r, &funcs)
		add_function(&s, r->func);
	vec_free(&funcs);
	return 0;
}
