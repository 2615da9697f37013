/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/metrics/tally.h"
#include "analysis/views/columns.h"

void view_state_init(struct view_state *v, struct session *s, const struct metric_set *ms)
{
	*v = (struct view_state){ .session = s, .metric_set = ms, .name = NAME_LONG };
	objtypes_init(&v->types);
	metric_list_default(ms, LIST_FUNCS, &v->metrics);
	metric_list_callers(&v->metrics, &v->cmetrics);
	metric_list_index(&v->metrics, &v->imetrics);
	metric_sort_default(ms, &v->metrics, LIST_FUNCS, &v->sort);
	metric_sort_callers(&v->sort, &v->csort);
	metric_sort_default(ms, &v->imetrics, LIST_INDEX, &v->isort);
}

void view_state_fini(struct view_state *v)
{
	view_state_changed(v);
	metric_list_free(&v->metrics);
	metric_list_free(&v->cmetrics);
	metric_list_free(&v->imetrics);
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
