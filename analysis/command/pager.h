/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shows a long report in the user's pager if commands are typed on a terminal. A report is long
 * if it has more lines than the terminal.
 */
#ifndef COMMAND_PAGER_H
#define COMMAND_PAGER_H

#include <stdbool.h>
#include <stddef.h>

struct printer;
struct table;

/*
 * Print the table through $PAGER ("less" if it is not set; "cat" or an empty value turns paging
 * off). Returns true when the user has left the pager. Returns false and prints nothing if the
 * output is not a terminal, the table fits the terminal, or the pager cannot be started.
 */
bool pager_print(struct printer *p, const struct table *t);

#endif
