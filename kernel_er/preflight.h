/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is looked at before anything starts, and told without recording. */
#ifndef KERNEL_ER_PREFLIGHT_H
#define KERNEL_ER_PREFLIGHT_H

#include <stdio.h>

#include "user/record/expname.h"
#include "user/record/plan.h"

struct diag;

/*
 * Can this be recorded here: targets, load (what the kernel lacks shows when the capture
 * opens). 0, or -1 after one sentence.
 */
int preflight(const struct plan *plan, struct diag *d);
/* Is there a load that cannot be run? 0, or -errno after one sentence. */
int preflight_load(const struct plan *plan, struct diag *d);
/* -n: say what would be recorded. */
void preflight_preview(const struct plan *plan, const struct expname *name, FILE *out);
/* --check: a table of the features. 0 when nothing that is required is missing, else 1. */
int preflight_check(void);

#endif
