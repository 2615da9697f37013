/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the reports on microstates. */
#ifndef VIEWS_MICROSTATES_H
#define VIEWS_MICROSTATES_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/experiment/mstate.h"

struct table;
struct view_state;

/* The order of the columns: states on a CPU first, then waits. */
extern const enum er_mstate microstate_columns[];
extern const size_t nmicrostate_columns;

/* The report for compared experiments. Returns 0. */
int view_microstates_compared(struct view_state *v, bool by_process, struct table *t);

#endif
