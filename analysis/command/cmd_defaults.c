/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands that only .er.rc files may have: initial settings of reports, and settings of a
 * graphical display.
 */
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

/* One word of a list for the timeline; the part in brackets is optional. */
struct choice {
	const char *least, *rest;
};

static bool is_choice(const struct choice *c, const char *word, size_t n)
{
	size_t least = strlen(c->least);

	return n >= least && n <= least + strlen(c->rest) && !strncmp(word, c->least, least) &&
	       !strncmp(word + least, c->rest, n - least);
}

static int check_choices(struct shell *sh, char **argv, const struct choice *choices, bool number)
{
	for (const char *word = argv[1]; ; word++) {
		size_t n = strcspn(word, ":");
		bool known = number && n && strspn(word, "0123456789") == n;

		for (const struct choice *c = choices; c->least; c++)
			known |= is_choice(c, word, n);
		if (!known)
			return diag_error(&sh->diag, "%s '%.*s': unknown; er.rc(5) lists them",
					  argv[0], (int)n, word);
		word += n;
		if (!*word)
			return 0;
	}
}

/*
 * Accepted for compatibility; no report depends on it. If two words exclude each other the last one
 * wins.
 */
static int cmd_tlmode(struct shell *sh, int argc, char **argv)
{
	static const struct choice modes[] = {
		{ "lw", "p" }, { "t", "hread" }, { "c", "pu" }, { "r", "oot" }, { "le", "af" },
		{ "d", "epth" }, { NULL, NULL },
	};

	return check_choices(sh, argv, modes, true);
}

static int cmd_tldata(struct shell *sh, int argc, char **argv)
{
	static const struct choice data[] = {
		{ "sa", "mple" }, { "c", "lock" }, { "hw", "c" }, { "sy", "nctrace" },
		{ "mp", "itrace" }, { "he", "aptrace" }, { "io", "trace" }, { NULL, NULL },
	};

	return check_choices(sh, argv, data, false);
}

/* The pages of a graphical display, named like commands. Unknown names are ignored. */
static int cmd_tabs(struct shell *sh, int argc, char **argv)
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
	{ SECTION_DEFAULTS, "rtabs", .args = "command:...", RC_ONE_ARG, .run = cmd_tabs,
	  .rc = RC_FIRST, .help = "the same for the display of races" },
	{ SECTION_DEFAULTS, "tlmode", .args = "mode:...", RC_ONE_ARG, .run = cmd_tlmode,
	  .rc = RC_FIRST, .help = "how a timeline draws its bars" },
	{ SECTION_DEFAULTS, "tldata", .args = "type:...", RC_ONE_ARG, .run = cmd_tldata,
	  .rc = RC_FIRST, .help = "which data a timeline shows" },
};

const struct command_rows default_commands = COMMAND_ROWS(rows);
