/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of functions, their summaries, their callers and callees. */
#include "analysis/command/choose.h"
#include "analysis/command/command.h"
#include "analysis/command/shell.h"

typedef int (*func_view)(struct view_state *v, const struct func *only, struct table *t,
			 struct diag *d);

static int one_function(struct shell *sh, func_view view, int argc, char **argv)
{
	struct func *f = choose_function(sh, argc, argv);
	struct table t = { 0 };

	return f ? shell_print(sh, &t, view(&sh->view, f, &t, &sh->diag)) : -1;
}

static int all_functions(struct shell *sh, func_view view)
{
	struct table t = { 0 };

	return shell_print(sh, &t, view(&sh->view, NULL, &t, &sh->diag));
}

static int cmd_fsummary(struct shell *sh, int argc, char **argv)
{
	return all_functions(sh, view_summary);
}

static int cmd_fsingle(struct shell *sh, int argc, char **argv)
{
	return one_function(sh, view_summary, argc, argv);
}

static int cmd_callers_callees(struct shell *sh, int argc, char **argv)
{
	return all_functions(sh, view_callers_callees);
}

static int cmd_csingle(struct shell *sh, int argc, char **argv)
{
	return one_function(sh, view_callers_callees, argc, argv);
}

static const struct command rows[] = {
	{ SECTION_FUNCTIONS, "functions", .view = view_functions,
	  .help = "list the functions with the current metrics" },
	{ SECTION_FUNCTIONS, "fsummary", .run = cmd_fsummary,
	  .help = "summarize each function of the list" },
	{ SECTION_FUNCTIONS, "fsingle", ARGS_FUNCTION, .run = cmd_fsingle,
	  .help = "summarize one function, the nth of that name" },

	{ SECTION_CALLERS, "callers-callees", "gprof", .run = cmd_callers_callees,
	  .help = "show each function with callers and callees" },
	{ SECTION_CALLERS, "csingle", ARGS_FUNCTION, .run = cmd_csingle,
	  .help = "show one function with callers and callees" },
	{ SECTION_CALLERS, "calltree", "ctree", .view = view_calltree,
	  .help = "show who called whom as a tree" },
};

const struct command_rows list_commands = COMMAND_ROWS(rows);
