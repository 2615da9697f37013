/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/export.h"

#include <string.h>

#include "analysis/base/diag.h"
#include "analysis/views/view_state.h"

static const struct exporter *const exporters[] = {
	&page_exporter, &folded_exporter, &pprof_exporter, &perfetto_exporter,
	&speedscope_exporter, &firefox_exporter,
};

static const char *const roots[] = {
	[ROOT_STATE] = "state", [ROOT_REASON] = "reason", [ROOT_PROCESS] = "process",
};

const struct exporter *exporter_at(size_t n)
{
	return n < sizeof(exporters) / sizeof(exporters[0]) ? exporters[n] : NULL;
}

const struct exporter *exporter_find(const char *name)
{
	const struct exporter *e;

	for (size_t i = 0; (e = exporter_at(i)); i++) {
		if (!strcmp(e->name, name))
			return e;
	}
	return NULL;
}

int export_root_parse(const char *word, enum export_root *ret)
{
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		if (!roots[i] || strcmp(roots[i], word))
			continue;
		*ret = i;
		return 0;
	}
	return -1;
}

int export_nothing(const struct export *x)
{
	if (!x->view->filter && x->from_ns <= 0 && x->to_ns == INT64_MAX)
		return diag_error(x->diag, "nothing to export: nothing was recorded: record for longer, or a load "
				  "that uses a CPU");
	return diag_error(x->diag, "nothing to export: no data passes the filter: widen it, or see "
			  "er_print -overview for what was recorded");
}

/* The metric that the function list is sorted by, or the first one that can be added up. */
static const struct metric *first_metric(const struct view_state *v)
{
	const struct metric *sorted = v->sort.col.metric;

	if (sorted && sorted->unit != UNIT_RATIO)
		return sorted;
	vec_for_each(m, &v->metric_set->all) {
		if (m->unit != UNIT_RATIO)
			return m;
	}
	return NULL;
}

const struct metric *export_metric(const struct view_state *v, const char *keyword,
				   enum export_root root, struct diag *d)
{
	bool states = root == ROOT_STATE || root == ROOT_REASON;
	const struct metric *m;

	if (!keyword) {
		m = states ? metric_find(v->metric_set, "total") : NULL;
		m = m ? m : first_metric(v);
		if (!m)
			diag_error(d, "the experiment has no data to export: see its messages with "
				   "er_print -header");
		return m;
	}
	m = metric_find(v->metric_set, keyword);
	if (!m)
		diag_error(d, "--metric '%s': not recorded here: er_print -metric_list lists what "
			   "was", keyword);
	else if (m->unit == UNIT_RATIO)
		diag_error(d, "--metric '%s': a ratio cannot be added up over stacks: export its "
			   "two metrics instead", keyword);
	return m && m->unit != UNIT_RATIO ? m : NULL;
}
