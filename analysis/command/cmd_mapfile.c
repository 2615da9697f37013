/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapfile: the order in which a linker should place the functions of a load object. Solaris'
 * linker took a map. LLD takes names of symbols, one on each line, with # for comments
 * (--symbol-ordering-file). The object has to be compiled with -ffunction-sections.
 */
#include <errno.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/command/command.h"
#include "analysis/command/shell.h"
#include "analysis/views/functions.h"
#include "analysis/views/view_state.h"

/* Whether a name fits on one line of such a file. Linkers do not accept other names either. */
static bool is_plain(const char *name)
{
	return *name && *name != '#' && *name != '<' && !name[strcspn(name, " \t\r\n\033")];
}

static size_t put_names(struct view_state *v, const struct loadobj *o, struct buf *b)
{
	ranked_vec funcs = { 0 };
	size_t n = 0;

	functions_ranked(v, &funcs);
	vec_for_each(r, &funcs) {
		if (r->func->obj != o || !is_plain(r->func->mangled))
			continue;
		buf_printf(b, "%s\n", r->func->mangled);
		n++;
	}
	vec_free(&funcs);
	return n;
}

static int write_file(struct shell *sh, const char *path, const char *text)
{
	FILE *f = fopen(path, "we");
	bool bad;

	if (!f) {
		diag_errno(&sh->diag, errno, "mapfile '%s': cannot open", path);
		return -1;
	}
	bad = fputs(text, f) < 0;
	if (fclose(f) || bad) {
		diag_errno(&sh->diag, errno, "mapfile '%s': cannot write", path);
		return -1;
	}
	return 0;
}

static int cmd_mapfile(struct shell *sh, int argc, char **argv)
{
	struct loadobj *o;
	struct buf b = { 0 }, sort = { 0 };
	int rc = 0;

	session_load_objects(sh->session);
	o = session_find_object(sh->session, argv[1]);
	if (!o)
		return diag_error(&sh->diag, "object '%s': not loaded; object_list shows the names",
				  argv[1]);
	metric_sort_describe(&sh->view.sort, &sort);
	buf_printf(&b,
		   "# Functions sorted by metric: %s\n# ld.lld --symbol-ordering-file, of objects "
		   "compiled with -ffunction-sections\n",
		   sort.data);
	if (!put_names(&sh->view, o, &b))
		rc = diag_error(&sh->diag,
				"mapfile: no function of '%s' has any of the metrics shown",
				argv[1]);
	else if (strcmp(argv[2], "-"))
		rc = write_file(sh, argv[2], b.data);
	else
		printer_lines(&sh->printer, b.data);
	buf_free(&b);
	buf_free(&sort);
	return rc;
}

static const struct command rows[] = {
	{ SECTION_MISC, "mapfile", .args = "object file|-", .min = 2, .max = 2, .option_args = 2,
	  .run = cmd_mapfile, .help = "write an order of functions for the linker" },
	{ SECTION_MISC, "procstats", .view = view_procstats,
	  .help = "show what processing has cost so far" },
	{ SECTION_MISC, "unwinding", .view = view_unwinding,
	  .help = "list how much of each program's time has complete user stacks" },
};

const struct command_rows mapfile_commands = COMMAND_ROWS(rows);
