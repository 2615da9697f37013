/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports on how experiments were recorded, such as header and statistics. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/command/choose.h"
#include "analysis/command/command.h"
#include "analysis/command/shell.h"
#include "analysis/findings/findings.h"
#include "analysis/views/diff.h"
#include "analysis/views/table.h"
#include "analysis/views/view.h"
#include "analysis/views/view_state.h"

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

/* Samples are selected by their numbers only. */
static void note_times(struct shell *sh, const char *command)
{
	if (shell_time(sh, FILTER_FROM, INT64_MIN) != INT64_MIN || shell_time(sh, FILTER_TO, INT64_MIN) != INT64_MIN)
		diag_note(&sh->diag, "%s: from and to do not select samples; sample_select does, and sample_list "
			  "lists their times", command);
}

static int cmd_statistics(struct shell *sh, int argc, char **argv)
{
	bool all = argc > 1 && !strcmp(argv[1], "all");

	note_times(sh, "statistics");
	return experiment_report(sh, all ? view_statistics_all : view_statistics, argc, argv);
}

static int cmd_sample_detail(struct shell *sh, int argc, char **argv)
{
	note_times(sh, "sample_detail");
	return experiment_report(sh, view_sample_detail, argc, argv);
}

/* Compare with squares only for this report, and then as the user chose. */
static int cmd_diff(struct shell *sh, int argc, char **argv)
{
	enum compare before = sh->metric_set.compare;
	enum diff_unit unit = argc > 1 && !strcmp(argv[1], "time") ? DIFF_TIME : DIFF_RATE;
	struct table t = { 0 };
	int rc;

	if (argc > 1 && strcmp(argv[1], "time") && strcmp(argv[1], "rate"))
		return diag_error(&sh->diag, "diff '%s': write rate or time", argv[1]);
	if (metric_set_compare_squares(&sh->metric_set, sh->session, &sh->diag))
		return -1;
	shell_groups_changed(sh);
	rc = shell_print(sh, &t, view_diff(&sh->view, unit, &sh->slower, &t, &sh->diag));
	metric_set_compare(&sh->metric_set, sh->session, before, &sh->diag);
	shell_groups_changed(sh);
	return rc;
}

/* "2%" or "2". */
static int cmd_threshold(struct shell *sh, int argc, char **argv)
{
	char text[32], *end;
	double percent;

	if (argc > 1) {
		percent = strtod(argv[1], &end);
		if (end == argv[1] || strcmp(end + (*end == '%'), "") || !(percent >= 0 && percent <= 1e6) ||
		    !strchr("0123456789.", argv[1][0]))
			return diag_error(&sh->diag, "threshold '%s': not a percentage such as 2%%",
					  argv[1]);
		sh->view.threshold = percent / 100;
	}
	snprintf(text, sizeof(text), "%.4g%%", 100 * sh->view.threshold);
	shell_reply(sh, text);
	return 0;
}

static const char *const diff_words[] = { "rate", "time", NULL };
static const char *const header_words[] = { "full", NULL };

static const struct command rows[] = {
	{ SECTION_REPORTS, "findings", .view = view_findings,
	  .help = "say in a few sentences where the time went" },
	{ SECTION_REPORTS, "diff", .args = "[rate | time]", .max = 1, .words = diff_words,
	  .run = cmd_diff, .help = "say what got slower or faster between two experiments" },
	{ SECTION_REPORTS, "threshold", .args = "[percent]", .max = 1, .option_args = 1,
	  .whole_line = true, .run = cmd_threshold,
	  .help = "choose the least change that diff reports" },
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
