/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which columns of a table a person gets to see: those with something in them,
 * and of the spare ones as many as a line of the terminal has room for. Bars
 * take the room that is left.
 */
#ifndef PRINT_FIT_H
#define PRINT_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analysis/views/table.h"

/*
 * Characters in a line: what COLUMNS says, else of the terminal that the file
 * is; 0: there is no end.
 */
size_t fit_width(FILE *f);
/* Whether it is a terminal that shows colours, and nobody asked for none (NO_COLOR). */
bool fit_colours(FILE *f);
/* Whether the table has columns to choose from, or bars. */
bool table_needs_fit(const struct table *t);
/* The table as it is to be shown; lends t's text. The caller's to free. width 0: no end. */
void table_fit(const struct table *t, size_t width, struct table *ret);

#endif
