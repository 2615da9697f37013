/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command lines of the experiment tools: options, then operands. A table of options gives
 * both the parser and the usage. Every tool has -V (--version) and -h (--help), which need no
 * row.
 */
#ifndef FILES_CMDLINE_H
#define FILES_CMDLINE_H

#include <stddef.h>

struct diag;

struct tool_option {
	int letter;
	const char *arg;  /* the argument's name in the usage; NULL: none */
	const char *help;
	/* Returns 0, or -1 after a report. */
	int (*set)(void *settings, const char *arg, struct diag *d);
};

struct tool {
	const char *name;
	const char *const *synopses; /* the usage texts behind the tool's name; NULL at the end */
	const struct tool_option *options;
	size_t noptions, min_operands;
};

struct operands {
	char **v; /* borrowed from argv */
	size_t n;
};

enum { TOOL_RUN = -1, TOOL_USAGE = 2 };

/*
 * Returns TOOL_RUN and fills in *ret. Otherwise it has printed everything, and returns the exit
 * status.
 */
int tool_parse(const struct tool *t, int argc, char **argv, void *settings, struct operands *ret,
	       struct diag *d);

/*
 * From now on SIGINT, SIGTERM and SIGHUP set tool_stop instead of ending the program, so that
 * unfinished work can be undone. A signal that was ignored at the start stays ignored.
 */
void tool_catch_signals(void);
extern volatile int tool_stop; /* the signal; 0: none */

#endif
