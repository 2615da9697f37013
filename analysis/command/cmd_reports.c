/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports on how experiments were recorded, such as header and statistics. */
#include <string.h>

#include "analysis/command/choose.h"
#include "analysis/command/command.h"
#include "analysis/command/shell.h"
#include "analysis/findings/findings.h"
#include "analysis/views/view.h"

typedef int (*exp_view)(struct view_state *v, const struct experiment *e, struct table *t,
			struct diag *d);

/* Run a report whose argument is `[experiment_id | all]`. */
static int experiment_report(struct shell *sh, exp_view view, int argc, char **argv)
{
	struct table t = { 0 };
	const struct experiment *e;

	if (choose_experiment(sh, argc, argv, &e))
		return -1;
	return shell_print(sh, &t, view(&sh->view, e, &t, &sh->diag));
}

static int cmd_header(struct shell *sh, int argc, char **argv)
{
	if (argc == 1)
		return experiment_report(sh, view_header_short, argc, argv);
	if (!strcmp(argv[1], "full"))
		return experiment_report(sh, view_header, 1, argv);
	return experiment_report(sh, strcmp(argv[1], "all") ? view_header : view_header_all, argc,
				 argv);
}

static int cmd_overview(struct shell *sh, int argc, char **argv)
{
	return experiment_report(sh, view_overview, argc, argv);
}

static int cmd_statistics(struct shell *sh, int argc, char **argv)
{
	bool all = argc > 1 && !strcmp(argv[1], "all");

	return experiment_report(sh, all ? view_statistics_all : view_statistics, argc, argv);
}

static int cmd_sample_detail(struct shell *sh, int argc, char **argv)
{
	return experiment_report(sh, view_sample_detail, argc, argv);
}

static const char *const header_words[] = { "full", NULL };

static const struct command rows[] = {
	{ SECTION_REPORTS, "findings", .view = view_findings,
	  .help = "say in a few sentences where the time went" },
	{ SECTION_REPORTS, "header", .args = "[full | experiment_id | all]", .max = 1,
	  .words = header_words, .run = cmd_header,
	  .help = "describe experiments, with what was lost" },
	{ SECTION_REPORTS, "overview", ARGS_EXPERIMENT, .run = cmd_overview,
	  .help = "show what was recorded and how much" },
	{ SECTION_REPORTS, "statistics", ARGS_EXPERIMENT, .run = cmd_statistics,
	  .help = "show the resources used" },
	{ SECTION_REPORTS, "sample_detail", ARGS_EXPERIMENT, .run = cmd_sample_detail,
	  .help = "show the resources used in each sample" },
};

const struct command_rows report_commands = COMMAND_ROWS(rows);
