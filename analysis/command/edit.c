/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/command/edit.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <editline/readline.h>

#include "analysis/base/alloc.h"
#include "analysis/command/command.h"
#include "analysis/command/shell.h"

static char *next_command_name(const char *text, int again)
{
	static size_t next;

	if (!again)
		next = 0;
	for (const struct command *c; (c = command_at(next)); ) {
		next++;
		if (!strncasecmp(c->name, text, strlen(text)))
			return xstrdup(c->name);
	}
	return NULL;
}

/* The first word is a command, others may be files: libedit's own completion. */
static char **complete(const char *text, int start, int end)
{
	return start ? NULL : rl_completion_matches(text, next_command_name);
}

/* Ctrl-C drops the command being typed, not the session with its settings. */
static sigjmp_buf interrupted;

static void drop_line(int sig)
{
	siglongjmp(interrupted, 1);
}

char *edit_read_line(struct input *in, const char *prompt)
{
	struct sigaction drop = { .sa_handler = drop_line }, old;
	char *line;

	rl_attempted_completion_function = complete;
	sigaction(SIGINT, &drop, &old);
	in->dropped = sigsetjmp(interrupted, 1) != 0;
	line = in->dropped ? xstrdup("") : readline(prompt);
	sigaction(SIGINT, &old, NULL);
	if (!line || in->dropped)
		puts("");
	else if (*line)
		add_history(line);
	return line;
}
