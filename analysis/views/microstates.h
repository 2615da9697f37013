/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the reports on microstates share. */
#ifndef VIEWS_MICROSTATES_H
#define VIEWS_MICROSTATES_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/experiment/packet.h"

struct table;
struct view_state;

/* The states side by side: those on a CPU, then waits. */
struct microstate_column {
	enum er_mstate state;
	const char *title[2];
	char letter; /* in the bar */
};

extern const struct microstate_column microstate_columns[];
extern const size_t nmicrostate_columns;

/* The report while experiments are compared. 0. */
int view_microstates_compared(struct view_state *v, bool by_process, struct table *t);

#endif
