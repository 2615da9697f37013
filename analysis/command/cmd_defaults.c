/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands that only .er.rc files may have: initial settings of reports, and settings of a
 * graphical display.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/command/command.h"
#include "analysis/command/shell.h"

static int cmd_dmetrics(struct shell *sh, int argc, char **argv)
{
	if (metric_list_check(argv[1], &sh->diag))
		return -1;
	metric_set_defaults(&sh->metric_set, argv[1], NULL);
	return 0;
}

static int cmd_dsort(struct shell *sh, int argc, char **argv)
{
	if (metric_list_check(argv[1], &sh->diag))
		return -1;
	metric_set_defaults(&sh->metric_set, NULL, argv[1]);
	return 0;
}

static int cmd_en_desc(struct shell *sh, int argc, char **argv)
{
	return session_descendants(sh->session, argv[1], &sh->diag);
}

/* One word of a list for the timeline, with what may be left out; `is`: its name in struct display. */
struct choice {
	const char *least, *rest, *is;
};

static bool is_choice(const struct choice *c, const char *word, size_t n)
{
	size_t least = strlen(c->least);

	return n >= least && n <= least + strlen(c->rest) && !strncmp(word, c->least, least) &&
	       !strncmp(word + least, c->rest, n - least);
}

/* Sets what a word says of the display. */
static void display_word(struct display *d, const char *word)
{
	if (!strcmp(word, "leaf") || !strcmp(word, "root"))
		d->color = word;
	else if (!strcmp(word, "cpus") || !strcmp(word, "threads"))
		d->lanes = word;
	else if (d->nmarks < sizeof(d->marks) / sizeof(d->marks[0]))
		d->marks[d->nmarks++] = word;
}

/* Check the words, and set what they say of the display: the last one of a kind wins. */
static int read_choices(struct shell *sh, char **argv, const struct choice *choices, bool number)
{
	for (const char *word = argv[1]; ; word++) {
		size_t n = strcspn(word, ":");
		bool known = number && n && strspn(word, "0123456789") == n;

		if (known)
			sh->view.display.depth = n < 4 ? strtoul(word, NULL, 10) : 999;

		for (const struct choice *c = choices; c->least; c++) {
			if (!is_choice(c, word, n))
				continue;
			known = true;
			if (c->is)
				display_word(&sh->view.display, c->is);
		}
		if (!known)
			return diag_error(&sh->diag, "%s '%.*s': unknown; er.rc(5) lists them",
					  argv[0], (int)n, word);
		word += n;
		if (!*word)
			return 0;
	}
}

/* The page draws threads or CPUs in the colours of so many functions from the leaf or the root on. */
static int cmd_tlmode(struct shell *sh, int argc, char **argv)
{
	static const struct choice modes[] = {
		{ "lw", "p", "threads" }, { "t", "hread", "threads" }, { "c", "pu", "cpus" },
		{ "r", "oot", "root" }, { "le", "af", "leaf" }, { "d", "epth", NULL }, { NULL, NULL, NULL },
	};

	return read_choices(sh, argv, modes, true);
}

/* The page marks packets of these kinds. It always has samples and states. */
static int cmd_tldata(struct shell *sh, int argc, char **argv)
{
	static const struct choice data[] = {
		{ "sa", "mple", NULL }, { "c", "lock", NULL }, { "hw", "c", "hwc" },
		{ "sy", "nctrace", "synctrace" }, { "mp", "itrace", NULL }, { "he", "aptrace", "heaptrace" },
		{ "io", "trace", "iotrace" }, { NULL, NULL, NULL },
	};

	sh->view.display.nmarks = 0;

	return read_choices(sh, argv, data, false);
}

/* The pages of a graphical display, named like commands. Unknown names are ignored. */
static int cmd_tabs(struct shell *sh, int argc, char **argv)
{
	sh->view.display.tabs = arena_strdup(&sh->session->arena, argv[1]);
	return 0;
}

/* The page has no display of races. */
static int cmd_rtabs(struct shell *sh, int argc, char **argv)
{
	return 0;
}

#define RC_ONE_ARG .min = 1, .max = 1, .option_args = 1, .rc_only = true

static const struct command rows[] = {
	{ SECTION_DEFAULTS, "dmetrics", .args = "metric_spec", RC_ONE_ARG, .run = cmd_dmetrics,
	  .rc = RC_EVERY, .rc_time = RC_METRICS, .help = "the default metrics of lists" },
	{ SECTION_DEFAULTS, "dsort", .args = "metric_spec", RC_ONE_ARG, .run = cmd_dsort,
	  .rc = RC_EVERY, .rc_time = RC_METRICS, .help = "the default metric to sort lists by" },
	{ SECTION_DEFAULTS, "en_desc", .args = "on|off|=regex", RC_ONE_ARG, .run = cmd_en_desc,
	  .rc = RC_FIRST, .rc_time = RC_OPENING, .help = "which descendants are read" },
	{ SECTION_DEFAULTS, "tabs", .args = "command:...", RC_ONE_ARG, .run = cmd_tabs,
	  .rc = RC_FIRST, .help = "the pages that a display opens with" },
	{ SECTION_DEFAULTS, "rtabs", .args = "command:...", RC_ONE_ARG, .run = cmd_rtabs,
	  .rc = RC_FIRST, .help = "the same for the display of races" },
	{ SECTION_DEFAULTS, "tlmode", .args = "mode:...", RC_ONE_ARG, .run = cmd_tlmode,
	  .rc = RC_FIRST, .help = "how a timeline draws its bars" },
	{ SECTION_DEFAULTS, "tldata", .args = "type:...", RC_ONE_ARG, .run = cmd_tldata,
	  .rc = RC_FIRST, .help = "which data a timeline shows" },
};

const struct command_rows default_commands = COMMAND_ROWS(rows);
