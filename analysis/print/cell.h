/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of a cell, and the width of text on a terminal. Every printer formats numbers with
 * these functions, so all output forms show the same digits.
 */
#ifndef PRINT_CELL_H
#define PRINT_CELL_H

#include "analysis/views/table.h"

struct buf;

/*
 * Append the cell's text: seconds to the millisecond, milliseconds to the microsecond, percent
 * to 0.01, counts as integers. Exactly 0 is "0."; a value that rounds to 0 is "0.000" or
 * "0.00". An estimate begins with "~". Text is made printable.
 */
void cell_put(struct buf *b, const struct cell *c);

/* The same without an estimate's "~", for programs. */
void cell_put_value(struct buf *b, const struct cell *c);

/*
 * A fast form of cell_put for common numbers, as a report may have millions. Writes the text so
 * that it ends at `end`, without a NUL; before `end` there must be room for CELL_ROOM
 * characters. Returns where the text begins, or NULL if the cell needs cell_put.
 */
enum { CELL_ROOM = 32 };
char *cell_number(const struct cell *c, char *end);

/* Whether the cell is 0, empty text or blank. */
bool cell_is_nothing(const struct cell *c);
/*
 * Append the bar of a CELL_BAR, `width` characters wide, or the histogram of a CELL_HIST, one
 * character for each count.
 */
void bar_put(struct buf *b, const char *letters, size_t width);
void hist_put(struct buf *b, const char *counts);

/* The state of a tree's rails between rows; see tree_put. */
struct tree {
	VEC(char) rails; /* by depth: whether that ancestor has a later sibling */
};

/*
 * Append the prefix of a row's name in a tree: "+-", and before it a rail for each ancestor
 * that has a later sibling. Call it for every row, in order.
 */
void tree_put(struct tree *tr, struct buf *b, const struct row *r);
void tree_free(struct tree *tr);

/*
 * The columns that printable UTF-8 text takes. In a UTF-8 locale (LC_CTYPE) wide and combining
 * characters have their own width; otherwise each character takes one.
 */
size_t text_width(const char *s);

/* The index of the first text column, which shows names, marks and trees; -1: none. */
int table_name_column(const struct table *t);

#endif
