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

/* Which lines of .er.rc files with a command count. A line that fails never does. */
enum rc_use {
	RC_NEVER,     /* it stands in none */
	RC_FIRST,     /* the first that sets something */
	RC_EVERY,     /* all, in order */
	RC_FROM_LAST, /* all, the last first: what two of them say of a thing, the first decides */
};

/* When they are carried out. */
enum rc_time {
	RC_OPENED,  /* all is set up */
	RC_OPENING, /* before experiments are opened */
	RC_METRICS, /* before lists of metrics are made */
};

struct command {
	enum section section;
	const char *name;
	const char *alias; /* NULL none */
	const char *args;  /* as help shows them; NULL none */
	int min, max;      /* how many arguments it takes */
	/*
	 * How many it takes as an option, where an argument cannot be told from
	 * what follows; beyond them a number, "all" or one of `words` is taken.
	 */
	int option_args;
	const char *const *words; /* what an argument may be, up to a NULL; NULL none */
	bool filters; /* chooses what of the data is reported: reports must not run without it */
	bool takes_command; /* its argument is the name of a command */
	bool bare; /* makes sense without an experiment */
	enum rc_use rc;
	enum rc_time rc_time;
	bool rc_only; /* stands in .er.rc files and nowhere else */

	/*
	 * What it does: prints the objects of a type, prints a view, or runs. run:
	 * 0, or -1 after reporting; argv[0] is the command's name, argc counts it.
	 */
	const char *type;
	int (*view)(struct view_state *v, struct table *t, struct diag *d);
	int (*run)(struct shell *sh, int argc, char **argv);
	const char *help;
};

/*
 * Each cmd_*.c owns its rows and shows them by one of these; command.c puts them
 * together. A new file of commands: one line here, one in command.c.
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

/* The arguments that many rows have. */
#define ARGS_METRIC_SPEC .args = "[metric_spec]", .max = 1, .option_args = 1
#define ARGS_FUNCTION    .args = "function [n]", .min = 1, .max = 2, .option_args = 1
#define ARGS_EXPERIMENT  .args = "[experiment_id | all]", .max = 1
#define ARGS_OBJECTS     .args = "object,... | all", .min = 1, .max = 1, .option_args = 1
#define ARGS_FILE        .args = "file", .min = 1, .max = 1, .option_args = 1

/* All commands by section, within one in the order of files and rows; NULL past the last. */
const struct command *command_at(size_t n);

/*
 * The command of that name or alias, or that it is the beginning of, in any
 * case of letters. NULL after reporting: unknown, or candidates.
 */
const struct command *command_find(const char *name, struct diag *d);
/* Whether a command has that very name or alias. */
bool command_is_named(const char *name);
/* `indxobj name`, `memobj name` for the objects of that type; NULL: no such type. (cmd_index.c) */
const struct command *command_of_type(const struct objtypes *types, const char *name);
/* 0, or -1 after reporting how the command is used. */
int command_check_args(const struct command *c, int nargs, struct diag *d);
/* Append all commands with a line each, by section; or one with its text, unless NULL. */
void command_help(const struct command *only, struct buf *b);

#endif
