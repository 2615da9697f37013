/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of functions, their summaries, their callers and callees. */
#include <string.h>

#include "analysis/command/choose.h"
#include "analysis/command/command.h"
#include "analysis/command/shell.h"
#include "analysis/views/table.h"
#include "analysis/views/view.h"

static int show_summary(struct shell *sh, const struct func *only)
{
	struct table t = { 0 };

	return shell_print(sh, &t, view_summary(&sh->view, only, &t, &sh->diag));
}

static int cmd_fsummary(struct shell *sh, int argc, char **argv)
{
	return show_summary(sh, NULL);
}

static int cmd_fsingle(struct shell *sh, int argc, char **argv)
{
	struct func *f = choose_function(sh, argc, argv);

	return f ? show_summary(sh, f) : -1;
}

/* Show the panel of the call chain that csingle and the commands after it built. */
static int show_call_chain(struct shell *sh)
{
	struct table t = { 0 };

	return shell_print(sh, &t, view_callers(&sh->view, sh->call_chain.data, sh->call_chain.len, &t,
						 &sh->diag));
}

static int cmd_csingle(struct shell *sh, int argc, char **argv)
{
	struct func *f = choose_function(sh, argc, argv);

	if (!f)
		return -1;
	sh->call_chain.len = 0;
	vec_push(&sh->call_chain, f);
	return show_call_chain(sh);
}

static int cmd_cappend(struct shell *sh, int argc, char **argv)
{
	struct func *f = choose_function(sh, argc, argv);

	if (!f)
		return -1;
	vec_push(&sh->call_chain, f);
	return show_call_chain(sh);
}

static int cmd_cprepend(struct shell *sh, int argc, char **argv)
{
	struct func *f = choose_function(sh, argc, argv);

	if (!f)
		return -1;
	vec_push(&sh->call_chain, f);
	memmove(sh->call_chain.data + 1, sh->call_chain.data,
		(sh->call_chain.len - 1) * sizeof(*sh->call_chain.data));
	sh->call_chain.data[0] = f;
	return show_call_chain(sh);
}

static int remove_one(struct shell *sh, const char *command, bool first)
{
	if (sh->call_chain.len < 2)
		return diag_error(&sh->diag,
				  "%s: the chain has %s: csingle, cprepend and cappend put functions "
				  "into it",
				  command, sh->call_chain.len ? "only one function" : "no function");
	sh->call_chain.len--;
	if (first)
		memmove(sh->call_chain.data, sh->call_chain.data + 1,
			sh->call_chain.len * sizeof(*sh->call_chain.data));
	return show_call_chain(sh);
}

static int cmd_crmfirst(struct shell *sh, int argc, char **argv)
{
	return remove_one(sh, "crmfirst", true);
}

static int cmd_crmlast(struct shell *sh, int argc, char **argv)
{
	return remove_one(sh, "crmlast", false);
}

static const struct command rows[] = {
	{ SECTION_FUNCTIONS, "functions", .view = view_functions,
	  .help = "list the functions with the current metrics" },
	{ SECTION_FUNCTIONS, "fsummary", .run = cmd_fsummary,
	  .help = "summarize each function of the list" },
	{ SECTION_FUNCTIONS, "fsingle", ARGS_FUNCTION, .run = cmd_fsingle,
	  .help = "summarize one function, the nth of that name" },

	{ SECTION_CALLERS, "callers-callees", "gprof", .view = view_callers_callees,
	  .help = "show each function with callers and callees" },
	{ SECTION_CALLERS, "csingle", ARGS_FUNCTION, .run = cmd_csingle,
	  .help = "show one function with callers and callees" },
	{ SECTION_CALLERS, "cprepend", ARGS_FUNCTION, .run = cmd_cprepend,
	  .help = "put this function before the chain of csingle" },
	{ SECTION_CALLERS, "cappend", ARGS_FUNCTION, .run = cmd_cappend,
	  .help = "put this function after the chain of csingle" },
	{ SECTION_CALLERS, "crmfirst", .run = cmd_crmfirst,
	  .help = "remove the first function of the chain" },
	{ SECTION_CALLERS, "crmlast", .run = cmd_crmlast,
	  .help = "remove the last function of the chain" },
	{ SECTION_CALLERS, "calltree", "ctree", .view = view_calltree,
	  .help = "show callers and callees as a tree" },
};

const struct command_rows list_commands = COMMAND_ROWS(rows);
