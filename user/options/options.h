/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses the command lines of the recorders. One table has the options of all of them, and drives
 * the parser and the usage text.
 */
#ifndef USER_OPTIONS_H
#define USER_OPTIONS_H

#include <stdio.h>

#include "user/record/plan.h"

struct diag;

enum recorder {
	ER_KERNEL = 1 << 0, /* records the whole system */
	COLLECT = 1 << 1,   /* records a program */
};

/* What the recorder is asked to do. */
enum action {
	ACTION_RECORD,
	ACTION_PREVIEW, /* -n */
	ACTION_USAGE,    /* --help */
	ACTION_SUMMARY,  /* no arguments at all */
	ACTION_VERSION,
	ACTION_CHECK,
	ACTION_COUNTERS, /* -h alone: list them */
	ACTION_CTL,      /* --ctl: ask a running recorder */
};

/* The command line, parsed. */
struct options {
	enum recorder recorder;
	enum action action;
	bool clock_given; /* -p */
	struct plan plan; /* of the recording, for ACTION_RECORD and ACTION_PREVIEW */
	const char *output;  /* -O: a file for own messages; NULL: stdout and stderr */
	const char *ctl;     /* ACTION_CTL: the command; borrowed, like the next two */
	const char *ctl_arg; /* the word after it; NULL: none */
	const char *ctl_pid; /* --pid; NULL: not given */
};

/*
 * Fill *ret from the arguments. Returns 0, or -1 after one sentence that says what to write
 * instead. Free with options_free in either case.
 */
int options_parse(enum recorder recorder, int argc, char **argv, struct options *ret,
		  struct diag *d);
void options_free(struct options *o);
void options_usage(enum recorder recorder, FILE *out);

#endif
