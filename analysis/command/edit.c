/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/command/edit.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <editline/readline.h>

#include "analysis/base/alloc.h"
#include "analysis/command/complete.h"
#include "analysis/command/shell.h"

/* The shell and the candidates of completion; static, because libedit passes no context. */
static struct shell *shell;
static candidate_vec candidates;

/* Return the next candidate. The caller frees it. */
static char *next_candidate(const char *text, int again)
{
	static size_t next;

	if (!again)
		next = 0;
	return next < candidates.len ? candidates.data[next++] : NULL;
}

/* Complete the word; libedit itself completes files. */
static char **complete(const char *text, int start, int end)
{
	__cleanup(freep) char *line = xasprintf("%.*s", start, rl_line_buffer);

	candidates.len = 0;
	rl_attempted_completion_over = complete_word(shell, line, text, &candidates);
	return candidates.len ? rl_completion_matches(text, next_candidate) : NULL;
}

/* Ctrl-C cancels the command being typed and keeps the session and its settings. */
static sigjmp_buf interrupted;

static void drop_line(int sig)
{
	siglongjmp(interrupted, 1);
}

char *edit_read_line(struct input *in, const char *prompt)
{
	struct sigaction drop = { .sa_handler = drop_line }, old;
	char *line;

	shell = in->shell;
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
