/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Printers turn a table into bytes. One printer is a row of operations, called
 * in this order: begin, heading, row for each row, note for each note, end. A
 * printer knows cells and columns, and neither metrics nor views.
 *
 * text and html are for people. csv, json and the delimited form are for
 * programs: in csv and in the delimited form only tables go to the output, and
 * everything said about them goes to the diag.
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
	void (*say)(struct printer *p, const char *text); /* outside of tables */
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
	struct diag *diag;   /* notes of forms for programs; borrowed */
	FILE *file;          /* borrowed; changed by printer_set_file */
	bool page_open;      /* html: the file has its head */

	/* While a table is printed. */
	struct buf out, cell;
	VEC(struct column_layout) layout;
	struct tree tree;
	int name_column;
	bool is_tree, has_marks, has_groups;
	int group;
	size_t nrows, nnotes; /* so far, where a form wants to know */
	size_t width;        /* characters in a line of text; 0: no end */
	bool colours;        /* bars may have them: a person looks */
};

extern const struct printer_ops text_printer, delimited_printer, csv_printer, html_printer,
	json_printer;

/* Text to file. Owns nothing of file and d. */
void printer_init(struct printer *p, FILE *file, struct diag *d);
void printer_fini(struct printer *p);

/* Print into another file; begun: something stands in it already. */
void printer_set_file(struct printer *p, FILE *file, bool begun);
/*
 * "text", "html", "csv", "json" or one delimiter character. 0, or -1 after
 * reporting, nothing changed.
 */
int printer_set_mode(struct printer *p, const char *mode);
/* As printer_set_mode takes it; appended. */
void printer_put_mode(const struct printer *p, struct buf *b);

/* Print the table. Write errors stay in the FILE, for its owner to look at. */
void printer_print(struct printer *p, const struct table *t);
/* A line that is no table, such as a command's reply. */
void printer_say(struct printer *p, const char *line);

/* Lines as they are, such as help: in html as preformatted text, in json as a message. */
void printer_lines(struct printer *p, const char *text);

/* The same of one form. */
void html_lines(struct printer *p, const char *text);
void json_lines(struct printer *p, const char *text);

/* For printers: whether any column has a title; one by name, in full, with its unit. */
bool table_has_heading(const struct table *t);
void column_put_name(struct buf *b, const struct column *c, bool with_unit);

/* For forms that programs read: notes are messages, and nothing stands behind a table. */
void note_aside(struct printer *p, const char *text);
void end_plainly(struct printer *p, const struct table *t);
/* The rows, each by the row function alone, on several CPUs when there are many (slices.c). */
void print_slices(struct printer *p, const struct table *t);
/* For printers that write it on one line: the title, its lines joined by "; ", to be freed. */
char *printer_title(const struct table *t);
/* For printers: hand what has gathered in p->out to the file when there is much of it. */
void printer_flush(struct printer *p, size_t at_least);

#endif
