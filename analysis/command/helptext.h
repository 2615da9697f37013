/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the manual page says of each command (tools/helptext.awk), for `help command`. */
#ifndef COMMAND_HELPTEXT_H
#define COMMAND_HELPTEXT_H

struct command_text {
	const char *name;
	const char *text;    /* lines of at most 78 columns, each with its newline */
	const char *example; /* a command line of the page that uses it; NULL none */
};

/* NULL: the page does not have it. */
const struct command_text *command_text(const char *name);

#endif
