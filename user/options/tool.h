/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What main() of both recorders does: parse the command line and do what it asks for. */
#ifndef USER_OPTIONS_TOOL_H
#define USER_OPTIONS_TOOL_H

#include "user/options/options.h"

struct tool {
	enum recorder recorder;
	const char *name;      /* for messages and the version */
	int (*summary)(void);  /* without arguments; NULL: prints the usage. Returns the status */
	/* --ctl; NULL: the recorder lacks the option. Returns the status. */
	int (*control)(const struct options *o, struct diag *d);
};

/*
 * Returns the exit status. *load_signal is the signal that ended the load; 0: none; NULL: the caller
 * does not ask.
 */
int tool_main(const struct tool *t, int argc, char **argv, int *load_signal);
/*
 * Set what malloc does with freed memory: small blocks are kept for others, a table that outgrows its
 * block gives it back to the kernel.
 */
void tool_keep_memory(void);
/* -h without a counter: print the counters that this machine has. Returns the exit status. */
int tool_list_counters(void);

#endif
