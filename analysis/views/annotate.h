/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by annotated source and annotated disassembly: the text of the source file, the
 * functions shown, the sums for its lines, the columns and the marks.
 */
#ifndef VIEWS_ANNOTATE_H
#define VIEWS_ANNOTATE_H

#include "analysis/base/file.h"
#include "analysis/base/map.h"
#include "analysis/metrics/code_tally.h"
#include "analysis/model/source.h"
#include "analysis/views/code_rows.h"
#include "analysis/views/view_state.h"

/* The text of a source file, split into lines. Lines count from 1. */
struct source_text {
	struct file file;
	/* where lines 1, 2, … start; it has one entry more than there are lines */
	VEC(uint32_t) starts;
	char *found;	      /* path where the file was found; NULL: it was not */
};

struct listed_func {
	const struct func *func;
	uint32_t first_line; /* its first line in the file; 0: it has none there */
};

/* Code of a function that comes from another file than the one shown. */
struct other_file {
	const struct func *func;
	const char *file; /* interned */
};

struct annotate {
	struct view_state *v;
	struct table *t;
	const struct func *func;       /* the function that was asked for */
	const char *file;	       /* path, interned; NULL: no line is known */
	bool alone;		       /* show only this function */
	VEC(struct listed_func) funcs; /* sorted by first line, then by address */
	struct map listed;       /* ids of these functions */
	struct source_text text;
	/* the function list's metrics without names, sizes and addresses */
	struct metric_list metrics;
	struct map keys;	    /* of lines, and of functions' code from other files: key + 1 */
	VEC(struct other_file) others; /* in the order in which they were met */
	struct code_tally sums;	    /* by key */
	size_t text_column;
};

/* The source file, interned, that annotated source shows for a function; NULL: unknown. */
const char *annotate_file(struct session *s, const struct func *f);
/*
 * Collect all this for a function and add its columns to the table. `file` is as for view_source.
 * Returns 0, or -1 after reporting.
 */
int annotate_init(struct annotate *a, struct view_state *v, const struct func *f, const char *file,
		  struct table *t, struct diag *d);
void annotate_free(struct annotate *a);

/*
 * The line of the file that an instruction belongs to. Of several inlined calls in this file the
 * outermost counts. False: the instruction comes from another file.
 */
bool annotate_place(const struct annotate *a, const struct func *f, uint64_t offset,
		    uint32_t *line);
/*
 * Sum up the metrics by key. If the reader does that itself (annotation.rows), say which of its frames
 * have a key, which is `base` more than what the function gives.
 */
void annotate_sum(struct annotate *a, enum code_part part, uint32_t base, code_key key, void *ctx,
		  struct code_tally *ret);
/* Add a row with text and blank metrics. */
struct row *annotate_row(struct annotate *a, const char *text);
/* Fill the metrics of the last row with the sums of a key, which is `base` more than that in the sums. */
void annotate_values(struct annotate *a, struct row *r, const struct code_tally *sums,
		     enum code_part part, uint32_t base, uint64_t key);
/*
 * Fill a row's metrics by key, for example that of a line. They are zeros if no packet had the
 * key; false: no such key.
 */
bool annotate_fill(struct annotate *a, struct row *r, uint64_t key);
/* Add a source line, with its metrics if it has code and `values` is set. */
void annotate_line(struct annotate *a, uint32_t line, bool values);
/*
 * Add the index lines of a function, which are shown before its first line. The line that has
 * only the function's name is added if `classes` (of enum remark) has REMARK_BASIC. For a
 * function without a line in the file it is added only with `always` or if the function has time.
 */
void annotate_index(struct annotate *a, const struct listed_func *f, unsigned classes,
		    bool always);
/*
 * What the user can do about a source file that was not found. Names commands if the tool has
 * them.
 */
const char *annotate_remedy(const struct annotate *a);
/* Number of lines of the file; 0 if it could not be read. */
uint32_t annotate_nlines(const struct annotate *a);
/*
 * Mark the rows whose value in any column is at least `threshold` percent of the column's
 * largest.
 */
void annotate_mark(struct annotate *a, double threshold);

#endif
