/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/files/cmdline.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/diag.h"

volatile int tool_stop;

static void on_signal(int sig)
{
	tool_stop = sig;
}

void tool_catch_signals(void)
{
	static const int caught[] = { SIGINT, SIGTERM, SIGHUP };
	const struct sigaction act = { .sa_handler = on_signal };

	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++) {
		struct sigaction old;

		/* A program started with nohup must not end at SIGHUP. */
		if (!sigaction(caught[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(caught[i], &act, NULL);
	}
}

static void put_option(FILE *f, const char *option, const char *arg, const char *help)
{
	fprintf(f, "  %s %-12s %s\n", option, arg ? arg : "", help);
}

static void usage(const struct tool *t, FILE *f)
{
	for (size_t i = 0; t->synopses[i]; i++)
		fprintf(f, "%s %s %s\n", i ? "      " : "usage:", t->name, t->synopses[i]);
	for (size_t i = 0; i < t->noptions; i++) {
		char option[] = { '-', t->options[i].letter, '\0' };

		put_option(f, option, t->options[i].arg, t->options[i].help);
	}
	put_option(f, "-V", NULL, "print the version and exit");
	put_option(f, "-h", NULL, "print this and exit");
}

static const struct tool_option *find(const struct tool *t, int letter)
{
	for (size_t i = 0; i < t->noptions; i++) {
		if (t->options[i].letter == letter)
			return &t->options[i];
	}
	return NULL;
}

/*
 * ":Vhnqa:…". With the leading colon getopt distinguishes a missing argument from an unknown
 * option.
 */
static char *letters(const struct tool *t)
{
	struct buf b = { 0 };

	buf_puts(&b, ":Vh");
	for (size_t i = 0; i < t->noptions; i++)
		buf_printf(&b, "%c%s", t->options[i].letter, t->options[i].arg ? ":" : "");
	return b.data;
}

static int bad_option(const struct tool *t, int c, char **argv, struct diag *d)
{
	if (c == ':')
		diag_error(d, "-%c: needs an argument: %s", optopt, find(t, optopt)->arg);
	else if (optopt)
		diag_error(d, "-%c: no such option; see %s -h", optopt, t->name);
	else
		diag_error(d, "%s: no such option; see %s -h", argv[optind - 1], t->name);
	return TOOL_USAGE;
}

static int take_option(const struct tool *t, int c, char **argv, void *settings, struct diag *d)
{
	const struct tool_option *o;

	if (c == 'V') {
		printf("%s %s\n", t->name, ER_VERSION);
		return 0;
	}
	if (c == 'h') {
		usage(t, stdout);
		return 0;
	}
	o = c == ':' || c == '?' ? NULL : find(t, c);
	if (!o)
		return bad_option(t, c, argv, d);
	return o->set(settings, optarg, d) ? TOOL_USAGE : TOOL_RUN;
}

int tool_parse(const struct tool *t, int argc, char **argv, void *settings, struct operands *ret,
	       struct diag *d)
{
	static const struct option words[] = { { "version", no_argument, NULL, 'V' },
					       { "help", no_argument, NULL, 'h' },
					       { 0 } };
	__cleanup(freep) char *spec = letters(t);
	int c;

	opterr = 0;
	optind = 0; /* restart getopt: tests parse more than once */
	while ((c = getopt_long(argc, argv, spec, words, NULL)) != -1) {
		int status = take_option(t, c, argv, settings, d);

		if (status != TOOL_RUN)
			return status;
	}
	*ret = (struct operands){ .v = argv + optind, .n = argc - optind };
	if (ret->n < t->min_operands) {
		usage(t, stderr);
		return TOOL_USAGE;
	}
	return TOOL_RUN;
}
