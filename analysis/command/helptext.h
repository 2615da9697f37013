/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The manual page's text on each command (extracted by tools/helptext.awk), for `help command`. */
#ifndef COMMAND_HELPTEXT_H
#define COMMAND_HELPTEXT_H

struct command_text {
	const char *name;
	const char *text;    /* lines of at most 78 columns, each with a newline */
	const char *example; /* an example command line from the page; NULL: none */
};

/* NULL: the page does not describe the command. */
const struct command_text *command_text(const char *name);

#endif
