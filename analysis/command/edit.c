/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/command/edit.h"

#include <stdio.h>
#include <string.h>

#include <editline/readline.h>

#include "analysis/base/alloc.h"
#include "analysis/command/command.h"

static char *next_command_name(const char *text, int again)
{
	static size_t next;

	if (!again)
		next = 0;
	while (next < ncommands) {
		const char *name = commands[next++].name;

		if (!strncasecmp(name, text, strlen(text)))
			return xstrdup(name);
	}
	return NULL;
}

/* The first word is a command, others may be files: libedit's own completion. */
static char **complete(const char *text, int start, int end)
{
	return start ? NULL : rl_completion_matches(text, next_command_name);
}

char *edit_read_line(void *ctx, const char *prompt)
{
	char *line;

	rl_attempted_completion_function = complete;
	line = readline(prompt);
	if (!line)
		puts("");
	else if (*line)
		add_history(line);
	return line;
}
