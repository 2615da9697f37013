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
		m->groups = m->squares = NULL;
		m->ngroups = 0;
		m->compare = COMPARE_OFF;
	}
	ms->compare = COMPARE_OFF;
}

/* The copies of a metric are adjacent: those of metric m begin at m * ngroups, after `before`. */
static void add_copies(struct metric_set *ms, const struct session *s, const struct metric *m,
		       size_t before, bool squared)
{
	size_t n = ms->all.len + before, ngroups = s->groups.len;

	for (size_t g = 0; g < ngroups; g++) {
		struct metric copy = *m;

		copy.id = n + m->id * ngroups + g;
		copy.num = n + m->num * ngroups + g;
		copy.den = n + m->den * ngroups + g;
		copy.group = g + 1;
		copy.group_name = s->groups.data[g];
		copy.squared = squared;
		vec_push(&ms->compared, copy);
	}
}

static int begin(struct metric_set *ms, const struct session *s, enum compare how, bool squares,
		 struct diag *d)
{
	size_t n = s->groups.len, ncopies = ms->all.len * n;

	if (how != COMPARE_OFF && n > GROUPS_MAX)
		return diag_error(d,
				  "compare: %zu experiments and groups: at most %d can be compared",
				  n, GROUPS_MAX);
	clear(ms);
	if (how == COMPARE_OFF || n < 2)
		return 0;
	vec_for_each(m, &ms->all)
		m->compare = how; /* the copies have it, too */
	for (int squared = 0; squared <= squares; squared++) {
		vec_for_each(m, &ms->all)
			add_copies(ms, s, m, squared * ncopies, squared);
	}
	vec_for_each(m, &ms->all) {
		m->groups = &ms->compared.data[m->id * n];
		m->squares = squares ? &ms->compared.data[ncopies + m->id * n] : NULL;
		m->ngroups = n;
	}
	ms->compare = how;
	return 0;
}

int metric_set_compare(struct metric_set *ms, const struct session *s, enum compare how,
		       struct diag *d)
{
	return begin(ms, s, how, false, d);
}

int metric_set_compare_squares(struct metric_set *ms, const struct session *s, struct diag *d)
{
	return begin(ms, s, COMPARE_ON, true, d);
}
