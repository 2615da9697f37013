/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/command/pager.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analysis/print/printer.h"
#include "analysis/views/table.h"

/* Lines that are not rows: title, headings, prompt. */
enum { OTHER_LINES = 6 };

/* Number of lines of the terminal; 0 if the file is not a terminal. */
static size_t terminal_lines(FILE *f)
{
	struct winsize size;

	if (!isatty(fileno(f)) || ioctl(fileno(f), TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_row;
}

/* NULL: the user turned paging off. */
static const char *pager_command(void)
{
	const char *pager = getenv("PAGER");

	if (!pager)
		return "less";
	return *pager && strcmp(pager, "cat") ? pager : NULL;
}

/* Print to the pager in the form for a terminal, because the pager writes to one. */
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
	    table_nrows(t) + t->notes.len + OTHER_LINES <= lines)
		return false;
	/* less options: leave the screen's text, pass colours through, exit if all of it fits. */
	setenv("LESS", "FRSX", 0);
	fflush(p->file);
	pipe = popen(command, "we");
	if (!pipe)
		return false;
	/* Ctrl-C belongs to the pager. A pager that exits early closes the pipe. */
	sigaction(SIGINT, &ignore, &old_int);
	sigaction(SIGPIPE, &ignore, &old_pipe);
	print_to(p, t, pipe);
	pclose(pipe);
	sigaction(SIGPIPE, &old_pipe, NULL);
	sigaction(SIGINT, &old_int, NULL);
	return true;
}
