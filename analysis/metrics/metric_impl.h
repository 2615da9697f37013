/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the grammar of metric lists (metric_list.c) and the defaults (metric_default.c). */
#ifndef METRICS_METRIC_IMPL_H
#define METRICS_METRIC_IMPL_H

#include "analysis/metrics/metric.h"

/* Whether both are the same metric and flavor, regardless of visibility. */
bool same_col(const struct metric_col *a, const struct metric_col *b);
/* Add a column next to those of the same metric; hidden columns keep their position. */
void metric_list_add(struct metric_list *l, struct metric_col col);
/*
 * Add the columns that a keyword means; `any` and `hwc` mean several. 0, or -1 after
 * reporting; d may be NULL.
 */
int metric_list_add_word(const struct metric_set *ms, enum list_kind kind, const char *word,
			 struct diag *d, struct metric_list *l);
/* The sort that a keyword means in a list ("-" reverses). False: the list shows no such column. */
bool metric_sort_word(const struct metric_set *ms, const struct metric_list *l, enum list_kind kind,
		      const char *word, struct metric_sort *ret);

#endif
