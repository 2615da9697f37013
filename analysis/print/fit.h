/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the columns of a table that people see: those that are not empty and, of the spare
 * ones, as many as fit into a line of the terminal. Bars use the remaining room.
 */
#ifndef PRINT_FIT_H
#define PRINT_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analysis/views/table.h"

/* Characters per line: from COLUMNS, otherwise from the terminal that f is; 0: no limit. */
size_t fit_width(FILE *f);
/* Whether f is a terminal that shows colours, and NO_COLOR is not set. */
bool fit_colours(FILE *f);
/* Whether table_fit could change the table: it has columns to choose from, or bars. */
bool table_needs_fit(const struct table *t, size_t width);
/* Whether the column stands under one heading with the column before it: same metric, another unit. */
bool column_shares_heading(const struct table *t, size_t column);
/*
 * Make the table to be shown in `width` characters (0: no limit). It borrows t's text; the
 * caller frees it with table_free.
 */
void table_fit(const struct table *t, size_t width, struct table *ret);

#endif
