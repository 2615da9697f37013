/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/command/pager.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analysis/print/printer.h"

/* Lines beside the rows: a title, headings, the prompt. */
enum { OTHER_LINES = 6 };

/* Lines of the terminal that the file is; 0: it is none. */
static size_t terminal_lines(FILE *f)
{
	struct winsize size;

	if (!isatty(fileno(f)) || ioctl(fileno(f), TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_row;
}

/* NULL: the user wants none. */
static const char *pager_command(void)
{
	const char *pager = getenv("PAGER");

	if (!pager)
		return "less";
	return *pager && strcmp(pager, "cat") ? pager : NULL;
}

/* Print to the pager as to the terminal that it writes to. */
static void print_to(struct printer *p, const struct table *t, FILE *pipe)
{
	FILE *terminal = p->file;

	p->device = terminal;
	p->file = pipe;
	printer_print(p, t);
	p->file = terminal;
	p->device = NULL;
}

bool pager_print(struct printer *p, const struct table *t)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old_int, old_pipe;
	size_t lines = terminal_lines(p->file);
	const char *command = pager_command();
	FILE *pipe;

	if (!lines || !command || p->ops != &text_printer ||
	    t->rows.len + t->notes.len + OTHER_LINES <= lines)
		return false;
	/* A screen is left as it is; colours pass; less ends by itself if all fits after all. */
	setenv("LESS", "FRSX", 0);
	fflush(p->file);
	pipe = popen(command, "we");
	if (!pipe)
		return false;
	/* Ctrl-C is for the pager; one that is left early closes the pipe. */
	sigaction(SIGINT, &ignore, &old_int);
	sigaction(SIGPIPE, &ignore, &old_pipe);
	print_to(p, t, pipe);
	pclose(pipe);
	sigaction(SIGPIPE, &old_pipe, NULL);
	sigaction(SIGINT, &old_int, NULL);
	return true;
}
