/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the parts of the option parser only. */
#ifndef KERNEL_ER_OPTIONS_IMPL_H
#define KERNEL_ER_OPTIONS_IMPL_H

#include <stddef.h>

#include "kernel_er/options.h"

struct diag;

enum { INTERVAL_ON_NS = 10007000 }; /* -p on, the default */

typedef int (*option_fn)(struct options *o, const char *arg, struct diag *d);

struct option_row {
	int letter;       /* 0: long only */
	const char *name; /* NULL: short only */
	const char *arg;  /* NULL: no argument; in brackets: optional as the last word */
	const char *help;
	option_fn fn;
};

/* The table of options, in the order in which they are explained. */
extern const struct option_row option_rows[];
extern const int noption_rows;

#endif
