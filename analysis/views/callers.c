/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/base/buf.h"
#include "analysis/metrics/tally.h"
#include "analysis/views/functions.h"

struct panels {
	struct view_state *v;
	struct table *t;
	const struct tally *tally;
	struct edges edges;
	int group;
};

static void add_row(struct panels *p, const struct func *f, const int64_t *attr,
		    const struct func *centre)
{
	struct values values = {
		.excl = tally_excl(p->tally, f->id), .incl = tally_incl(p->tally, f->id),
		.attr = attr, .whole = p->tally->total, .attr_whole = tally_incl(p->tally, centre->id),
		.func = f, .name = func_label(p->v, f, p->t) };
	struct row *r = table_row(p->t);

	columns_fill(r, &p->v->cmetrics, &values);
	r->group = p->group;
	r->mark = f == centre && attr == values.excl ? '*' : '\0';
}

static void add_neighbours(struct panels *p, const edge_vec *all, const struct func *centre)
{
	const struct session *s = p->v->session;
	size_t n;
	const struct edge *e = edges_of(all->data, all->len, centre->id, &n);
	ranked_vec rows = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct func *f = s->funcs.data[e[i].neighbour];

		vec_push(&rows, (struct ranked){
			.func = f, .excl = tally_excl(p->tally, f->id),
			.incl = tally_incl(p->tally, f->id), .attr = e[i].values, .name = func_name(p->v, f),
			.order = f->id, .sort = &p->v->csort });
	}
	vec_sort(&rows, ranked_cmp);
	vec_for_each(r, &rows)
		add_row(p, r->func, r->attr, centre);
	vec_free(&rows);
}

/* Callers, the function itself with what is its own, callees. */
static void add_panel(struct panels *p, const struct func *f)
{
	add_neighbours(p, &p->edges.callers, f);
	add_row(p, f, tally_excl(p->tally, f->id), f);
	add_neighbours(p, &p->edges.callees, f);
	p->group++;
}

int view_callers_callees(struct view_state *v, const struct func *only, struct table *t,
			 struct diag *d)
{
	struct panels p = { .v = v, .t = t, .tally = view_tally(v) };
	struct buf title = { 0 };

	t->name = "callers-callees";
	buf_puts(&title, "Callers and callees sorted by metric: ");
	metric_sort_describe(&v->csort, &title);
	t->title = arena_strdup(&t->arena, title.data);
	buf_free(&title);
	columns_add(t, &v->cmetrics, &v->csort);
	edges_init(&p.edges, p.tally, only);
	if (only) {
		add_panel(&p, only);
	} else {
		ranked_vec funcs = { 0 };

		functions_ranked(v, &funcs);
		vec_for_each(r, &funcs)
			add_panel(&p, r->func);
		vec_free(&funcs);
	}
	edges_free(&p.edges);
	return 0;
}
