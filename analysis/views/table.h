/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a view yields and a printer prints: columns and rows, numbers still
 * numbers. A list is rows at depth 0, a tree has depth, callers-callees is
 * groups. No view knows how a row is printed, no printer what a metric is.
 */
#ifndef VIEWS_TABLE_H
#define VIEWS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/alloc.h"
#include "analysis/base/vec.h"

enum cell_kind {
	CELL_BLANK,   /* 0: what was zeroed is blank */
	CELL_TIME,    /* i: nanoseconds, shown as seconds with three decimals; 0 as "0." */
	CELL_MSEC,    /* i: nanoseconds, shown as milliseconds with three decimals; 0 as "0." */
	CELL_PERCENT, /* d: 0 to 100; 0 as "0." */
	CELL_RATIO,   /* d: shown with three decimals; 0 as "0." */
	CELL_COUNT,   /* i */
	CELL_TIMES,   /* d: how many times, shown as "x 1.500"; what is beyond 99.999 as such */
	CELL_ADDRESS, /* i; n: object id, printed as "2:0x00001234" */
	CELL_TEXT,    /* s: lives in the table's arena or longer; printers make it printable */
	/*
	 * s: shares of a whole, TABLE_BAR letters of one each hundredth, drawn for a
	 * person; the numbers stand in other columns, so other forms leave it out.
	 */
	CELL_BAR,
	CELL_HIST,    /* s: counts with blanks between them; for a person a character each */
};

enum { CELL_KINDS = CELL_HIST + 1 };

enum { TABLE_BAR = 100 };

struct cell {
	enum cell_kind kind;
	int n;        /* of an address see there; of other numbers, not 0: a difference, with sign */
	bool estimate; /* a number that people see with a "~" before it */
	union {
		int64_t i;
		double d;
		const char *s;
	};
};

struct column {
	enum cell_kind kind;
	const char *title[3]; /* "Excl.", "User CPU", "sec." ; NULL: blank */
	const char *full[2];  /* the first two in full, for machines; NULL: as title */
	const char *group;    /* stands above: of which experiments; NULL: of all */
	bool sorted;          /* the rows are sorted by this metric */
	/* For people only: what machines read has all columns. */
	bool optional;        /* left out where every cell is nothing */
	bool hidden;          /* left out */
	int spare;            /* left out where lines would be too long; the highest first, 0 never */
	bool wrap;            /* the last: goes on below where a line is too long, between " < " */
};

struct row {
	int depth;      /* trees */
	int group;      /* rows of one panel; a printer separates groups */
	char mark;      /* '*' the row a panel is about; '\0' none */
	int more;       /* trees: has a later sibling */
	struct cell *cells; /* one a column */
};

struct table {
	const char *name;  /* "functions": for machine-readable output */
	const char *title; /* a line, or NULL */
	VEC(struct column) columns;
	VEC(struct row) rows;
	VEC(const char *) notes; /* lines after the table */
	struct arena arena;
};

/* A new row of blank cells at the end; valid until the next one. */
struct row *table_row(struct table *t);
/* Move the rows and notes of another table of the same columns to the end; it is empty then. */
void table_append(struct table *t, struct table *from);
void table_free(struct table *t);

#endif
