/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/interrupt.h"
#include "analysis/base/parallel.h"
#include "analysis/metrics/callers.h"
#include "analysis/metrics/tally.h"
#include "analysis/views/functions.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

/* What all panels share. */
struct drawing {
	struct view_state *v;
	const struct tally *tally;
	struct stack_index index;
	int64_t *rank; /* by function: its position in the order of names */
};

/* A run of consecutive panels. */
struct panels {
	const struct drawing *g;
	struct table *t;
	/* sums of the function in the middle; its total is 100 % of the attributed values */
	struct callers sums;
	/* by function: its cells, which are the same in every panel; or NULL */
	struct cell **known;
	ranked_vec ranked;        /* the callers or callees that are being added */
	int group;
};

/* The cells of a function, the same in every panel; attributed cells are blank. */
static const struct cell *cells_of(struct panels *p, const struct func *f)
{
	struct row r = { .cells = p->known[f->id] };

	if (!r.cells) {
		struct values values = { .excl = tally_excl(p->g->tally, f->id),
					 .incl = tally_incl(p->g->tally, f->id),
					 .whole = p->g->tally->total, .func = f,
					 .name = func_label(p->g->v, f, p->t) };

		r.cells = arena_alloc(&p->t->arena, p->t->columns.len * sizeof(*r.cells));
		columns_fill(&r, &p->g->v->cmetrics, &values);
		p->known[f->id] = r.cells;
	}
	return r.cells;
}

static void add_row(struct panels *p, const struct func *f, const int64_t *attr, char mark)
{
	const struct cell *known = cells_of(p, f);
	struct row *r = table_row(p->t);

	memcpy(r->cells, known, p->t->columns.len * sizeof(*known));
	columns_fill_attr(r, &p->g->v->cmetrics, attr, p->sums.total);
	r->group = p->group;
	r->mark = mark;
}

static void add_neighbours(struct panels *p, const struct neighbours *side)
{
	const struct session *s = p->g->v->session;

	p->ranked.len = 0;
	for (size_t i = 0; i < side->funcs.len; i++) {
		const struct func *f = s->funcs.data[side->funcs.data[i]];

		vec_push(&p->ranked, (struct ranked){ .func = f,
						      .excl = tally_excl(p->g->tally, f->id),
						      .incl = tally_incl(p->g->tally, f->id),
						      .attr = neighbour_values(&p->sums, side, i),
						      .order = p->g->rank[f->id],
						      .by_order = true });
	}
	ranked_sort(p->ranked.data, p->ranked.len, &p->g->v->csort);
	vec_for_each(r, &p->ranked)
		add_row(p, r->func, r->attr, '\0');
}

/*
 * Add a panel: callers, then the chain of functions, then callees. The last function of the chain
 * has its own values.
 */
static void add_panel(struct panels *p, struct func *const *funcs, size_t n)
{
	callers_find(&p->sums, funcs, n);
	add_neighbours(p, &p->sums.callers);
	for (size_t i = 0; i < n; i++)
		add_row(p, funcs[i], i + 1 < n ? NULL : p->sums.self, '*');
	add_neighbours(p, &p->sums.callees);
	p->group++;
}

/*
 * Rank names once, so that panels need not compare them. This is done before several threads draw
 * panels.
 */
static void rank_names(struct drawing *g)
{
	static const struct metric_sort by_name = { .col = { .stat = STATIC_NAME } };
	const struct session *s = g->v->session;
	ranked_vec all = { 0 };

	vec_for_each(f, &s->funcs)
		vec_push(&all, (struct ranked){ .name = func_name(g->v, *f), .order = (*f)->id });
	ranked_sort(all.data, all.len, &by_name);
	g->rank = xcalloc(all.len, sizeof(*g->rank));
	for (size_t i = 0; i < all.len; i++)
		g->rank[all.data[i].order] = i;
	vec_free(&all);
}

static void drawing_init(struct drawing *g, struct view_state *v)
{
	*g = (struct drawing){ .v = v, .tally = view_tally(v) };
	stack_index_init(&g->index, g->tally);
	rank_names(g);
}

static void drawing_free(struct drawing *g)
{
	stack_index_free(&g->index);
	free(g->rank);
}

static void panels_init(struct panels *p, const struct drawing *g, struct table *t)
{
	*p = (struct panels){ .g = g, .t = t };
	callers_init(&p->sums, &g->index);
	p->known = xcalloc(g->v->session->funcs.len, sizeof(*p->known));
}

static void panels_free(struct panels *p)
{
	callers_free(&p->sums);
	vec_free(&p->ranked);
	free(p->known);
}

static void begin(const struct view_state *v, struct table *t)
{
	struct buf title = { 0 };

	t->name = "callers-callees";
	buf_puts(&title, "Callers and callees sorted by metric: ");
	metric_sort_describe(&v->csort, &title);
	t->title = arena_strdup(&t->arena, title.data);
	buf_free(&title);
	columns_add(t, &v->cmetrics, &v->csort);
}

int view_callers(struct view_state *v, struct func *const *funcs, size_t n, struct table *t,
		  struct diag *d)
{
	struct drawing g;
	struct panels p;

	drawing_init(&g, v);
	panels_init(&p, &g, t);
	begin(v, t);
	add_panel(&p, funcs, n);
	panels_free(&p);
	drawing_free(&g);
	return 0;
}

/* Consecutive panels in a table of their own, which one thread draws. */
struct share {
	const struct drawing *g;
	const struct ranked *funcs;
	size_t from, to;
	struct table t;
};

static void share_draw(void *ctx, size_t i)
{
	struct share *s = (struct share *)ctx + i;
	struct panels p;

	panels_init(&p, s->g, &s->t);
	begin(s->g->v, &s->t);
	p.group = s->from;
	for (size_t k = s->from; k < s->to && !interrupt_pending(); k++)
		add_panel(&p, &s->g->v->session->funcs.data[s->funcs[k].func->id], 1);
	panels_free(&p);
}

/* Divide the functions into n runs with about the same number of neighbours each. */
static void share_out(const struct drawing *g, const ranked_vec *funcs, struct share *shares, size_t n)
{
	size_t all = 0, sofar = 0, at = 0;

	vec_for_each(r, funcs)
		all += stack_index_count(&g->index, r->func->id);
	for (size_t i = 0; i < n; i++) {
		shares[i] = (struct share){ .g = g, .funcs = funcs->data, .from = at };
		while (at < funcs->len && (i + 1 == n || sofar < all / n * (i + 1)))
			sofar += stack_index_count(&g->index, funcs->data[at++].func->id);
		shares[i].to = at;
	}
}

int view_callers_callees(struct view_state *v, struct table *t, struct diag *d)
{
	struct share shares[PARALLEL_MAX];
	size_t n = parallel_parts();
	ranked_vec funcs = { 0 };
	struct drawing g;

	drawing_init(&g, v);
	functions_ranked(v, &funcs);
	share_out(&g, &funcs, shares, n);
	parallel_run(share_draw, shares, n);
	*t = shares[0].t;
	for (size_t i = 1; i < n; i++)
		table_append(t, &shares[i].t);
	vec_free(&funcs);
	drawing_free(&g);
	return 0;
}
