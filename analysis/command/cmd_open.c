/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands that open other experiments in a running session. */
#include <string.h>

#include "analysis/command/command.h"
#include "analysis/command/shell.h"

typedef VEC(char *) path_vec;

/* Copy the paths of the open experiments, because opening replaces the list. */
static void copy_paths(const struct shell *sh, path_vec *ret)
{
	vec_for_each(p, &sh->paths)
		vec_push(ret, xstrdup(*p));
}

static int reopen(struct shell *sh, path_vec *paths)
{
	size_t failed = sh->nfailed;
	int rc = shell_open(sh, paths->data, paths->len);

	vec_for_each(p, paths)
		free(*p);
	vec_free(paths);
	/* Failures were reported. Count them as one failure of this command. */
	rc = rc || sh->nfailed > failed ? -1 : 0;
	sh->nfailed = failed;
	return rc;
}

static int cmd_open_exp(struct shell *sh, int argc, char **argv)
{
	path_vec paths = { 0 };

	vec_push(&paths, xstrdup(argv[1]));
	return reopen(sh, &paths);
}

static int cmd_add_exp(struct shell *sh, int argc, char **argv)
{
	path_vec paths = { 0 };

	copy_paths(sh, &paths);
	vec_push(&paths, xstrdup(argv[1]));
	return reopen(sh, &paths);
}

static int cmd_drop_exp(struct shell *sh, int argc, char **argv)
{
	path_vec paths = { 0 };
	size_t found = sh->paths.len;

	for (size_t i = 0; i < sh->paths.len; i++) {
		if (!strcmp(sh->paths.data[i], argv[1]))
			found = i;
	}
	if (found == sh->paths.len)
		return diag_error(&sh->diag, "drop_exp '%s': not open under that name", argv[1]);
	if (sh->paths.len == 1)
		return diag_error(&sh->diag,
				  "drop_exp '%s': it is the only one; open_exp opens another "
				  "instead",
				  argv[1]);
	copy_paths(sh, &paths);
	free(paths.data[found]);
	memmove(&paths.data[found], &paths.data[found + 1],
		(paths.len - found - 1) * sizeof(*paths.data));
	paths.len--;
	return reopen(sh, &paths);
}

#define ARGS_PATH .args = "experiment", .min = 1, .max = 1, .option_args = 1

static const struct command rows[] = {
	{ SECTION_EXPERIMENTS, "open_exp", ARGS_PATH, .run = cmd_open_exp,
	  .help = "open this experiment instead of the open ones" },
	{ SECTION_EXPERIMENTS, "add_exp", ARGS_PATH, .run = cmd_add_exp,
	  .help = "open this experiment, too" },
	{ SECTION_EXPERIMENTS, "drop_exp", ARGS_PATH, .run = cmd_drop_exp,
	  .help = "close this experiment" },
};

const struct command_rows open_commands = COMMAND_ROWS(rows);
