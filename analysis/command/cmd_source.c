/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines and pcs, annotated source and disassembly, and the directories searched for sources. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/command/choose.h"
#include "analysis/command/command.h"
#include "analysis/command/remarks.h"
#include "analysis/command/shell.h"
#include "analysis/model/search.h"
#include "analysis/model/source.h"
#include "analysis/views/table.h"
#include "analysis/views/view.h"
#include "analysis/views/view_state.h"

static int list_places(struct shell *sh, enum place_kind kind)
{
	struct table t = { 0 };

	return shell_print(sh, &t, view_places(&sh->view, kind, &t, &sh->diag));
}

static int summarize_places(struct shell *sh, enum place_kind kind)
{
	struct table t = { 0 };

	return shell_print(sh, &t, view_places_summary(&sh->view, kind, &t, &sh->diag));
}

static int cmd_lines(struct shell *sh, int argc, char **argv)
{
	return list_places(sh, PLACES_LINES);
}

static int cmd_pcs(struct shell *sh, int argc, char **argv)
{
	return list_places(sh, PLACES_PCS);
}

static int cmd_lsummary(struct shell *sh, int argc, char **argv)
{
	return summarize_places(sh, PLACES_LINES);
}

static int cmd_psummary(struct shell *sh, int argc, char **argv)
{
	return summarize_places(sh, PLACES_PCS);
}

typedef int (*annotated_view)(struct view_state *v, const struct func *f, const char *file,
			      struct table *t, struct diag *d);

static int annotated(struct shell *sh, annotated_view view, int argc, char **argv)
{
	struct code_choice what;
	struct table t = { 0 };
	int rc = choose_code(sh, argc, argv, &what);

	if (!rc)
		rc = shell_print(sh, &t, view(&sh->view, what.func, what.file, &t, &sh->diag));
	free(what.name);
	return rc;
}

static int cmd_source(struct shell *sh, int argc, char **argv)
{
	return annotated(sh, view_source, argc, argv);
}

static int cmd_disasm(struct shell *sh, int argc, char **argv)
{
	return annotated(sh, view_disasm, argc, argv);
}

static int threshold(struct shell *sh, const char *name, int argc, char **argv, double *value)
{
	char text[32];

	if (argc > 1) {
		char *end;
		double got = strtod(argv[1], &end);

		if (end == argv[1] || *end || !(got >= 0 && got <= 100))
			return diag_error(&sh->diag, "%s '%s': not a percentage from 0 to 100",
					  name, argv[1]);
		*value = got;
	}
	snprintf(text, sizeof(text), "%g", *value);
	shell_reply(sh, text);
	return 0;
}

static int cmd_sthresh(struct shell *sh, int argc, char **argv)
{
	return threshold(sh, "sthresh", argc, argv, &sh->view.annotation.sthresh);
}

static int cmd_dthresh(struct shell *sh, int argc, char **argv)
{
	return threshold(sh, "dthresh", argc, argv, &sh->view.annotation.dthresh);
}

/*
 * Set or show the remark classes of source, of disassembly, or of both. In .er.rc files the first
 * line decides for source and for disassembly separately: after `scc none`, `cc all` leaves
 * source without remarks.
 */
static int remarks(struct shell *sh, int argc, char **argv, unsigned *source, unsigned *disasm)
{
	unsigned sets = (source ? REMARKS_SOURCE : 0) | (disasm ? REMARKS_DISASM : 0);
	unsigned decided = sh->in_rc ? sh->view.annotation.rc_decided : 0;
	unsigned ignored = 0;
	struct buf b = { 0 };

	if (argc > 1 && remarks_parse(argv[1], decided & REMARKS_SOURCE ? &ignored : source,
				      decided & REMARKS_DISASM ? &ignored : disasm, &sh->diag))
		return -1;
	if (argc > 1 && sh->in_rc)
		sh->view.annotation.rc_decided |= sets;
	remarks_print(disasm ? *disasm : *source, disasm != NULL, &b);
	shell_reply(sh, b.data);
	buf_free(&b);
	return 0;
}

static int cmd_scc(struct shell *sh, int argc, char **argv)
{
	return remarks(sh, argc, argv, &sh->view.annotation.scc, NULL);
}

static int cmd_dcc(struct shell *sh, int argc, char **argv)
{
	return remarks(sh, argc, argv, NULL, &sh->view.annotation.dcc);
}

static int cmd_cc(struct shell *sh, int argc, char **argv)
{
	return remarks(sh, argc, argv, &sh->view.annotation.scc, &sh->view.annotation.dcc);
}

