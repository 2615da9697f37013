/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff: what takes more or less time in the second of two recordings, by function, as far as
 * sampling errors and the threshold allow to say.
 */
#ifndef VIEWS_DIFF_H
#define VIEWS_DIFF_H

#include <stdbool.h>

#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

enum diff_unit {
	DIFF_RATE, /* time in a second of recording */
	DIFF_TIME, /* time in a recording */
};

/*
 * Compare the session's two groups; the metric set must compare them, with squares. *slower: a
 * function, or a total, takes more time in the second one. Returns -1 after reporting if there
 * are not two groups, or if the filter leaves nothing of one.
 */
int view_diff(struct view_state *v, enum diff_unit unit, bool *slower, struct table *t,
	      struct diag *d);

#endif
