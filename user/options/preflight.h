/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks that a recording is possible before it starts, and reports for -n and --check. */
#ifndef USER_OPTIONS_PREFLIGHT_H
#define USER_OPTIONS_PREFLIGHT_H

#include <stdio.h>

#include "user/record/expname.h"
#include "user/record/plan.h"

struct diag;

/*
 * Check targets and load. Features that the kernel lacks are found when the capture opens.
 * Returns 0, or after one sentence -1, or what preflight_named says.
 */
int preflight(const struct plan *plan, struct diag *d);
/* Find the places of the plan's probes. Returns 0, or -1 after one sentence. */
int preflight_probes(struct plan *plan, struct diag *d);
/* Find the functions of -H in programs that do not load its library. Returns 0, or -1 after one sentence. */
int preflight_heap(struct plan *plan, struct diag *d);
/* Of a process that runs already, locks are counted only if its library was preloaded. */
void preflight_locks(struct plan *plan);
/* Lengthen an interval at which the clock's ticks alone would take more than half of a CPU, with a warning. */
void preflight_clock(struct plan *plan, struct diag *d);
/*
 * Check that the targets and the status file's directory exist, and that the load can be run. Returns 0; or after one
 * sentence -1, or for the load -errno.
 */
int preflight_named(const struct plan *plan, struct diag *d);
/* -n: print what would be recorded. */
void preflight_preview(const struct plan *plan, const struct expname *name, FILE *out);
/* --check: print a table of the features. Returns 0 if all required ones are there, else 1. */
int preflight_check(void);

#endif
