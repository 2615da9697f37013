/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/interrupt.h"
#include "analysis/base/parallel.h"
#include "analysis/metrics/callers.h"
#include "analysis/metrics/calls.h"
#include "analysis/metrics/tally.h"
#include "analysis/views/functions.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

/* What all panels share. */
struct drawing {
	struct view_state *v;
	const struct tally *tally;
	struct calls calls; /* for panels of all functions */
	int64_t *rank; /* by function: its position in the order of names */
};

/* A run of consecutive panels. */
struct panels {
	const struct drawing *g;
	struct table *t;
	/* the values of the function in the middle; they are 100 % of the attributed values */
	const int64_t *whole;
	/* by function: its cells, which are the same in every panel; or NULL */
	struct cell **known;
	ranked_vec ranked;        /* the callers or callees that are being added */
	VEC(int64_t) attr;        /* their values, nmetrics of each, if they are calls */
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
	columns_fill_attr(r, &p->g->v->cmetrics, attr, p->whole);
	r->group = p->group;
	r->mark = mark;
}

static void rank(struct panels *p, uint32_t func, const int64_t *attr)
{
	vec_push(&p->ranked, (struct ranked){ .func = p->g->v->session->funcs.data[func],
					      .excl = tally_excl(p->g->tally, func),
					      .incl = tally_incl(p->g->tally, func),
					      .attr = attr,
					      .order = p->g->rank[func],
					      .by_order = true });
}

static void add_ranked(struct panels *p)
{
	ranked_sort(p->ranked.data, p->ranked.len, &p->g->v->csort);
	vec_for_each(r, &p->ranked)
		add_row(p, r->func, r->attr, '\0');
	p->ranked.len = 0;
}

static void add_neighbours(struct panels *p, const struct callers *sums,
			   const struct neighbours *side)
{
	for (size_t i = 0; i < side->funcs.len; i++)
		rank(p, side->funcs.data[i], neighbour_values(sums, side, i));
	add_ranked(p);
}

/*
 * Add a panel: callers, then the chain of functions, then callees. The last function of the chain
 * has its own values.
 */
static void add_chain(struct panels *p, const struct callers *sums, struct func *const *funcs,
		      size_t n)
{
	p->whole = sums->total;
	add_neighbours(p, sums, &sums->callers);
	for (size_t i = 0; i < n; i++)
		add_row(p, funcs[i], i + 1 < n ? NULL : sums->self, '*');
	add_neighbours(p, sums, &sums->callees);
}

/* The values of the calls in an order, by metric id: those of the callers or of the callees. */
static void add_calls(struct panels *p, const struct call_order *order, uint32_t func, bool callers)
{
	const struct calls *c = &p->g->calls;
	size_t nm = c->tally->nmetrics, n;
	const uint32_t *calls = calls_of(order, func, &n);

	vec_reserve(&p->attr, n * nm + 1);
	memset(p->attr.data, 0, n * nm * sizeof(*p->attr.data));
	for (size_t i = 0; i < n; i++) {
		const struct call *call = &c->all.data[calls[i]];

		tally_add(c->tally, &p->attr.data[i * nm], callers ? caller_values(c, calls[i]) :
								     callee_values(c, calls[i]));
		rank(p, callers ? call->caller : call->callee, &p->attr.data[i * nm]);
	}
	add_ranked(p);
}

/* The panel of one function, from the calls. */
static void add_panel(struct panels *p, const struct func *f)
{
	p->whole = tally_incl(p->g->tally, f->id);
	add_calls(p, &p->g->calls.by_callee, f->id, true);
	add_row(p, f, tally_excl(p->g->tally, f->id), '*');
	add_calls(p, &p->g->calls.by_caller, f->id, false);
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
	rank_names(g);
}

static void drawing_free(struct drawing *g)
{
	calls_free(&g->calls);
	free(g->rank);
}

static void panels_init(struct panels *p, const struct drawing *g, struct table *t)
{
	*p = (struct panels){ .g = g, .t = t };
	p->known = xcalloc(g->v->session->funcs.len, sizeof(*p->known));
}

static void panels_free(struct panels *p)
{
	vec_free(&p->ranked);
	vec_free(&p->attr);
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
	struct callers sums;
	struct drawing g;
	struct panels p;

	drawing_init(&g, v);
	panels_init(&p, &g, t);
	callers_init(&sums, g.tally);
	callers_find(&sums, funcs, n);
	begin(v, t);
	add_chain(&p, &sums, funcs, n);
	callers_free(&sums);
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
		add_panel(&p, s->funcs[k].func);
	panels_free(&p);
}

static size_t ncalls(const struct drawing *g, uint32_t func)
{
	size_t callers, callees;

	calls_of(&g->calls.by_callee, func, &callers);
	calls_of(&g->calls.by_caller, func, &callees);
	return callers + callees;
}

/* Divide the functions into n runs with about the same number of rows each. */
static void share_out(const struct drawing *g, const ranked_vec *funcs, struct share *shares, size_t n)
{
	size_t all = 0, sofar = 0, at = 0;

	vec_for_each(r, funcs)
		all += ncalls(g, r->func->id);
	for (size_t i = 0; i < n; i++) {
		shares[i] = (struct share){ .g = g, .funcs = funcs->data, .from = at };
		while (at < funcs->len && (i + 1 == n || sofar < all / n * (i + 1)))
			sofar += ncalls(g, funcs->data[at++].func->id);
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
	calls_init(&g.calls, g.tally);
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
