/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What annotated source and annotated disassembly share: the text of the file,
 * the functions in question, the sums of its lines, columns and marks.
 */
#ifndef VIEWS_ANNOTATE_H
#define VIEWS_ANNOTATE_H

#include "analysis/base/file.h"
#include "analysis/base/map.h"
#include "analysis/metrics/code_tally.h"
#include "analysis/model/source.h"
#include "analysis/views/view.h"

/* The text of a source file by lines, which count from 1. */
struct source_text {
	struct file file;
	VEC(uint32_t) starts; /* of lines 1, 2, …; one more than there are */
	char *found;	      /* where it is; NULL: it could not be read */
};

struct listed_func {
	const struct func *func;
	uint32_t first_line; /* where it begins in the file; 0: nowhere */
};

/* Code of a function that was written in another file than the one shown. */
struct other_file {
	const struct func *func;
	const char *file; /* interned */
};

struct annotate {
	struct view_state *v;
	struct table *t;
	const struct func *func;       /* what was asked for */
	const char *file;	       /* path, interned; NULL: no line is known */
	bool alone;		       /* only this function counts */
	VEC(struct listed_func) funcs; /* by first line, then by address */
	struct map listed;       /* their ids */
	struct source_text text;
	struct metric_list metrics; /* without names, sizes, addresses */
	struct map keys;	    /* of lines, and of what functions have elsewhere: key + 1 */
	VEC(struct other_file) others; /* in the order that they were met */
	struct code_tally sums;	    /* by key */
	size_t text_column;
};

/*
 * Gather all this for a function: its columns are added to the table. `file` is as
 * in view_source. 0, or -1 after reporting.
 */
int annotate_init(struct annotate *a, struct view_state *v, const struct func *f, const char *file,
		  struct table *t, struct diag *d);
void annotate_free(struct annotate *a);

/* The place of an instruction in the file, as far out as it is in it; false: elsewhere. */
bool annotate_place(const struct annotate *a, const struct func *f, uint64_t offset,
		    uint32_t *line);
/* A row with text; blank metrics. */
struct row *annotate_row(struct annotate *a, const char *text);
/* Fill the metrics of a row. */
void annotate_values(struct annotate *a, struct row *r, const int64_t *excl, const int64_t *incl);
/* The same by a key: a line, for one. Zeros where nothing was met; false: no such key. */
bool annotate_fill(struct annotate *a, struct row *r, uint64_t key);
/* A source line; its metrics if it has code and `values` is set. */
void annotate_line(struct annotate *a, uint32_t line, bool values);
/*
 * Add the index lines of a function, which stand before its first line. `classes` (of
 * enum remark) says whether to add the line that has only its name: REMARK_BASIC. A
 * function without a line in the file gets that one only with `always`, or if it has time.
 */
void annotate_index(struct annotate *a, const struct listed_func *f, unsigned classes,
		    bool always);
/* What to do about a source file that was not found: the commands, where there are any. */
const char *annotate_remedy(const struct annotate *a);
/* How many lines the file has; 0 when it could not be read. */
uint32_t annotate_nlines(const struct annotate *a);
/* Mark the rows whose value in any column is at least so many percent of the column's largest. */
void annotate_mark(struct annotate *a, double threshold);

#endif
