/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What collect can do for a user who may not load BPF programs. */
#ifndef USER_OPTIONS_UNPRIVILEGED_H
#define USER_OPTIONS_UNPRIVILEGED_H

#include <stdio.h>

#include "user/record/plan.h"

struct diag;

/*
 * Turn the plan of collect into one that needs no privileges (plan.timers or plan.perf). Returns 0, or -1 after a
 * sentence if it asks for what needs them.
 */
int unprivileged_plan(struct plan *p, struct diag *d);
/* For --check: what is possible without. */
void unprivileged_say(FILE *out);

#endif
