/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns metric lists into columns and values into cells, for all views. */
#ifndef VIEWS_COLUMNS_H
#define VIEWS_COLUMNS_H

#include "analysis/model/session.h"
#include "analysis/views/table.h"
#include "analysis/views/view.h"
#include "analysis/views/view_state.h"

/*
 * The values of one row. Arrays are indexed by metric id; with NULL the cells of that flavor are
 * blank.
 */
struct values {
	const int64_t *excl, *incl, *attr; /* excl has data-derived values, too */
	const int64_t *whole;      /* totals: 100 % of exclusive and inclusive values */
	const int64_t *attr_whole; /* totals: 100 % of attributed values */
	/* gives the static metrics, such as size and address; NULL: none */
	const struct func *func;
	const char *name;
};

void columns_add(struct table *t, const struct metric_list *l, const struct metric_sort *sort);
void columns_fill(struct row *r, const struct metric_list *l, const struct values *v);
/* Fill the attributed columns and leave the others as they are. */
void columns_fill_attr(struct row *r, const struct metric_list *l, const int64_t *attr,
		       const int64_t *attr_whole);
/* The name of a function in the current name format, for sorting. */
const char *func_name(const struct view_state *v, const struct func *f);
/*
 * The same as rows show it, with the function's object if that is set. It lives as long as the
 * table.
 */
const char *func_label(const struct view_state *v, const struct func *f, struct table *t);
/*
 * A value compared with that of the first group. `how` chooses the value itself, the difference
 * or the ratio.
 */
struct cell compared_to(enum compare how, enum cell_kind kind, int64_t value, int64_t first);
/* A metric's value without the user's choice of visibility: a time, a ratio or a count. */
struct cell metric_plain_cell(const struct metric *m, int64_t value);
double percent_of(int64_t value, int64_t whole);
/*
 * The same for a metric. Times are divided in seconds, so that the last digit rounds as in
 * gprofng.
 */
double metric_percent(const struct metric *m, int64_t value, int64_t whole);
/* Add a column of plain text; the title may be NULL. */
void text_column(struct table *t, const char *title);
void put_text(struct row *r, size_t column, const char *text);
__attribute__((format(printf, 4, 5))) void put_textf(struct table *t, struct row *r, size_t column,
						     const char *fmt, ...);
/* Add a row that is one line of text. */
__attribute__((format(printf, 2, 3))) void put_line(struct table *t, const char *fmt, ...);
/* Add a line after the table. */
__attribute__((format(printf, 2, 3))) void put_note(struct table *t, const char *fmt, ...);
/*
 * Add a line about the spans of an experiment, after `indent`, if it has any: their names, and the
 * calls of all.
 */
void put_spans(struct table *t, const char *indent, const struct experiment *e);
/* Note that no packet passes the filter: a name in it may be misspelt. */
void put_excluded(struct table *t);
/* A note for each file of which the recordings have different builds. It ends in `how` functions are compared. */
void put_builds(struct table *t, const struct session *s, const char *how);
/* The tally for the current settings; made at the first call. */
struct tally *view_tally(struct view_state *v);

/* Something to be sorted: a function, or anything else with values and a name. */
struct ranked {
	const struct func *func; /* NULL none */
	const int64_t *excl, *incl, *attr;
	const char *name;
	int64_t order;           /* breaks ties if names do not come first */
	bool by_order;
	size_t index;            /* free for the caller */
	int64_t key;             /* set by ranked_sort: the value of the sort metric */
};

/*
 * Sort by the sort metric, largest first, then by name. Items with by_order set use `order`
 * instead of the name.
 */
void ranked_sort(struct ranked *r, size_t n, const struct metric_sort *sort);

#endif
