/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/views/view_state.h"

#include "analysis/metrics/filter.h"
#include "analysis/metrics/tally.h"
#include "analysis/views/columns.h"

void view_state_init(struct view_state *v, struct session *s, const struct metric_set *ms)
{
	*v = (struct view_state){ .session = s, .metric_set = ms, .name = NAME_LONG, .threshold = 0.05,
				   .annotation = { .sthresh = 75, .dthresh = 75,
						   .scc = REMARK_BASIC,
						   .dcc = REMARK_BASIC | REMARK_SRC } };
	objtypes_init(&v->types);
	metric_list_default(ms, LIST_FUNCS, &v->metrics);
	metric_list_callers(&v->metrics, &v->cmetrics);
	metric_sort_default(ms, &v->metrics, LIST_FUNCS, &v->sort);
	metric_sort_callers(&v->sort, &v->csort);
	view_objects_follow(v);
	metric_sort_default(ms, &v->imetrics, LIST_INDEX, &v->isort);
}

/*
 * Sort a list as functions are sorted, but by the list's own flavor; if it lacks that metric, by
 * its first one.
 */
static void sort_follows(const struct view_state *v, const struct metric_list *l,
			 enum list_kind kind, struct metric_sort *ret)
{
	enum flavor flavor = kind == LIST_DATA ? FLAVOR_DATA : FLAVOR_EXCL;

	*ret = v->sort;
	if (ret->col.flavor == FLAVOR_STATIC)
		return;
	ret->col.flavor = flavor;
	vec_for_each(c, &l->cols) {
		if (c->metric && c->metric == ret->col.metric)
			return;
	}
	metric_sort_default(v->metric_set, l, kind, ret);
}

void view_sorts_follow(struct view_state *v)
{
	sort_follows(v, &v->imetrics, LIST_INDEX, &v->isort);
	sort_follows(v, &v->dmetrics, LIST_DATA, &v->dsort);
}

void view_objects_follow(struct view_state *v)
{
	metric_list_free(&v->imetrics);
	metric_list_free(&v->dmetrics);
	metric_list_index(&v->metrics, &v->imetrics);
	metric_list_data(&v->metrics, &v->dmetrics);
	view_sorts_follow(v);
}

void view_state_fini(struct view_state *v)
{
	view_state_changed(v);
	metric_list_free(&v->metrics);
	metric_list_free(&v->cmetrics);
	metric_list_free(&v->imetrics);
	metric_list_free(&v->dmetrics);
	filter_free(v->filter);
	v->filter = NULL;
	selection_free(&v->selection);
	objtypes_free(&v->types);
}

void view_state_changed(struct view_state *v)
{
	tally_free(v->tally);
	v->tally = NULL;
}

struct tally *view_tally(struct view_state *v)
{
	if (!v->tally)
		v->tally = tally_new(v->session, v->metric_set, v->filter);
	return v->tally;
}
