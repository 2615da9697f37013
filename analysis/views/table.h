/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table: views fill it, printers print it. It has columns and rows, and its numbers are still
 * numbers. The rows of a list have depth 0, those of a tree have their depth, and the panels of
 * callers-callees are groups. A view does not know how a row is printed; a printer does not know
 * what a metric is.
 *
 * A table keeps its rows, or has a source that makes them each time they are read: millions of rows
 * then need no memory. row_window reads both kinds.
 */
#ifndef VIEWS_TABLE_H
#define VIEWS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/alloc.h"
#include "analysis/base/vec.h"

enum cell_kind {
	CELL_BLANK,   /* 0: a zeroed cell is blank */
	CELL_TIME,    /* i: nanoseconds, shown as seconds with three decimals; 0 as "0." */
	CELL_MSEC,    /* i: nanoseconds, shown as milliseconds with three decimals; 0 as "0." */
	CELL_USEC,    /* i: nanoseconds, shown as microseconds with three decimals; 0 as "0." */
	CELL_PERCENT, /* d: 0 to 100; 0 as "0." */
	CELL_RATIO,   /* d: shown with three decimals; 0 as "0." */
	CELL_COUNT,   /* i */
	CELL_TIMES,   /* d: a factor, shown as "x 1.500"; above 99.999 as "x >99.999" */
	CELL_ADDRESS, /* i; n: object id, printed as "2:0x00001234" */
	CELL_TEXT,    /* s: lives in the table's arena or longer; printers make it printable */
	/*
	 * s: shares of a whole: TABLE_BAR letters, one for each hundredth. Only people see it;
	 * other output forms leave it out, because other columns have the numbers.
	 */
	CELL_BAR,
	CELL_HIST,    /* s: counts separated by blanks; people see one character for each */
};

enum { CELL_KINDS = CELL_HIST + 1 };

enum { TABLE_BAR = 100 };

/* 16 bytes: a table may have ten million. */
struct cell {
	enum cell_kind kind : 8;
	bool estimate; /* people see this number with a "~" before it */
	/* CELL_ADDRESS: object id; other numbers: not 0 for a difference, shown with its sign */
	int n;
	union {
		int64_t i;
		double d;
		const char *s;
	};
};

struct column {
	enum cell_kind kind;
	const char *title[3]; /* "Excl.", "User CPU", "sec." ; NULL: blank */
	/* the first two lines unabbreviated, for machine-readable output; NULL: as title */
	const char *full[2];
	/* heading above the titles: the experiments that the column is for; NULL: all */
	const char *group;
	bool sorted;          /* the rows are sorted by this metric */
	/* These three are for people only: machine-readable output has all columns. */
	bool optional;        /* left out if every cell is empty */
	bool hidden;          /* left out */
	/* order of leaving out where lines would be too long: highest first; 0 never */
	int spare;
	/*
	 * last column only: the table keeps its other columns rather than have these lines whole.
	 * A line that is too long is continued below, split at " < " or else at a blank.
	 */
	bool wrap;
	bool verbatim;        /* last column only: lines of a file, never continued below */
};

struct row {
	int depth;      /* trees */
	int group;      /* rows of one panel; a printer separates groups */
	char mark;      /* '*' for the row that a panel is about; '\0' none */
	int more;       /* trees: has a later sibling */
	struct cell *cells; /* one for each column */
};

/* Makes rows. A zeroed source has none. Several threads may draw at once. */
struct row_source {
	size_t n; /* number of rows */
	bool marks, groups; /* some rows have a mark; there are several groups. Depths are 0. */
	/* Fill rows from, …, from + n - 1. The cells of ret[0 … n - 1] are blank. */
	void (*draw)(const void *ctx, size_t from, size_t n, struct row *ret);
	void (*free)(void *ctx);
	void *ctx; /* owned by the table */
};

struct table {
	const char *name;  /* "functions": for machine-readable output */
	const char *title; /* a line, or NULL */
	VEC(struct column) columns;
	VEC(struct row) rows;
	struct row_source source; /* if it has rows, `rows` is empty */
	VEC(const char *) notes; /* lines after the table */
	struct arena arena;
};

/*
 * Reads the rows of a table, from the first one: initialize it with { .table = t }, call row_next until
 * it returns NULL, and then row_window_free. Or read any rows by rows_at.
 */
struct row_window {
	const struct table *table;
	struct row *rows; /* for drawn rows: ROWS_MOST, with their cells */
	struct cell *cells;
	const struct row *now; /* for row_next: rows at - n to at - 1, of which `next` comes next */
	size_t at, n, next;
};

enum { ROWS_MOST = 1024 };

/* Append a row of blank cells. The pointer is valid until the next call. */
struct row *table_row(struct table *t);
/* Replace the source by its rows. */
void table_draw(struct table *t);
void table_free(struct table *t);

/* The number of rows, kept or not. */
size_t table_nrows(const struct table *t);
/*
 * Rows from, …, from + n - 1; n is at most ROWS_MOST. They are valid until the next call with this
 * window.
 */
const struct row *rows_at(struct row_window *w, size_t from, size_t n);
/* The next row, or NULL. It is valid until the next call. */
const struct row *row_next(struct row_window *w);
void row_window_free(struct row_window *w);

#endif
