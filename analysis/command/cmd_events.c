/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports on traced calls: memory and I/O. */
#include "analysis/command/command.h"
#include "analysis/command/shell.h"
#include "analysis/views/table.h"
#include "analysis/views/view.h"

static int stacks(struct shell *sh, enum stacks_kind kind)
{
	struct table t = { 0 };

	return shell_print(sh, &t, view_stacks(&sh->view, kind, &t, &sh->diag));
}

static int cmd_leaks(struct shell *sh, int argc, char **argv)
{
	return stacks(sh, STACKS_LEAKS);
}

static int cmd_allocs(struct shell *sh, int argc, char **argv)
{
	return stacks(sh, STACKS_ALLOCS);
}

static int cmd_heap(struct shell *sh, int argc, char **argv)
{
	return stacks(sh, STACKS_HEAP);
}

static int cmd_iocallstack(struct shell *sh, int argc, char **argv)
{
	return stacks(sh, STACKS_IO);
}

static const struct command rows[] = {
	{ SECTION_EVENTS, "leaks", .run = cmd_leaks, .help = "list leaks by call stack" },
	{ SECTION_EVENTS, "allocs", .run = cmd_allocs, .help = "list allocations by call stack" },
	{ SECTION_EVENTS, "heap", .run = cmd_heap, .help = "list leaks and allocations by call stack" },
	{ SECTION_EVENTS, "heapstat", .view = view_heapstat,
	  .help = "show sizes, sums and the peak of memory" },
	{ SECTION_EVENTS, "heappeak", .view = view_heappeak,
	  .help = "list what was in use at the peak of memory, by call stack" },
	{ SECTION_EVENTS, "heapuse", .view = view_heapuse, .help = "show the memory in use over time" },
	{ SECTION_EVENTS, "ioactivity", .view = view_ioactivity, .help = "list I/O by file" },
	{ SECTION_EVENTS, "iodetail", .view = view_iodetail,
	  .help = "list I/O by file, each time it was opened" },
	{ SECTION_EVENTS, "iocallstack", .run = cmd_iocallstack,
	  .help = "list input and output by call stack" },
	{ SECTION_EVENTS, "iostat", .view = view_iostat,
	  .help = "show sizes, times and sums of input and output" },
};

const struct command_rows event_commands = COMMAND_ROWS(rows);
