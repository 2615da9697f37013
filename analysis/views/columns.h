/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From metric lists to columns, and from values to cells: shared by the views. */
#ifndef VIEWS_COLUMNS_H
#define VIEWS_COLUMNS_H

#include "analysis/views/view.h"

/* What one row is about. Arrays by metric id; NULL: blank cells for that flavor. */
struct values {
	const int64_t *excl, *incl, *attr; /* data-derived values are excl */
	const int64_t *whole;      /* 100 % of exclusive and inclusive */
	const int64_t *attr_whole; /* 100 % of attributed */
	const struct func *func;   /* for static metrics; NULL none */
	const char *name;
};

void columns_add(struct table *t, const struct metric_list *l, const struct metric_sort *sort);
void columns_fill(struct row *r, const struct metric_list *l, const struct values *v);
/* Only the attributed columns; the others stay as they are. */
void columns_fill_attr(struct row *r, const struct metric_list *l, const int64_t *attr,
		       const int64_t *attr_whole);
/* The name of a function in the form that is set, for sorting. */
const char *func_name(const struct view_state *v, const struct func *f);
/* The same as rows show it: with its object when that is wanted, living as long as the table. */
const char *func_label(const struct view_state *v, const struct func *f, struct table *t);
/* A value as `how` shows it beside that of the first group: itself, their difference, their ratio. */
struct cell compared_to(enum compare how, enum cell_kind kind, int64_t value, int64_t first);
/* The value of a metric where no visibility was chosen: a time, a ratio or a count. */
struct cell metric_plain_cell(const struct metric *m, int64_t value);
double percent_of(int64_t value, int64_t whole);
/* The same of a metric, times taken in seconds: the last digit then rounds as gprofng's does. */
double metric_percent(const struct metric *m, int64_t value, int64_t whole);
/* A column of plain text under a heading (NULL none). */
void text_column(struct table *t, const char *title);
void put_text(struct row *r, size_t column, const char *text);
__attribute__((format(printf, 4, 5))) void put_textf(struct table *t, struct row *r, size_t column,
						     const char *fmt, ...);
/* A row that is one line of text. */
__attribute__((format(printf, 2, 3))) void put_line(struct table *t, const char *fmt, ...);
/* A line after the table. */
__attribute__((format(printf, 2, 3))) void put_note(struct table *t, const char *fmt, ...);
/* The tally of the current settings, made when needed. */
struct tally *view_tally(struct view_state *v);

/* What is put in order: a function or anything else with values and a name. */
struct ranked {
	const struct func *func; /* NULL none */
	const int64_t *excl, *incl, *attr;
	const char *name;
	int64_t order;           /* settles ties where names do not come first */
	bool by_order;
	size_t index;            /* of the caller's */
	int64_t key;             /* ranked_sort's own: the value of the sort metric */
};

/* By the sort metric, largest first, then by name; one that is by_order by that. */
void ranked_sort(struct ranked *r, size_t n, const struct metric_sort *sort);

#endif
