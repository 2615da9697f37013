/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Summary panels: label, value, percent of the total. */
#ifndef VIEWS_SUMMARY_H
#define VIEWS_SUMMARY_H

#include <stdint.h>

struct func;
struct table;
struct view_state;

struct summary_item {
	const char *label;
	const int64_t *excl, *incl; /* by metric id */
	/* gives size and address; may be that of a part of the label's code */
	const struct func *func;
	const char *source;         /* file name; NULL: unknown */
};

void summary_columns(struct table *t);
/* Add a panel; `group` is its number. */
void summary_put(struct view_state *v, struct table *t, int group, const struct summary_item *item);

#endif
