/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of the function list, in its order: <Total> first. */
#ifndef VIEWS_FUNCTIONS_H
#define VIEWS_FUNCTIONS_H

#include "analysis/views/columns.h"

typedef VEC(struct ranked) ranked_vec;

/* Whether any value of the list is not zero. Functions whose values are all zero are not listed. */
bool values_listed(const struct metric_list *l, const int64_t *incl);
/* The list, cut to the limit; free with vec_free. */
void functions_ranked(struct view_state *v, ranked_vec *ret);

#endif
