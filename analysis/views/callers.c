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
	int64_t *rank; /* by function: its position in the order of names */
	size_t ncolumns;
	struct cell *known; /* by function: its cells, which are the same in every panel */
};

/*
 * The panel of one function or chain, whose callers and callees have been found for it alone. Rows are
 * added to a table.
 */
struct panel {
	const struct drawing *g;
	struct table *t;
	/* the values of the function in the middle; they are 100 % of the attributed values */
	const int64_t *whole;
	ranked_vec ranked; /* the callers or callees that are being added */
};

static const struct cell *cells_of(const struct drawing *g, uint32_t func)
{
	return &g->known[func * g->ncolumns];
}

/* The cells that a function has in every panel; attributed cells are blank. */
static void know(struct drawing *g, struct table *t, const struct func *f)
{
	struct row r = { .cells = &g->known[f->id * g->ncolumns] };
	struct values values = { .excl = tally_excl(g->tally, f->id),
				 .incl = tally_incl(g->tally, f->id),
				 .whole = g->tally->total, .func = f,
				 .name = func_label(g->v, f, t) };

	columns_fill(&r, &g->v->cmetrics, &values);
}

static void fill_row(const struct drawing *g, struct row *r, uint32_t func, const int64_t *attr,
		     const int64_t *whole)
{
	memcpy(r->cells, cells_of(g, func), g->ncolumns * sizeof(*r->cells));
	columns_fill_attr(r, &g->v->cmetrics, attr, whole);
}

static struct ranked ranked_of(const struct drawing *g, uint32_t func, const int64_t *attr)
{
	return (struct ranked){ .func = g->v->session->funcs.data[func],
				.excl = tally_excl(g->tally, func),
				.incl = tally_incl(g->tally, func),
				.attr = attr, .order = g->rank[func], .by_order = true };
}

/* --- one panel, of callers and callees that were found for it alone --- */

static void add_row(struct panel *p, uint32_t func, const int64_t *attr, char mark)
{
	struct row *r = table_row(p->t);

	fill_row(p->g, r, func, attr, p->whole);
	r->mark = mark;
}

static void add_neighbours(struct panel *p, const struct callers *sums,
			   const struct neighbours *side)
{
	for (size_t i = 0; i < side->funcs.len; i++)
		vec_push(&p->ranked, ranked_of(p->g, side->funcs.data[i], neighbour_values(sums, side, i)));
	ranked_sort(p->ranked.data, p->ranked.len, &p->g->v->csort);
	vec_for_each(r, &p->ranked)
		add_row(p, r->func->id, r->attr, '\0');
	p->ranked.len = 0;
}

/*
 * Add a panel: callers, then the chain of functions, then callees. The last function of the chain
 * has its own values.
 */
