/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recorder's message at the end about what it lost. er_print's `header` has the details. */
#ifndef USER_RECORD_LOST_H
#define USER_RECORD_LOST_H

#include "user/record/drops.h"
#include "user/record/kinds.h"

struct diag;

/*
 * Warn in one sentence: how much of each kind was lost, what that means for reports, and what to
 * do. Says nothing if nothing was lost.
 */
void lost_say(const char *path, const struct record_counts *n, const struct drops *drops,
	      struct diag *d);

#endif
