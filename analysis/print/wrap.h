/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of text in p->out that are at most p->width wide (0: no limit). What does not fit is
 * continued on the next line. Only a word that is too long by itself makes a longer line. `at` is
 * the column where the text begins; the caller has put what is before it.
 */
#ifndef PRINT_WRAP_H
#define PRINT_WRAP_H

#include <stddef.h>

#include "analysis/views/table.h"

struct buf;
struct printer;

/* Append n blanks. */
void line_pad(struct buf *b, size_t n);
/* End a line without trailing blanks: people copy, compare and search the text. */
void line_end(struct buf *b);

/* Append prose, and end the line. Later lines begin at `indent`. */
void line_put(struct printer *p, const char *s, size_t at, size_t indent);
/*
 * Append a name or a chain of names ("a < b < c"). A name that fits on the next line is moved there
 * as a whole; a chain is split at a link, or at a blank if one name alone is too long.
 */
void line_put_names(struct printer *p, const char *s, size_t at);
/* Append the name of a tree's row. It is continued below, behind the rails of its children. */
void line_put_branch(struct printer *p, const char *s, size_t at, const struct row *r);

#endif
