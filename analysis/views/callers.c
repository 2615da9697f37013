/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/base/buf.h"
#include "analysis/metrics/fragment.h"
#include "analysis/metrics/tally.h"
#include "analysis/views/functions.h"

struct panels {
	struct view_state *v;
	struct table *t;
	const struct tally *tally;
	struct edges edges;
	const int64_t *whole; /* of the function in the middle: 100 % of attributed */
	int group;
};

static void add_row(struct panels *p, const struct func *f, const int64_t *attr, char mark)
{
	struct values values = {
		.excl = tally_excl(p->tally, f->id), .incl = tally_incl(p->tally, f->id),
		.attr = attr, .whole = p->tally->total, .attr_whole = p->whole,
		.func = f, .name = func_label(p->v, f, p->t) };
	struct row *r = table_row(p->t);

	columns_fill(r, &p->v->cmetrics, &values);
	r->group = p->group;
	r->mark = mark;
}

static void add_neighbours(struct panels *p, const struct edge *e, size_t n)
{
	const struct session *s = p->v->session;
	ranked_vec rows = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct func *f = s->funcs.data[e[i].neighbour];

		vec_push(&rows, (struct ranked){ .func = f,
						 .excl = tally_excl(p->tally, f->id),
						 .incl = tally_incl(p->tally, f->id),
						 .attr = e[i].values,
						 .name = func_name(p->v, f),
						 .order = f->id,
						 .sort = &p->v->csort });
	}
	ranked_sort(rows.data, rows.len);
	vec_for_each(r, &rows)
		add_row(p, r->func, r->attr, '\0');
	vec_free(&rows);
}

static void add_edges(struct panels *p, const edge_vec *all, const struct func *f)
{
	size_t n;
	const struct edge *e = edges_of(all->data, all->len, f->id, &n);

	add_neighbours(p, e, n);
}

/* Callers, the function itself with what is its own, callees. */
static void add_panel(struct panels *p, const struct func *f)
{
	p->whole = tally_incl(p->tally, f->id);
	add_edges(p, &p->edges.callers, f);
	add_row(p, f, tally_excl(p->tally, f->id), '*');
	add_edges(p, &p->edges.callees, f);
	p->group++;
}

static void begin(struct panels *p)
{
	struct buf title = { 0 };

	p->t->name = "callers-callees";
	buf_puts(&title, "Callers and callees sorted by metric: ");
	metric_sort_describe(&p->v->csort, &title);
	p->t->title = arena_strdup(&p->t->arena, title.data);
	buf_free(&title);
	columns_add(p->t, &p->v->cmetrics, &p->v->csort);
}

/* Attributed to the last of them is what stacks have that end there. */
int view_fragment(struct view_state *v, struct func *const *funcs, size_t n, struct table *t,
		  struct diag *d)
{
	struct panels p = { .v = v, .t = t, .tally = view_tally(v) };
	struct fragment f;

	begin(&p);
	fragment_init(&f, p.tally, funcs, n);
	p.whole = f.total;
	add_neighbours(&p, f.callers.data, f.callers.len);
	for (size_t i = 0; i < n; i++)
		add_row(&p, funcs[i], i + 1 < n ? NULL : f.self, '*');
	add_neighbours(&p, f.callees.data, f.callees.len);
	fragment_free(&f);
	return 0;
}

int view_callers_callees(struct view_state *v, const struct func *only, struct table *t,
			 struct diag *d)
{
	struct panels p = { .v = v, .t = t, .tally = view_tally(v) };

	begin(&p);
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
