/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scripts, and what er_print says about itself. */
#include <errno.h>

#include "analysis/command/command.h"
#include "analysis/command/shell.h"

/* Limits the nesting of scripts, because a script may run itself. */
enum { MAX_DEPTH = 16 };

static int cmd_script(struct shell *sh, int argc, char **argv)
{
	__cleanup(fclosep) FILE *f = NULL;
	struct input in = { .read = read_file_line, .name = argv[1] };

	if (sh->depth == MAX_DEPTH)
		return diag_error(&sh->diag, "script '%s': scripts are nested more than %d deep",
				  argv[1], MAX_DEPTH);
	f = fopen(argv[1], "re");
	if (!f) {
		diag_errno(&sh->diag, errno, "script '%s': cannot open", argv[1]);
		return -1;
	}
	in.file = f;
	sh->depth++;
	shell_read(sh, &in);
	sh->depth--;
	if (ferror(f))
		return diag_error(&sh->diag, "script '%s': cannot read it all; is it a file?", argv[1]);
	return 0;
}

static int cmd_version(struct shell *sh, int argc, char **argv)
{
	struct buf b = { 0 };

	buf_printf(&b, "%s %s\n", sh->program, ER_VERSION);
	printer_prose(&sh->printer, b.data);
	buf_free(&b);
	return 0;
}

static int cmd_help(struct shell *sh, int argc, char **argv)
{
	const struct command *only = NULL;
	struct buf b = { 0 };

	if (argc > 1 && !(only = command_find(argv[1], &sh->diag)))
		return -1;
	command_help(only, &b);
	printer_prose(&sh->printer, b.data);
	buf_free(&b);
	return 0;
}

static int cmd_quit(struct shell *sh, int argc, char **argv)
{
	sh->quit = true;
	return 0;
}

static const struct command rows[] = {
	{ SECTION_MISC, "script", ARGS_FILE, .run = cmd_script,
	  .help = "run the commands in this file" },
	{ SECTION_MISC, "version", .bare = true, .run = cmd_version, .help = "show the version" },
	{ SECTION_MISC, "help", "h", .args = "[command]", .max = 1, .bare = true,
	  .takes_command = true, .run = cmd_help, .help = "list the commands, or explain one" },
	{ SECTION_MISC, "quit", "exit", .bare = true, .run = cmd_quit,
	  .help = "end the script or the session" },
};

const struct command_rows misc_commands = COMMAND_ROWS(rows);
