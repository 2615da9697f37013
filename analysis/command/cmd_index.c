/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists by what a packet belongs to. */
#include "analysis/command/command.h"
#include "analysis/command/shell.h"

static int index_list(struct shell *sh, enum index_kind kind)
{
	struct table t = { 0 };

	return shell_print(sh, &t, view_index(&sh->view, kind, &t, &sh->diag));
}

static int cmd_threads(struct shell *sh, int argc, char **argv)
{
	return index_list(sh, INDEX_THREADS);
}

static int cmd_processes(struct shell *sh, int argc, char **argv)
{
	return index_list(sh, INDEX_PROCESSES);
}

static int cmd_cpus(struct shell *sh, int argc, char **argv)
{
	return index_list(sh, INDEX_CPUS);
}

static int cmd_samples(struct shell *sh, int argc, char **argv)
{
	return index_list(sh, INDEX_SAMPLES);
}

static int cmd_seconds(struct shell *sh, int argc, char **argv)
{
	return index_list(sh, INDEX_SECONDS);
}

static const struct command rows[] = {
	{ SECTION_INDEX, "threads", .run = cmd_threads, .help = "list the threads" },
	{ SECTION_INDEX, "processes", .run = cmd_processes, .help = "list the processes" },
	{ SECTION_INDEX, "cpus", .run = cmd_cpus, .help = "list the CPUs" },
	{ SECTION_INDEX, "samples", .run = cmd_samples,
	  .help = "list the samples, periods the recorder marked" },
	{ SECTION_INDEX, "seconds", .run = cmd_seconds, .help = "list the seconds of the recording" },
};

const struct command_rows index_commands = COMMAND_ROWS(rows);
