/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of er_kernel: one table gives the parser and the usage text. */
#ifndef KERNEL_ER_OPTIONS_H
#define KERNEL_ER_OPTIONS_H

#include <stdio.h>

#include "kernel_er/plan.h"

struct diag;

/*
 * Fill plan from the arguments. 0, or -1 after one sentence that says what to
 * write instead. Free with options_free in either case.
 */
int options_parse(int argc, char **argv, struct plan *plan, struct diag *d);
void options_free(struct plan *plan);
void options_usage(FILE *out);

#endif
