/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the parts of the option parser only. */
#ifndef USER_OPTIONS_IMPL_H
#define USER_OPTIONS_IMPL_H

#include <stddef.h>

#include "user/options/options.h"

struct diag;

enum {
	INTERVAL_ON_NS = 10007000, /* -p on, the default */
	/* Programs and descendants with a sub-experiment of their own; the others share. */
	FEW_SUBS = 64,             /* collect -F on */
	MANY_SUBS = 4096,
};

typedef int (*option_fn)(struct options *o, const char *arg, struct diag *d);

struct option_row {
	unsigned recorders; /* that have it, of enum recorder */
	int letter;       /* 0: long only */
	const char *name; /* NULL: short only */
	const char *arg;  /* NULL: no argument; in brackets: optional as the last word */
	const char *help;
	option_fn fn;
};

/* --- option_spans.c: an option_fn each --- */

int opt_span(struct options *o, const char *arg, struct diag *d);
int opt_span_limit(struct options *o, const char *arg, struct diag *d);
int opt_span_over(struct options *o, const char *arg, struct diag *d);

/*
 * The table of options, in the order in which they are explained. An option may have a row for
 * each recorder.
 */
extern const struct option_row option_rows[];
extern const int noption_rows;

/* --- option_rows.c --- */

/* Parse the signal of an option. 0, or -1 after a message. */
int signal_option(const char *option, const char *arg, int *ret, struct diag *d);

/* --- option_flight.c: an option_fn each --- */

int opt_roll(struct options *o, const char *arg, struct diag *d);
int opt_keep(struct options *o, const char *arg, struct diag *d);
int opt_flight(struct options *o, const char *arg, struct diag *d);
int opt_dump_on(struct options *o, const char *arg, struct diag *d);
int opt_cooldown(struct options *o, const char *arg, struct diag *d);

/* --- option_probe.c --- */

int opt_probe(struct options *o, const char *arg, struct diag *d);
int opt_probe_counts(struct options *o, const char *arg, struct diag *d);

#endif
