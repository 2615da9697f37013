/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Printers turn a table into bytes. One printer is a row of operations, called
 * in this order: begin, heading, row for each row, note for each note, end. A
 * printer knows cells and columns, and neither metrics nor views.
 *
 * Two forms exist: text, for people, and delimited, for programs, in which only
 * tables go to the output and everything said about them goes to the diag.
 */
#ifndef PRINT_PRINTER_H
#define PRINT_PRINTER_H

#include <stdio.h>

#include "analysis/base/buf.h"
#include "analysis/print/cell.h"
#include "analysis/views/table.h"

struct diag;
struct printer;

struct printer_ops {
	void (*begin)(struct printer *p, const struct table *t);
	void (*heading)(struct printer *p, const struct table *t);
	void (*row)(struct printer *p, const struct table *t, const struct row *r);
	void (*note)(struct printer *p, const char *text);
	void (*end)(struct printer *p, const struct table *t);
};

/* Of one column, while a table is printed as text. */
struct column_layout {
	size_t width;
	size_t gap;  /* blanks before it */
	size_t span; /* columns that share the heading that begins here; 0: not the first */
};

struct printer {
	const struct printer_ops *ops;
	char delimiter;      /* delimited form; '\0' otherwise */
	struct diag *diag;   /* notes of the delimited form; borrowed */
	FILE *file;          /* borrowed */

	/* While a table is printed. */
	struct buf out, cell;
	VEC(struct column_layout) layout;
	struct tree tree;
	int name_column;
	bool is_tree, has_marks;
	int group;
	size_t width;        /* characters in a line of text; 0: no end */
};

extern const struct printer_ops text_printer, delimited_printer;

/* Text to file. Owns nothing of file and d. */
void printer_init(struct printer *p, FILE *file, struct diag *d);
void printer_fini(struct printer *p);

/* "text" or one delimiter character. 0, or -1 after reporting, nothing changed. */
int printer_set_mode(struct printer *p, const char *mode);
/* As printer_set_mode takes it; appended. */
void printer_put_mode(const struct printer *p, struct buf *b);

/* Print the table. Write errors stay in the FILE, for its owner to look at. */
void printer_print(struct printer *p, const struct table *t);
/* A line that is no table, such as a command's reply. */
void printer_say(struct printer *p, const char *line);

/* For printers: hand what has gathered in p->out to the file when there is much of it. */
void printer_flush(struct printer *p, size_t at_least);

#endif
