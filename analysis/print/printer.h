/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Printers write a table to a file. A printer is a row of operations, called in this order:
 * begin, heading, row for each row, note for each note, end. It knows cells and columns, but no
 * metrics and no views.
 *
 * text and html are for people. csv, json and the delimited form are for programs. In csv and
 * the delimited form the output has only tables; notes and messages go to the diag.
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
	void (*say)(struct printer *p, const char *text); /* a line outside tables */
};

/* The layout of one column of a table in the text form. */
struct column_layout {
	size_t width;
	size_t gap;  /* blanks before it */
	size_t span; /* columns under the heading that begins here; 0: under an earlier one */
};

struct printer {
	const struct printer_ops *ops;
	char delimiter;      /* delimited form; '\0' otherwise */
	struct diag *diag;   /* receives notes in forms for programs; borrowed */
	FILE *file;          /* borrowed; changed by printer_set_file */
	FILE *device;        /* the terminal behind a pager, for widths and colours; NULL: file */
	bool page_open;      /* html: the file already has the page's head */

	/* Valid while a table is printed. */
	struct buf out, cell;
	VEC(struct column_layout) layout;
	struct tree tree;
	int name_column;
	bool is_tree, has_marks, has_groups;
	int group;
	size_t nrows, nnotes; /* printed so far, for forms that count them */
	size_t width;        /* characters per line of text; 0: no limit */
	bool colours;        /* bars are coloured: the output is a terminal */
};

extern const struct printer_ops text_printer, delimited_printer, csv_printer, html_printer,
	json_printer;

/* Start with the text form. The printer borrows file and d. */
void printer_init(struct printer *p, FILE *file, struct diag *d);
void printer_fini(struct printer *p);

/* Print to another file; `begun` says whether it already has text. */
void printer_set_file(struct printer *p, FILE *file, bool begun);
/*
 * Set the form: "text", "html", "csv", "json" or one delimiter character. Returns 0; or -1
 * after a report, and changes nothing.
 */
int printer_set_mode(struct printer *p, const char *mode);
/* Append the present form's name, as printer_set_mode takes it. */
void printer_put_mode(const struct printer *p, struct buf *b);

/* Print the table. Write errors stay set in the FILE; its owner checks them. */
void printer_print(struct printer *p, const struct table *t);
/* Print a line outside tables, such as a command's reply. */
void printer_say(struct printer *p, const char *line);

/* Print lines unchanged, for a program: in html as preformatted text, in json as a message. */
void printer_lines(struct printer *p, const char *text);
/*
 * Print lines for people, such as help: in text a line that is too long is continued below, under
 * the text behind its last gap of two blanks.
 */
void printer_prose(struct printer *p, const char *text);

/* printer_lines for html and json. */
void html_lines(struct printer *p, const char *text);
void json_lines(struct printer *p, const char *text);
/* printer_prose for text that is limited to p->width. */
void text_prose(struct printer *p, const char *text);

/*
 * For printers: whether any column has a title; append a column's full name, with its unit if
 * wanted.
 */
bool table_has_heading(const struct table *t);
void column_put_name(struct buf *b, const struct column *c, bool with_unit);

/* For printers whose notes go to the diag and that print nothing after a table. */
void note_aside(struct printer *p, const char *text);
void begin_plainly(struct printer *p, const struct table *t);
void end_plainly(struct printer *p, const struct table *t);
/* For printers: append a text in double quotes, with those inside it doubled (RFC 4180). */
void put_quoted(struct buf *b, const char *s);
/* Print the rows with the row operation, on several CPUs if there are many (slices.c). */
void print_slices(struct printer *p, const struct table *t);
/* For printers that write the title on one line: its lines joined by "; ". The caller frees it. */
char *printer_title(const struct table *t);
/* For printers: write p->out to the file if it holds at least `at_least` bytes. */
void printer_flush(struct printer *p, size_t at_least);

#endif
