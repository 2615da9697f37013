/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports on threads that are not on a CPU. */
#include <stdlib.h>
#include <string.h>

#include "analysis/command/command.h"
#include "analysis/command/shell.h"
#include "analysis/metrics/filter.h"
#include "analysis/views/table.h"
#include "analysis/views/view.h"

/* The arguments are threads or processes, and the sort metric, in any order. */
static int cmd_microstates(struct shell *sh, int argc, char **argv)
{
	bool processes = false;
	const char *sort_by = NULL;
	struct table t = { 0 };

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "processes") || !strcmp(argv[i], "threads"))
			processes = *argv[i] == 'p';
		else
			sort_by = argv[i];
	}
	return shell_print(sh, &t, view_microstates(&sh->view, processes, sort_by, &t, &sh->diag));
}

static int cmd_exact_states(struct shell *sh, int argc, char **argv)
{
	struct filter *threads = shell_filter_without_times(sh);
	struct table t = { 0 };
	int err;

	err = view_exact_states(&sh->view, threads, shell_time(sh, FILTER_FROM, 0),
			   shell_time(sh, FILTER_TO, INT64_MAX), &t, &sh->diag);
	filter_free(threads);
	return shell_print(sh, &t, err);
}

static int cmd_locks(struct shell *sh, int argc, char **argv)
{
	bool by_address = argc > 1 && !strcmp(argv[1], "address");
	struct table t = { 0 };

	if (argc > 1 && !by_address)
		return diag_error(&sh->diag, "locks '%s': unknown: write address for a row for each address",
				  argv[1]);
	return shell_print(sh, &t, view_locks(&sh->view, by_address, &t, &sh->diag));
}

static int cmd_wakechain(struct shell *sh, int argc, char **argv)
{
	struct table t = { 0 };

	return shell_print(sh, &t, view_wakechain(&sh->view, argv[1], &t, &sh->diag));
}

static int cmd_span(struct shell *sh, int argc, char **argv)
{
	struct table t = { 0 };
	char *end = NULL;
	unsigned long long rank = argc > 2 ? strtoull(argv[2], &end, 10) : 1;

	if (argc > 2 && (*end || !rank))
		return diag_error(&sh->diag, "span '%s': no call has this number: write one from 1, the slowest, "
				  "as span_list shows them", argv[2]);
	return shell_print(sh, &t, view_span(&sh->view, argv[1], rank, &t, &sh->diag));
}

static int cmd_errors(struct shell *sh, int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "on") && strcmp(argv[1], "off"))
		return diag_error(&sh->diag, "errors '%s': write errors on, or errors off", argv[1]);
	if (argc > 1)
		sh->view.errors = !strcmp(argv[1], "on");
	shell_reply(sh, sh->view.errors ? "on" : "off");
	return 0;
}

static const char *const microstates_words[] = {
	"threads", "processes", "total", "cpu", "kcpu", "kthr", "user", "system", "trap", "wait",
	"lock", "ulock", "datapfault", "data", "textpfault", "text", "kernelpfault", "stop", "sleep",
	"owait", NULL };
static const char *const locks_words[] = { "address", NULL };
static const char *const errors_words[] = { "on", "off", NULL };

static const struct command rows[] = {
	{ SECTION_WAITS, "microstates", .args = "[threads | processes] [metric]", .max = 2,
	  .words = microstates_words, .run = cmd_microstates,
	  .help = "list in which states threads were, and how long" },
	{ SECTION_WAITS, "exact_states", .run = cmd_exact_states,
	  .help = "list the exact states of threads between two usage samples" },
	{ SECTION_WAITS, "waits", .view = view_waits,
	  .help = "list what threads waited for, by reason and stack" },
	{ SECTION_WAITS, "longest", .view = view_longest,
	  .help = "list the longest single waits" },
	{ SECTION_WAITS, "syscalls", .view = view_syscalls,
	  .help = "list system calls with their waits, calls and errors" },
	{ SECTION_WAITS, "runqueue", .view = view_runqueue,
	  .help = "list waits for a CPU, and the threads that had it" },
	{ SECTION_WAITS, "locks", .args = "[address]", .max = 1, .words = locks_words, .run = cmd_locks,
	  .help = "list user locks, with the waiting threads and holders" },
	{ SECTION_WAITS, "wakers", .view = view_wakers, .help = "list which threads ended the waits of which others" },
	{ SECTION_WAITS, "wakechain", .args = "thread", .min = 1, .max = 1, .option_args = 1,
	  .run = cmd_wakechain, .help = "show what a thread waited for, and why so long" },
	{ SECTION_WAITS, "spans", .view = view_spans,
	  .help = "list spans: how long calls took, and what slow ones wait for" },
	{ SECTION_WAITS, "span_list", .view = view_span_list,
	  .help = "list the slowest single calls of spans" },
	{ SECTION_WAITS, "span", .args = "name [n]", .min = 1, .max = 2, .option_args = 1,
	  .run = cmd_span, .help = "show a call of a span as a timeline" },
	{ SECTION_WAITS, "errors", .args = "[on|off]", .max = 1, .option_args = 1,
	  .words = errors_words, .run = cmd_errors, .rc = RC_FIRST,
	  .help = "show standard errors of estimated waits" },
};

const struct command_rows wait_commands = COMMAND_ROWS(rows);
