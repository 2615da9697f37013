/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/views/functions.h"

#include "analysis/base/buf.h"
#include "analysis/metrics/tally.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

bool values_listed(const struct metric_list *l, const int64_t *incl)
{
	vec_for_each(c, &l->cols) {
		if (c->metric && incl[c->metric->id])
			return true;
	}
	return false;
}

static struct ranked rank(const struct view_state *v, const struct tally *t, const struct func *f)
{
	return (struct ranked){
		.func = f,
		.excl = tally_excl(t, f->id),
		.incl = tally_incl(t, f->id),
		.name = func_name(v, f),
		.order = f->id };
}

void functions_ranked(struct view_state *v, ranked_vec *ret)
{
	const struct session *s = v->session;
	const struct tally *t = view_tally(v);

	for (size_t i = 0; i < t->nfuncs; i++) {
		const struct func *f = s->funcs.data[i];

		if (f != s->total && values_listed(&v->metrics, tally_incl(t, f->id)))
			vec_push(ret, rank(v, t, f));
	}
	ranked_sort(ret->data, ret->len, &v->sort);
	vec_push(ret, rank(v, t, s->total));
	for (size_t i = ret->len - 1; i > 0; i--) {
		struct ranked swap = ret->data[i];

		ret->data[i] = ret->data[i - 1];
		ret->data[i - 1] = swap;
	}
	if (v->limit && ret->len > v->limit)
		ret->len = v->limit;
}

int view_functions(struct view_state *v, struct table *t, struct diag *d)
{
	const struct tally *tally = view_tally(v);
	struct buf title = { 0 };
	ranked_vec funcs = { 0 };

	buf_puts(&title, "Functions sorted by metric: ");
	metric_sort_describe(&v->sort, &title);
	t->name = "functions";
	t->title = arena_strdup(&t->arena, title.data);
	buf_free(&title);
	columns_add(t, &v->metrics, &v->sort);
	functions_ranked(v, &funcs);
	vec_for_each(r, &funcs) {
		struct values values = { .excl = r->excl, .incl = r->incl, .whole = tally->total,
					 .func = r->func, .name = func_label(v, r->func, t) };

		columns_fill(table_row(t), &v->metrics, &values);
	}
	if (v->filter && !tally->npackets)
		put_excluded(t);
	if (v->metric_set->compare)
		put_builds(t, v->session, "each has rows of its own; `diff' compares functions by name");
	vec_free(&funcs);
	return 0;
}
