/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/command/command.h"

#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/base/vec.h"
#include "analysis/views/view.h"

static const char *const section_titles[] = {
	[SECTION_FUNCTIONS] = "Functions and metrics",
	[SECTION_CALLERS] = "Callers, callees and the call tree",
	[SECTION_INDEX] = "By thread, process, CPU and time",
	[SECTION_EXPERIMENTS] = "Experiments and filters",
	[SECTION_OBJECTS] = "Load objects",
	[SECTION_OUTPUT] = "Output",
	[SECTION_REPORTS] = "Reports on the recording",
	[SECTION_MISC] = "Other",
};

#define METRIC_SPEC .args = "[metric_spec]", .max = 1, .option_args = 1
#define FUNCTION    .args = "function [n]", .min = 1, .max = 2, .option_args = 1
#define EXPERIMENT  .args = "[experiment_id | all]", .max = 1
#define OBJECTS     .args = "object,... | all", .min = 1, .max = 1, .option_args = 1
#define FILE_NAME   .args = "file", .min = 1, .max = 1, .option_args = 1

const struct command commands[] = {
	{ SECTION_FUNCTIONS, "functions", .view = view_functions,
	  .help = "list the functions with the current metrics" },
	{ SECTION_FUNCTIONS, "metrics", METRIC_SPEC, .run = cmd_metrics,
	  .help = "choose the metrics of lists, or show them" },
	{ SECTION_FUNCTIONS, "sort", METRIC_SPEC, .run = cmd_sort,
	  .help = "choose the metric to sort lists by, or show it" },
	{ SECTION_FUNCTIONS, "metric_list", .run = cmd_metric_list,
	  .help = "list the metrics that the data supports" },
	{ SECTION_FUNCTIONS, "fsummary", .run = cmd_fsummary,
	  .help = "summarize each function of the list" },
	{ SECTION_FUNCTIONS, "fsingle", FUNCTION, .run = cmd_fsingle,
	  .help = "summarize one function, the nth of that name" },

	{ SECTION_CALLERS, "callers-callees", "gprof", .run = cmd_callers_callees,
	  .help = "show each function with callers and callees" },
	{ SECTION_CALLERS, "csingle", FUNCTION, .run = cmd_csingle,
	  .help = "show one function with callers and callees" },
	{ SECTION_CALLERS, "cmetrics", METRIC_SPEC, .run = cmd_cmetrics,
	  .help = "choose their metrics, or show them" },
	{ SECTION_CALLERS, "csort", METRIC_SPEC, .run = cmd_csort,
	  .help = "choose the metric to sort them by, or show it" },
	{ SECTION_CALLERS, "calltree", "ctree", .view = view_calltree,
	  .help = "show who called whom as a tree" },

	{ SECTION_INDEX, "threads", .run = cmd_threads, .help = "list the threads" },
	{ SECTION_INDEX, "processes", .run = cmd_processes, .help = "list the processes" },
	{ SECTION_INDEX, "cpus", .run = cmd_cpus, .help = "list the CPUs" },
	{ SECTION_INDEX, "samples", .run = cmd_samples,
	  .help = "list the samples, periods the recorder marked" },
	{ SECTION_INDEX, "seconds", .run = cmd_seconds, .help = "list the seconds of the recording" },

	{ SECTION_EXPERIMENTS, "experiment_list", "exp_list", .view = view_experiment_list,
	  .help = "list the experiments with their numbers" },
	{ SECTION_EXPERIMENTS, "sample_list", .view = view_sample_list,
	  .help = "list how many samples experiments have" },
	{ SECTION_EXPERIMENTS, "filters", .args = "[filter_expression]", .max = 1, .option_args = 1,
	  .run = cmd_filters, .help = "report only what this is true for, or show it" },

	{ SECTION_OBJECTS, "objects", .view = view_objects,
	  .help = "list the load objects and what is wrong there" },
	{ SECTION_OBJECTS, "object_list", .view = view_object_list,
	  .help = "list the load objects, shown or hidden" },
	{ SECTION_OBJECTS, "object_show", OBJECTS, .run = cmd_object_show,
	  .help = "show the functions of these load objects" },
	{ SECTION_OBJECTS, "object_hide", OBJECTS, .run = cmd_object_hide,
	  .help = "show each of these load objects as one line" },
	{ SECTION_OBJECTS, "object_select", OBJECTS, .run = cmd_object_select,
	  .help = "show the functions of these objects only" },
	{ SECTION_OBJECTS, "objects_default", .run = cmd_objects_default,
	  .help = "show load objects as at the start" },

	{ SECTION_OUTPUT, "outfile", FILE_NAME, .run = cmd_outfile,
	  .help = "write to this file; - stdout, -- stderr" },
	{ SECTION_OUTPUT, "appendfile", FILE_NAME, .run = cmd_appendfile,
	  .help = "write to the end of this file" },
	{ SECTION_OUTPUT, "limit", .args = "[n]", .max = 1, .option_args = 1, .run = cmd_limit,
	  .help = "print the first n entries, all for 0" },
	{ SECTION_OUTPUT, "name", .args = "[long|short|mangled[:soname|:nosoname]]", .max = 1,
	  .option_args = 1, .run = cmd_name, .help = "choose how functions are named" },
	{ SECTION_OUTPUT, "printmode", .args = "[text | delimiter]", .max = 1, .option_args = 1,
	  .run = cmd_printmode, .help = "print tables as text, or delimited" },

	{ SECTION_REPORTS, "header", EXPERIMENT, .run = cmd_header,
	  .help = "describe experiments, with what was lost" },
	{ SECTION_REPORTS, "overview", EXPERIMENT, .run = cmd_overview,
	  .help = "show what was recorded and how much" },
	{ SECTION_REPORTS, "statistics", EXPERIMENT, .run = cmd_statistics,
	  .help = "show the resources used" },

	{ SECTION_MISC, "script", FILE_NAME, .run = cmd_script,
	  .help = "run the commands in this file" },
	{ SECTION_MISC, "version", .bare = true, .run = cmd_version, .help = "show the version" },
	{ SECTION_MISC, "help", .bare = true, .run = cmd_help, .help = "list the commands" },
	{ SECTION_MISC, "quit", "exit", .bare = true, .run = cmd_quit,
	  .help = "end the script or the session" },
};

