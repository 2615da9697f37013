/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commands of er_print as one table. Its rows drive the parser of scripts and of the command
 * line, completion, `help` and the order of the man page. A test checks that each command is
 * documented and has a golden case.
 */
#ifndef COMMAND_COMMAND_H
#define COMMAND_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct buf;
struct diag;
struct objtypes;
struct shell;
struct table;
struct view_state;

/* Groups of commands in help and the man page, in this order. */
enum section {
	SECTION_FUNCTIONS,
	SECTION_CALLERS,
	SECTION_SOURCE,
	SECTION_EVENTS,
	SECTION_INDEX,
	SECTION_DATA,
	SECTION_WAITS,
	SECTION_EXPERIMENTS,
	SECTION_OBJECTS,
	SECTION_OUTPUT,
	SECTION_REPORTS,
	SECTION_DEFAULTS,
	SECTION_MISC,
};

/* Which of several .er.rc lines with the same command take effect. A line that fails never does. */
enum rc_use {
	RC_NEVER,     /* not allowed in .er.rc files */
	RC_FIRST,     /* the first line that sets something */
	RC_EVERY,     /* all lines, in order */
	RC_FROM_LAST, /* all lines, last first: if two disagree, the first one decides */
};

/* When the lines are executed. */
enum rc_time {
	RC_OPENED,  /* after everything is set up */
	RC_OPENING, /* before experiments are opened */
	RC_METRICS, /* before the metric lists are made */
};

struct command {
	enum section section;
	const char *name;
	const char *alias; /* NULL: none */
	const char *args;  /* as shown by help; NULL: none */
	int min, max;      /* number of arguments */
	/*
	 * Number of arguments if the command is given as an option, where arguments cannot be
	 * told from what follows. A further argument is taken if it is a number, "all" or one of
	 * `words`.
	 */
	int option_args;
	const char *const *words; /* allowed arguments, ended by NULL; NULL: any */
	bool filters; /* selects the data that is reported: if it fails, reports must not run */
	bool whole_line; /* as an option, given once, it applies to what stands before it, too */
	bool takes_command; /* its argument is the name of a command */
	bool bare; /* works without an experiment */
	enum rc_use rc;
	enum rc_time rc_time;
	bool rc_only; /* allowed in .er.rc files only */

	/*
	 * The action, one of three: print the objects of `type`, print a view, or call `run`. run
	 * returns 0, or -1 after reporting; argv[0] is the command's name and argc counts it.
	 */
	const char *type;
	int (*view)(struct view_state *v, struct table *t, struct diag *d);
	int (*run)(struct shell *sh, int argc, char **argv);
	const char *help;
};

/*
 * The rows of one cmd_*.c, which exports them as one of these; command.c joins them. A new file
 * of commands needs one line here and one in command.c.
 */
struct command_rows {
	const struct command *rows;
	size_t n;
};

#define COMMAND_ROWS(array) { (array), sizeof(array) / sizeof((array)[0]) }

extern const struct command_rows list_commands;   /* cmd_lists.c */
extern const struct command_rows source_commands; /* cmd_source.c */
extern const struct command_rows metric_commands; /* cmd_metrics.c */
extern const struct command_rows event_commands;  /* cmd_events.c */
extern const struct command_rows index_commands;  /* cmd_index.c */
extern const struct command_rows wait_commands;   /* cmd_waits.c */
extern const struct command_rows select_commands; /* cmd_select.c */
extern const struct command_rows open_commands;   /* cmd_open.c */
extern const struct command_rows object_commands; /* cmd_objects.c */
extern const struct command_rows output_commands; /* cmd_output.c */
extern const struct command_rows report_commands; /* cmd_reports.c */
extern const struct command_rows absent_commands; /* cmd_absent.c */
extern const struct command_rows default_commands; /* cmd_defaults.c */
extern const struct command_rows mapfile_commands; /* cmd_mapfile.c */
extern const struct command_rows misc_commands;   /* cmd_misc.c */

/* Arguments that many rows share. */
#define ARGS_METRIC_SPEC .args = "[metric_spec]", .max = 1, .option_args = 1
#define ARGS_FUNCTION    .args = "function [n]", .min = 1, .max = 2, .option_args = 1
#define ARGS_EXPERIMENT  .args = "[experiment_id | all]", .max = 1
#define ARGS_OBJECTS     .args = "object,... | all", .min = 1, .max = 1, .option_args = 1
#define ARGS_FILE        .args = "file", .min = 1, .max = 1, .option_args = 1

/* The nth command: by section, then by the order of files and rows; NULL after the last. */
const struct command *command_at(size_t n);

/*
 * Find a command by its name, its alias or a unique beginning, in any case of letters. NULL after
 * reporting that it is unknown or which candidates there are.
 */
const struct command *command_find(const char *name, struct diag *d);
/* Whether a command has exactly this name or alias. */
bool command_is_named(const char *name);
/*
 * `indxobj name` or `memobj name` for the objects of that type; NULL: no such type. (cmd_index.c)
 */
const struct command *command_of_type(const struct objtypes *types, const char *name);
/* Check the number of arguments. Returns 0, or -1 after reporting how the command is used. */
int command_check_args(const struct command *c, int nargs, struct diag *d);
/*
 * Append one line for each command, by section. If `only` is not NULL, append that command with
 * its text.
 */
void command_help(const struct command *only, struct buf *b);

#endif
