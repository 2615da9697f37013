/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of one cell, and how wide text is on a terminal. Every printer
 * writes numbers through here, so that all forms show the same digits.
 */
#ifndef PRINT_CELL_H
#define PRINT_CELL_H

#include "analysis/views/table.h"

struct buf;

/*
 * Append the cell: seconds to the millisecond, milliseconds to the microsecond,
 * percent to 0.01, counts whole.
 * Exactly nothing is "0."; what rounds to nothing is "0.000" or "0.00". An
 * estimate has a "~" before it. Text becomes printable.
 */
void cell_put(struct buf *b, const struct cell *c);

/* The same without the "~" of an estimate, for machines. */
void cell_put_value(struct buf *b, const struct cell *c);

/*
 * The same text, without a NUL, so that it ends at `end`, before which there is room
 * for CELL_ROOM characters; returns where it begins. NULL for what is no common
 * number: cell_put has it. A report may have millions of these.
 */
enum { CELL_ROOM = 32 };
char *cell_number(const struct cell *c, char *end);

/* Whether there is nothing to see in it: 0, or no text. */
bool cell_is_nothing(const struct cell *c);
/* Append a bar of CELL_BAR in so many characters; the counts of CELL_HIST, one character each. */
void bar_put(struct buf *b, const char *letters, size_t width);
void hist_put(struct buf *b, const char *counts);

/* The "+-" and its rails, for rows of a tree: see tree_put. */
struct tree {
	VEC(char) rails; /* by depth: has that ancestor a later sibling */
};

/*
 * Append what stands before the name of a tree's row: "+-" below its parent,
 * and a rail for each ancestor that goes on further down. Call it for every
 * row in order.
 */
void tree_put(struct tree *tr, struct buf *b, const struct row *r);
void tree_free(struct tree *tr);

/*
 * Columns that printable UTF-8 text takes. Wide and combining characters count
 * as such when LC_CTYPE is a UTF-8 locale, otherwise each character as one.
 */
size_t text_width(const char *s);

/* The first text column, where names, marks and trees stand; -1 none. */
int table_name_column(const struct table *t);

#endif
