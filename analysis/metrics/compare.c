/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comparison of groups of experiments. Each metric gets a copy for each group, with an
 * id after those of all metrics. A packet adds to its metric and to the copy of its
 * group. So every array of values has the values of each group, and everything built
 * from metric lists and values (functions, callers, the tree, index lists, lines, …) is
 * compared without extra code. Only columns.c places the copies of a metric side by
 * side.
 */
#include <string.h>

#include "analysis/base/diag.h"
#include "analysis/metrics/metric.h"
#include "analysis/model/session.h"

/* Bounds the columns, for readability, and memory. */
enum { GROUPS_MAX = 16 };

size_t metric_set_width(const struct metric_set *ms)
{
	return ms->all.len + ms->compared.len;
}

static void clear(struct metric_set *ms)
{
	vec_free(&ms->compared);
	vec_for_each(m, &ms->all) {
		m->groups = NULL;
		m->ngroups = 0;
		m->compare = COMPARE_OFF;
	}
	ms->compare = COMPARE_OFF;
}

/* The copies of a metric are adjacent: those of metric m begin at m * ngroups. */
static void add_copies(struct metric_set *ms, const struct session *s, const struct metric *m)
{
	size_t n = ms->all.len, ngroups = s->groups.len;

	for (size_t g = 0; g < ngroups; g++) {
		struct metric copy = *m;

		copy.id = n + m->id * ngroups + g;
		copy.num = n + m->num * ngroups + g;
		copy.den = n + m->den * ngroups + g;
		copy.group = g + 1;
		copy.group_name = s->groups.data[g];
		vec_push(&ms->compared, copy);
	}
}

int metric_set_compare(struct metric_set *ms, const struct session *s, enum compare how,
		       struct diag *d)
{
	size_t n = s->groups.len;

	if (how != COMPARE_OFF && n > GROUPS_MAX)
		return diag_error(d,
				  "compare: %zu experiments and groups: at most %d can be compared",
				  n, GROUPS_MAX);
	clear(ms);
	if (how == COMPARE_OFF || n < 2)
		return 0;
	vec_for_each(m, &ms->all) {
		m->compare = how;
		add_copies(ms, s, m);
	}
	vec_for_each(m, &ms->all) {
		m->groups = &ms->compared.data[m->id * n];
		m->ngroups = n;
	}
	ms->compare = how;
	return 0;
}