static int cmd_setpath(struct shell *sh, int argc, char **argv)
{
	struct search_path *sp = session_search(sh->session);
	struct buf b = { 0 };

	if (argc > 1)
		search_set(sp, argv[1]);
	search_print(sp, &b);
	shell_reply(sh, b.data);
	buf_free(&b);
	return 0;
}

static int cmd_addpath(struct shell *sh, int argc, char **argv)
{
	if (argc > 1)
		search_add(session_search(sh->session), argv[1]);
	return cmd_setpath(sh, 1, argv);
}

static int cmd_pathmap(struct shell *sh, int argc, char **argv)
{
	struct search_path *sp = session_search(sh->session);

	if (argc == 2)
		return diag_error(&sh->diag, "pathmap: needs two prefixes: pathmap old new");
	if (argc > 2 && search_map(sp, argv[1], argv[2], &sh->diag))
		return -1;
	vec_for_each (m, &sp->maps) {
		char *line = xasprintf("%s -> %s", m->from, m->to);

		if (sh->asking)
			printer_say(&sh->printer, line);
		free(line);
	}
	return 0;
}

/* Accepted because gprofng has it for libraries that collect preloads. It has no effect here. */
static int cmd_preload_libdirs(struct shell *sh, int argc, char **argv)
{
	return 0;
}

#define ARGS_CODE \
	.args = "function | file | function'file' [n]", .min = 1, .max = 2, .option_args = 1
#define ARGS_CLASSES .args = "[class:...]", .max = 1, .option_args = 1
#define ARGS_PERCENT .args = "[percent]", .max = 1, .option_args = 1
#define ARGS_DIRS    .args = "[directory:...]", .max = 1, .option_args = 1

static const struct command rows[] = {
	{ SECTION_SOURCE, "lines", .run = cmd_lines,
	  .help = "list the source lines with the current metrics" },
	{ SECTION_SOURCE, "lsummary", .run = cmd_lsummary,
	  .help = "summarize each line of the list" },
	{ SECTION_SOURCE, "pcs", .run = cmd_pcs,
	  .help = "list the addresses with the current metrics" },
	{ SECTION_SOURCE, "psummary", .run = cmd_psummary,
	  .help = "summarize each address of the list" },
	{ SECTION_SOURCE, "source", "src", ARGS_CODE, .run = cmd_source,
	  .help = "show source with the current metrics" },
	{ SECTION_SOURCE, "disasm", ARGS_CODE, .run = cmd_disasm,
	  .help = "show instructions with the current metrics" },
	{ SECTION_SOURCE, "scc", ARGS_CLASSES, .run = cmd_scc, .rc = RC_EVERY,
	  .help = "choose the remarks in source, or show them" },
	{ SECTION_SOURCE, "sthresh", ARGS_PERCENT, .run = cmd_sthresh, .rc = RC_FIRST,
	  .help = "choose what share of the largest value gets ##" },
	{ SECTION_SOURCE, "dcc", ARGS_CLASSES, .run = cmd_dcc, .rc = RC_EVERY,
	  .help = "choose what disassembly shows, or show it" },
	{ SECTION_SOURCE, "dthresh", ARGS_PERCENT, .run = cmd_dthresh, .rc = RC_FIRST,
	  .help = "choose what share gets ## in disassembly" },
	{ SECTION_SOURCE, "cc", ARGS_CLASSES, .run = cmd_cc, .rc = RC_EVERY,
	  .help = "scc and dcc at once" },
	{ SECTION_SOURCE, "setpath", ARGS_DIRS, .run = cmd_setpath, .rc = RC_FIRST,
	  .rc_time = RC_OPENING, /* executed before any addpath */
	  .help = "choose where to search for sources, or show it" },
	{ SECTION_SOURCE, "addpath", ARGS_DIRS, .run = cmd_addpath, .rc = RC_EVERY,
	  .help = "search for sources here, too" },
	{ SECTION_SOURCE, "pathmap", .args = "[old_prefix new_prefix]", .max = 2, .option_args = 2,
	  .run = cmd_pathmap, .rc = RC_EVERY, .help = "replace this prefix of recorded paths" },
	{ SECTION_SOURCE, "preload_libdirs", .args = "directory:...", .min = 1, .max = 1,
	  .option_args = 1, .run = cmd_preload_libdirs, .rc = RC_FIRST,
	  .help = "accepted for scripts of gprofng; no effect" },
};

const struct command_rows source_commands = COMMAND_ROWS(rows);
