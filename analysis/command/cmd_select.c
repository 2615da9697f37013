/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands that choose what of the data is reported: experiments, filters. */
#include "analysis/command/command.h"
#include "analysis/command/shell.h"

/* Filter and selection hold together: a filter without expression carries a selection. */
static void set_filter(struct view_state *v, struct filter *f)
{
	filter_free(v->filter);
	v->filter = f;
	filter_select(f, &v->selection);
	view_state_changed(v);
}

static int cmd_filters(struct shell *sh, int argc, char **argv)
{
	struct view_state *v = &sh->view;
	const char *text;

	if (argc > 1) {
		struct filter *f = filter_parse(sh->session, &v->types, argv[1], &sh->diag);

		if (!f)
			return -1;
		set_filter(v, f);
	}
	text = v->filter ? filter_text(v->filter) : NULL;
	shell_reply(sh, text && *text ? text : "none");
	return 0;
}

typedef int (*list_view)(struct view_state *v, struct table *t, struct diag *d);

/* Select, and show what is selected (P-074). */
static int choose(struct shell *sh, enum select_kind kind, const char *text, list_view list)
{
	struct table t = { 0 };
	struct view_state *v = &sh->view;

	if (selection_parse(&v->selection, sh->session, kind, text, &sh->diag))
		return -1;
	if (!v->filter)
		set_filter(v, filter_new());
	view_state_changed(v);
	return shell_print(sh, &t, list(v, &t, &sh->diag));
}

static int cmd_sample_select(struct shell *sh, int argc, char **argv)
{
	return choose(sh, SELECT_SAMPLE, argv[1], view_sample_list);
}

static int cmd_thread_select(struct shell *sh, int argc, char **argv)
{
	return choose(sh, SELECT_THREAD, argv[1], view_thread_list);
}

static int cmd_lwp_select(struct shell *sh, int argc, char **argv)
{
	return choose(sh, SELECT_LWP, argv[1], view_lwp_list);
}

static int cmd_cpu_select(struct shell *sh, int argc, char **argv)
{
	return choose(sh, SELECT_CPU, argv[1], view_cpu_list);
}

#define SELECTION .args = "list", .min = 1, .max = 1, .option_args = 1, .filters = true

static const struct command rows[] = {
	{ SECTION_EXPERIMENTS, "experiment_list", "exp_list", .view = view_experiment_list,
	  .help = "list the experiments with their numbers" },
	{ SECTION_EXPERIMENTS, "sample_list", .view = view_sample_list,
	  .help = "list which samples are selected" },
	{ SECTION_EXPERIMENTS, "thread_list", .view = view_thread_list,
	  .help = "list which threads are selected" },
	{ SECTION_EXPERIMENTS, "lwp_list", .view = view_lwp_list,
	  .help = "list which LWPs are selected" },
	{ SECTION_EXPERIMENTS, "cpu_list", .view = view_cpu_list,
	  .help = "list which CPUs are selected" },
	{ SECTION_EXPERIMENTS, "filters", .args = "[filter_expression]", .max = 1, .option_args = 1,
	  .run = cmd_filters, .filters = true,
	  .help = "report only what this is true for, or show it" },
	{ SECTION_EXPERIMENTS, "describe", .view = view_describe,
	  .help = "list what filters can ask for" },
	{ SECTION_EXPERIMENTS, "sample_select", SELECTION, .run = cmd_sample_select,
	  .help = "report only these samples" },
	{ SECTION_EXPERIMENTS, "thread_select", SELECTION, .run = cmd_thread_select,
	  .help = "report only these threads" },
	{ SECTION_EXPERIMENTS, "lwp_select", SELECTION, .run = cmd_lwp_select,
	  .help = "report only these LWPs" },
	{ SECTION_EXPERIMENTS, "cpu_select", SELECTION, .run = cmd_cpu_select,
	  .help = "report only these CPUs" },
};

const struct command_rows select_commands = COMMAND_ROWS(rows);
