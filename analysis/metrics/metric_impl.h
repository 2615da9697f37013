/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the grammar of metric lists (metric_list.c) and the defaults (metric_default.c) share. */
#ifndef METRICS_METRIC_IMPL_H
#define METRICS_METRIC_IMPL_H

#include "analysis/metrics/metric.h"

/* The same metric and flavor, however it is shown. */
bool same_col(const struct metric_col *a, const struct metric_col *b);
/* Metrics that differ only in visibility stand together; what is hidden stays as it is. */
void metric_list_add(struct metric_list *l, struct metric_col col);
/*
 * Add what one keyword stands for; `any` and `hwc` stand for all that there are.
 * 0, or -1 after reporting; d may be NULL.
 */
int metric_list_add_word(const struct metric_set *ms, enum list_kind kind, const char *word,
			 struct diag *d, struct metric_list *l);
/* The sort that a keyword ("-" reverses) stands for in a list; false: none is shown. */
bool metric_sort_word(const struct metric_set *ms, const struct metric_list *l, enum list_kind kind,
		      const char *word, struct metric_sort *ret);

#endif
