/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commands of er_print as one table. From its rows come the parser of
 * scripts and of the command line, completion, `help`, the order of the man
 * page, and the test that each command is documented and has a golden case.
 */
#ifndef COMMAND_COMMAND_H
#define COMMAND_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct diag;
struct shell;
struct table;
struct view_state;

/* Groups of commands in help and the man page, in this order. */
enum section {
	SECTION_FUNCTIONS,
	SECTION_CALLERS,
	SECTION_INDEX,
	SECTION_EXPERIMENTS,
	SECTION_OBJECTS,
	SECTION_OUTPUT,
	SECTION_REPORTS,
	SECTION_MISC,
};

struct command {
	enum section section;
	const char *name;
	const char *alias; /* NULL none */
	const char *args;  /* as help shows them; NULL none */
	int min, max;      /* how many arguments it takes */
	/*
	 * How many it takes as an option, where an argument cannot be told from
	 * what follows; beyond them a number or "all" is taken.
	 */
	int option_args;
	bool bare; /* makes sense without an experiment */

	/* What it does: prints a view, or runs. run: 0, or -1 after reporting. */
	int (*view)(struct view_state *v, struct table *t, struct diag *d);
	int (*run)(struct shell *sh, int argc, char **argv);
	const char *help;
};

extern const struct command commands[];
extern const size_t ncommands;

/*
 * The command of that name or alias, or that it is the beginning of, in any
 * case of letters. NULL after reporting: unknown, or candidates.
 */
const struct command *command_find(const char *name, struct diag *d);
/* 0, or -1 after reporting how the command is used. */
int command_check_args(const struct command *c, int nargs, struct diag *d);
/* Print all commands with their help, by section. */
void command_help(FILE *f);

/* The handlers, by file. argv[0] is the command's name, argc counts it. */
int cmd_metrics(struct shell *sh, int argc, char **argv); /* cmd_metrics.c */
int cmd_sort(struct shell *sh, int argc, char **argv);
int cmd_cmetrics(struct shell *sh, int argc, char **argv);
int cmd_csort(struct shell *sh, int argc, char **argv);
int cmd_metric_list(struct shell *sh, int argc, char **argv);
int cmd_fsummary(struct shell *sh, int argc, char **argv); /* cmd_lists.c */
int cmd_fsingle(struct shell *sh, int argc, char **argv);
int cmd_callers_callees(struct shell *sh, int argc, char **argv);
int cmd_csingle(struct shell *sh, int argc, char **argv);
int cmd_threads(struct shell *sh, int argc, char **argv);
int cmd_processes(struct shell *sh, int argc, char **argv);
int cmd_cpus(struct shell *sh, int argc, char **argv);
int cmd_samples(struct shell *sh, int argc, char **argv);
int cmd_seconds(struct shell *sh, int argc, char **argv);
int cmd_header(struct shell *sh, int argc, char **argv);
int cmd_overview(struct shell *sh, int argc, char **argv);
int cmd_statistics(struct shell *sh, int argc, char **argv);
int cmd_filters(struct shell *sh, int argc, char **argv); /* cmd_select.c */
int cmd_object_show(struct shell *sh, int argc, char **argv);
int cmd_object_hide(struct shell *sh, int argc, char **argv);
int cmd_object_select(struct shell *sh, int argc, char **argv);
int cmd_objects_default(struct shell *sh, int argc, char **argv);
int cmd_outfile(struct shell *sh, int argc, char **argv); /* cmd_output.c */
int cmd_appendfile(struct shell *sh, int argc, char **argv);
int cmd_limit(struct shell *sh, int argc, char **argv);
int cmd_name(struct shell *sh, int argc, char **argv);
int cmd_printmode(struct shell *sh, int argc, char **argv);
int cmd_script(struct shell *sh, int argc, char **argv); /* cmd_misc.c */
int cmd_version(struct shell *sh, int argc, char **argv);
int cmd_help(struct shell *sh, int argc, char **argv);
int cmd_quit(struct shell *sh, int argc, char **argv);

#endif