const size_t ncommands = sizeof(commands) / sizeof(commands[0]);

static bool is_named(const struct command *c, const char *name)
{
	return !strcasecmp(c->name, name) || (c->alias && !strcasecmp(c->alias, name));
}

static bool begins_with(const struct command *c, const char *text)
{
	size_t n = strlen(text);

	return !strncasecmp(c->name, text, n) || (c->alias && !strncasecmp(c->alias, text, n));
}

const struct command *command_find(const char *name, struct diag *d)
{
	const struct command *found = NULL;
	struct buf candidates = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < ncommands; i++) {
		if (is_named(&commands[i], name)) {
			buf_free(&candidates);
			return &commands[i];
		}
		if (!*name || !begins_with(&commands[i], name))
			continue;
		found = &commands[i];
		buf_printf(&candidates, "%s%s", n++ ? ", " : "", found->name);
	}
	if (n == 0)
		diag_error(d, "command '%s': unknown; help lists the commands", name);
	else if (n > 1)
		diag_error(d, "command '%s': ambiguous; it may be %s", name, candidates.data);
	buf_free(&candidates);
	return n == 1 ? found : NULL;
}

int command_check_args(const struct command *c, int nargs, struct diag *d)
{
	if (nargs >= c->min && nargs <= c->max)
		return 0;
	if (!c->max)
		return diag_error(d, "%s: takes no argument", c->name);
	if (nargs < c->min)
		return diag_error(d, "%s: needs an argument: %s %s", c->name, c->name, c->args);
	return diag_error(d, "%s: too many arguments: %s %s; one with blanks in it stands in "
			  "double quotes", c->name, c->name, c->args);
}

static void help_line(FILE *f, const struct command *c)
{
	struct buf b = { 0 };

	buf_printf(&b, "%s%s%s%s%s", c->name, c->alias ? ", " : "", c->alias ? c->alias : "",
		   c->args ? " " : "", c->args ? c->args : "");
	/* What is too long for its column has a line of its own. */
	if (b.len > 30)
		fprintf(f, "  %s\n  %30s  %s\n", b.data, "", c->help);
	else
		fprintf(f, "  %-30s  %s\n", b.data, c->help);
	buf_free(&b);
}

void command_help(FILE *f)
{
	for (size_t i = 0; i < ncommands; i++) {
		if (!i || commands[i].section != commands[i - 1].section)
			fprintf(f, "%s%s:\n", i ? "\n" : "", section_titles[commands[i].section]);
		help_line(f, &commands[i]);
	}
	fputs("\nAny beginning of a name that fits no other command will do.\n", f);
}