static void add_chain(struct panel *p, const struct callers *sums, struct func *const *funcs,
		      size_t n)
{
	p->whole = sums->total;
	add_neighbours(p, sums, &sums->callers);
	for (size_t i = 0; i < n; i++)
		add_row(p, funcs[i]->id, i + 1 < n ? NULL : sums->self, '*');
	add_neighbours(p, sums, &sums->callees);
	vec_free(&p->ranked);
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

/* Begin the table, and prepare to draw its panels. */
static void drawing_init(struct drawing *g, struct view_state *v, struct table *t)
{
	const struct session *s = v->session;

	*g = (struct drawing){ .v = v, .tally = view_tally(v) };
	begin(v, t);
	rank_names(g);
	g->ncolumns = t->columns.len;
	g->known = xcalloc(s->funcs.len * g->ncolumns, sizeof(*g->known));
	vec_for_each(f, &s->funcs)
		know(g, t, *f);
}

static void drawing_free(struct drawing *g)
{
	free(g->rank);
	free(g->known);
}

int view_callers(struct view_state *v, struct func *const *funcs, size_t n, struct table *t,
		  struct diag *d)
{
	struct callers sums;
	struct drawing g;
	struct panel p = { .g = &g, .t = t };

	drawing_init(&g, v, t);
	callers_init(&sums, g.tally);
	callers_find(&sums, funcs, n);
	add_chain(&p, &sums, funcs, n);
	callers_free(&sums);
	drawing_free(&g);
	return 0;
}

/* --- all panels, drawn when they are read --- */

enum { CACHE_LINE = 64, FETCH_MOST = 64 };

/*
 * The panels of all functions, from the calls. A panel's rows are the calls of its function, so the
 * calls only have to be sorted: nothing is kept for a row.
 */
struct panels {
	struct drawing g;
	struct calls calls;
	uint32_t *funcs; /* by panel: the function in the middle */
	size_t *end;     /* by panel: the row behind its last one */
	size_t n;
};

static void draw_call(const struct panels *p, struct row *r, uint32_t func, const int64_t *values,
		      const int64_t *whole, int64_t *attr)
{
	memset(attr, 0, p->g.tally->nmetrics * sizeof(*attr));
	tally_add(p->g.tally, attr, values);
	fill_row(&p->g, r, func, attr, whole);
}

/* Draw the k-th row of the panel of a function. There must be room in `attr` for all metrics. */
static void draw_row(const struct panels *p, uint32_t func, size_t k, struct row *r, int64_t *attr)
{
	const struct calls *c = &p->calls;
	const int64_t *whole = tally_incl(p->g.tally, func);
	size_t ncallers, ncallees;
	const uint32_t *callers = calls_of(&c->by_callee, func, &ncallers);
	const uint32_t *callees = calls_of(&c->by_caller, func, &ncallees);

	if (k < ncallers) {
		draw_call(p, r, c->all.data[callers[k]].caller, caller_values(c, callers[k]), whole, attr);
	} else if (k > ncallers) {
		k -= ncallers + 1;
		draw_call(p, r, c->all.data[callees[k]].callee, callee_values(c, callees[k]), whole, attr);
	} else {
		fill_row(&p->g, r, func, tally_excl(p->g.tally, func), whole);
		r->mark = '*';
	}
}

/*
 * Begin to load what the rows of n calls need. They are anywhere in tables that are larger than the CPU's
 * cache.
 */
static void fetch_calls(const struct panels *p, const uint32_t *calls, size_t n, bool callers)
{
	const struct calls *c = &p->calls;

	for (size_t i = 0; i < n; i++) {
		__builtin_prefetch(&c->all.data[calls[i]]);
		__builtin_prefetch(callers ? caller_values(c, calls[i]) : callee_values(c, calls[i]));
	}
	for (size_t i = 0; i < n; i++) {
		const struct call *call = &c->all.data[calls[i]];
		const struct cell *cells = cells_of(&p->g, callers ? call->caller : call->callee);

		for (size_t k = 0; k < p->g.ncolumns; k += CACHE_LINE / sizeof(*cells))
			__builtin_prefetch(&cells[k]);
	}
}

/* The same for the rows of a panel, but not for more than the cache takes. */
static void fetch_panel(const struct panels *p, uint32_t func)
{
	size_t n;
	const uint32_t *calls = calls_of(&p->calls.by_callee, func, &n);

	fetch_calls(p, calls, n < FETCH_MOST ? n : FETCH_MOST, true);
	calls = calls_of(&p->calls.by_caller, func, &n);
	fetch_calls(p, calls, n < FETCH_MOST ? n : FETCH_MOST, false);
}

/* The first panel that ends behind a row. */
static size_t panel_of(const struct panels *p, size_t row)
{
	size_t lo = 0, hi = p->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->end[mid] <= row)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void panels_draw(const void *ctx, size_t from, size_t n, struct row *ret)
{
	const struct panels *p = ctx;
	size_t panel = panel_of(p, from);
	int64_t *attr = xcalloc(p->g.tally->nmetrics, sizeof(*attr));

	for (size_t row = from; row < from + n; row++, ret++) {
		while (row >= p->end[panel])
			panel++;
		if (row == from || (panel && row == p->end[panel - 1]))
			fetch_panel(p, p->funcs[panel]);
		draw_row(p, p->funcs[panel], row - (panel ? p->end[panel - 1] : 0), ret, attr);
		ret->group = panel;
	}
	free(attr);
}

/* A run of panels, whose calls one thread sorts. */
struct share {
	const struct panels *p;
	size_t from, to;
	ranked_vec ranked;
	VEC(int64_t) attr; /* the values of the calls that are sorted, nmetrics of each */
};

/* Sort a function's calls in an order: its callers or its callees. */
static void sort_calls(struct share *s, const struct call_order *order, uint32_t func, bool callers)
{
	const struct calls *c = &s->p->calls;
	size_t nm = c->tally->nmetrics, n;
	uint32_t *calls = calls_of(order, func, &n);

	vec_reserve(&s->attr, n * nm + 1);
	memset(s->attr.data, 0, n * nm * sizeof(*s->attr.data));
	s->ranked.len = 0;
	for (size_t i = 0; i < n; i++) {
		const struct call *call = &c->all.data[calls[i]];
		struct ranked r = ranked_of(&s->p->g, callers ? call->caller : call->callee,
					    &s->attr.data[i * nm]);

		r.index = calls[i];
		tally_add(c->tally, &s->attr.data[i * nm], callers ? caller_values(c, calls[i]) :
								     callee_values(c, calls[i]));
		vec_push(&s->ranked, r);
	}
	ranked_sort(s->ranked.data, n, &s->p->g.v->csort);
	for (size_t i = 0; i < n; i++)
		calls[i] = s->ranked.data[i].index;
}

static void share_sort(void *ctx, size_t i)
{
	struct share *s = (struct share *)ctx + i;
	const struct calls *c = &s->p->calls;

	for (size_t k = s->from; k < s->to && !interrupt_pending(); k++) {
		sort_calls(s, &c->by_callee, s->p->funcs[k], true);
		sort_calls(s, &c->by_caller, s->p->funcs[k], false);
	}
	vec_free(&s->ranked);
	vec_free(&s->attr);
}

/* Sort the calls of all panels: shares with about the same number of rows. */
static void sort_panels(const struct panels *p)
{
	size_t n = parallel_parts(), at = 0, rows = p->n ? p->end[p->n - 1] : 0;
	struct share shares[PARALLEL_MAX];

	for (size_t i = 0; i < n; i++) {
		shares[i] = (struct share){ .p = p, .from = at };
		while (at < p->n && (i + 1 == n || p->end[at] < rows / n * (i + 1)))
			at++;
		shares[i].to = at;
	}
	parallel_run(share_sort, shares, n);
}

static void panels_free(void *ctx)
{
	struct panels *p = ctx;

	calls_free(&p->calls);
	drawing_free(&p->g);
	free(p->funcs);
	free(p->end);
	free(p);
}

/* Choose the panels, and find where their rows are. */
static void put_in_order(struct panels *p)
{
	ranked_vec funcs = { 0 };
	size_t rows = 0;

	functions_ranked(p->g.v, &funcs);
	p->n = funcs.len;
	p->funcs = xcalloc(p->n, sizeof(*p->funcs));
	p->end = xcalloc(p->n, sizeof(*p->end));
	for (size_t i = 0; i < p->n; i++) {
		uint32_t func = funcs.data[i].func->id;
		size_t callers, callees;

		calls_of(&p->calls.by_callee, func, &callers);
		calls_of(&p->calls.by_caller, func, &callees);
		rows += callers + 1 + callees;
		p->funcs[i] = func;
		p->end[i] = rows;
	}
	vec_free(&funcs);
}

int view_callers_callees(struct view_state *v, struct table *t, struct diag *d)
{
	struct panels *p = xcalloc(1, sizeof(*p));

	drawing_init(&p->g, v, t);
	calls_init(&p->calls, p->g.tally);
	put_in_order(p);
	sort_panels(p);
	t->source = (struct row_source){
		.n = p->end[p->n - 1], .marks = true, .groups = p->n > 1, .draw = panels_draw,
		.free = panels_free, .ctx = p };
	return 0;
}
