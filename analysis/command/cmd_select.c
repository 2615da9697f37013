/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands that choose what of the data is reported: experiments, filters. */
#include "analysis/command/command.h"
#include "analysis/command/shell.h"

static int cmd_filters(struct shell *sh, int argc, char **argv)
{
	struct view_state *v = &sh->view;

	if (argc > 1) {
		struct filter *f = filter_parse(sh->session, argv[1], &sh->diag);

		if (!f)
			return -1;
		filter_free(v->filter);
		v->filter = f;
		view_state_changed(v);
	}
	shell_reply(sh, v->filter ? filter_text(v->filter) : "none");
	return 0;
}

static const struct command rows[] = {
	{ SECTION_EXPERIMENTS, "experiment_list", "exp_list", .view = view_experiment_list,
	  .help = "list the experiments with their numbers" },
	{ SECTION_EXPERIMENTS, "sample_list", .view = view_sample_list,
	  .help = "list how many samples experiments have" },
	{ SECTION_EXPERIMENTS, "filters", .args = "[filter_expression]", .max = 1, .option_args = 1,
	  .run = cmd_filters, .help = "report only what this is true for, or show it" },
};

const struct command_rows select_commands = COMMAND_ROWS(rows);
