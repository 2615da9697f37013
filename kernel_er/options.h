/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses the command line of er_kernel. One table drives the parser and the usage text. */
#ifndef KERNEL_ER_OPTIONS_H
#define KERNEL_ER_OPTIONS_H

#include <stdio.h>

#include "user/record/plan.h"

struct diag;

/* What er_kernel is asked to do. */
enum action {
	ACTION_RECORD,
	ACTION_PREVIEW, /* -n */
	ACTION_USAGE,
	ACTION_VERSION,
	ACTION_CHECK,
	ACTION_COUNTERS, /* -h alone: list them */
	ACTION_CTL,      /* --ctl: ask a running recorder */
};

/* The command line, parsed. */
struct options {
	enum action action;
	struct plan plan; /* of the recording, for ACTION_RECORD and ACTION_PREVIEW */
	const char *ctl;     /* ACTION_CTL: the command; borrowed, like the next two */
	const char *ctl_arg; /* the word after it; NULL: none */
	const char *ctl_pid; /* --pid; NULL: not given */
};

/*
 * Fill *ret from the arguments. Returns 0, or -1 after one sentence that says what to write
 * instead. Free with options_free in either case.
 */
int options_parse(int argc, char **argv, struct options *ret, struct diag *d);
void options_free(struct options *o);
void options_usage(FILE *out);

#endif
