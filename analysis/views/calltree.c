/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/metrics/calltree.h"

#include "analysis/base/buf.h"
#include "analysis/metrics/tally.h"
#include "analysis/views/functions.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

typedef VEC(const struct tree_node *) node_vec;

struct drawing {
	struct view_state *v;
	struct table *t;
	const struct tally *tally;
	struct metric_list columns; /* attributed metrics */
	struct metric_sort sort;
	size_t limit;
};

/* Make a list of attributed metrics; each metric of the function list occurs once. */
static void tree_columns(const struct metric_list *funcs, struct metric_list *ret)
{
	struct metric_list callers;

	metric_list_callers(funcs, &callers);
	vec_for_each(c, &callers.cols) {
		if (c->flavor == FLAVOR_ATTR || (c->flavor == FLAVOR_STATIC && c->stat == STATIC_NAME))
			vec_push(&ret->cols, *c);
	}
	metric_list_free(&callers);
}

/*
 * Whether to show a node. A node whose listed metrics are all zero is left out with all nodes
 * below it.
 */
static bool shown(const struct drawing *g, const struct tree_node *n)
{
	vec_for_each(c, &g->columns.cols) {
		if (c->metric && n->values[c->metric->id])
			return true;
	}
	return false;
}

static void children_ranked(const struct drawing *g, const struct tree_node *n, ranked_vec *ret,
			    node_vec *nodes)
{
	for (struct tree_node *c = n->children; c; c = c->next) {
		const struct func *f = g->v->session->funcs.data[c->func];

		if (!shown(g, c))
			continue;
		vec_push(ret, (struct ranked){ .func = f, .attr = c->values, .excl = c->values,
					       .incl = c->values, .name = func_name(g->v, f), .order = f->id,
					       .index = nodes->len });
		vec_push(nodes, c);
	}
	ranked_sort(ret->data, ret->len, &g->sort);
}

static void draw(struct drawing *g, const struct tree_node *n, int depth, int more)
{
	const struct func *f = g->v->session->funcs.data[n->func];
	struct values values = { .attr = n->values, .attr_whole = g->tally->total,
				 .whole = g->tally->total, .func = f,
				 .name = func_label(g->v, f, g->t) };
	node_vec nodes = { 0 };
	ranked_vec order = { 0 };
	struct row *r;

	if (g->limit && g->t->rows.len >= g->limit)
		return;
	r = table_row(g->t);
	columns_fill(r, &g->columns, &values);
	r->depth = depth;
	r->more = more;
	children_ranked(g, n, &order, &nodes);
	for (size_t i = 0; i < order.len; i++)
		draw(g, nodes.data[order.data[i].index], depth + 1, i + 1 < order.len);
	vec_free(&order);
	vec_free(&nodes);
}

int view_calltree(struct view_state *v, struct table *t, struct diag *d)
{
	struct drawing g = { .v = v, .t = t, .tally = view_tally(v), .limit = v->limit };
	struct buf title = { 0 };
	struct calltree tree;

	tree_columns(&v->metrics, &g.columns);
	metric_sort_callers(&v->sort, &g.sort);
	t->name = "calltree";
	buf_puts(&title, "Functions Call Tree. Metric: ");
	metric_sort_describe(&g.sort, &title);
	t->title = arena_strdup(&t->arena, title.data);
	buf_free(&title);
	columns_add(t, &g.columns, &g.sort);
	calltree_init(&tree, g.tally);
	draw(&g, tree.root, 0, 0);
	calltree_free(&tree);
	metric_list_free(&g.columns);
	return 0;
}
