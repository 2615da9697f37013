/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command lines of the experiment tools: options as rows of a table, from
 * which parsing and usage both come, then operands. -V (--version) and -h
 * (--help) are every tool's and need no row.
 */
#ifndef FILES_CMDLINE_H
#define FILES_CMDLINE_H

#include <stddef.h>

struct diag;

struct tool_option {
	int letter;
	const char *arg;  /* what usage calls the argument; NULL: takes none */
	const char *help;
	/* 0, or -1 after reporting. */
	int (*set)(void *settings, const char *arg, struct diag *d);
};

struct tool {
	const char *name;
	const char *const *synopses; /* what comes behind the name, a line each; NULL at the end */
	const struct tool_option *options;
	size_t noptions, min_operands;
};

struct operands {
	char **v; /* borrowed from argv */
	size_t n;
};

enum { TOOL_RUN = -1, TOOL_USAGE = 2 };

/* TOOL_RUN with *ret filled in; else all is said and this is the exit status. */
int tool_parse(const struct tool *t, int argc, char **argv, void *settings, struct operands *ret,
	       struct diag *d);

/*
 * From now on SIGINT, SIGTERM and SIGHUP set tool_stop instead of ending the
 * program, so that what is half done can be taken back.
 */
void tool_catch_signals(void);
extern volatile int tool_stop; /* the signal, 0 none */

#endif
