/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shows a long report in the user's pager, when commands are typed on a terminal. A
 * report is long if it has more lines than the terminal.
 */
#ifndef COMMAND_PAGER_H
#define COMMAND_PAGER_H

#include <stdbool.h>
#include <stddef.h>

struct printer;
struct table;

/*
 * Print the table through $PAGER ("less" if it is not set; "cat" or nothing switches it off).
 * False, and nothing was printed: the output is no terminal, the table fits it, or the pager
 * cannot be started. Returns when the user has left the pager.
 */
bool pager_print(struct printer *p, const struct table *t);

#endif
