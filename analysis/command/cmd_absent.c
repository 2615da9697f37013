/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands for data that no supported recorder writes. They say so and suggest the nearest
 * command.
 */
#include <string.h>

#include "analysis/command/command.h"
#include "analysis/command/shell.h"

static const struct absent {
	const char *name, *data, *instead;
} absents[] = {
	{ "ifreq", "instruction counts", "pcs and disasm show where time was spent" },
	{ "races", "data races", "valgrind --tool=drd and the thread sanitizer find them" },
	{ "rdetail", "data races", "valgrind --tool=drd and the thread sanitizer find them" },
	{ "deadlocks", "deadlocks", "waits and locks show which threads wait for which" },
	{ "ddetail", "deadlocks", "waits and locks show which threads wait for which" },
	{ "dsummary", "deadlocks", "waits and locks show which threads wait for which" },
	{ "omp_preg", "OpenMP parallel regions", "functions lists their bodies" },
	{ "omp_task", "OpenMP tasks", "functions lists their bodies" },
};

/* Commands may be abbreviated and in any case of letters, so find the row as the table does. */
static int cmd_absent(struct shell *sh, int argc, char **argv)
{
	const char *name = argv[0] + strspn(argv[0], "-");
	const struct command *c = command_find(name, &sh->diag);

	for (size_t i = 0; c && i < sizeof(absents) / sizeof(absents[0]); i++) {
		if (!strcmp(c->name, absents[i].name))
			return diag_error(&sh->diag, "%s: the experiments have no data on %s; %s",
					  c->name, absents[i].data, absents[i].instead);
	}
	return -1;
}

#define ARGS_ID .args = "id|all", .min = 1, .max = 1, .option_args = 1

static const struct command rows[] = {
	{ SECTION_REPORTS, "ifreq", .run = cmd_absent, .help = "show how often instructions ran" },
	{ SECTION_REPORTS, "races", .run = cmd_absent, .help = "list data races" },
	{ SECTION_REPORTS, "rdetail", ARGS_ID, .run = cmd_absent, .help = "show a data race" },
	{ SECTION_REPORTS, "deadlocks", .run = cmd_absent, .help = "list deadlocks" },
	{ SECTION_REPORTS, "ddetail", ARGS_ID, .run = cmd_absent, .help = "show a deadlock" },
	{ SECTION_REPORTS, "dsummary", ARGS_ID, .run = cmd_absent, .help = "summarize a deadlock" },
	{ SECTION_REPORTS, "omp_preg", .run = cmd_absent, .help = "list OpenMP parallel regions" },
	{ SECTION_REPORTS, "omp_task", .run = cmd_absent, .help = "list OpenMP tasks" },
};

const struct command_rows absent_commands = COMMAND_ROWS(rows);
