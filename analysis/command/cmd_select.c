/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands that choose which data is reported: experiments, selections and filters. */
#include <string.h>

#include "analysis/command/command.h"
#include "analysis/command/shell.h"
#include "analysis/metrics/filter.h"
#include "analysis/metrics/twice.h"
#include "analysis/views/table.h"
#include "analysis/views/view.h"
#include "analysis/views/view_state.h"

/* Replace the filter, keep the selection. A filter without an expression can carry a selection. */
static void set_filter(struct view_state *v, struct filter *f)
{
	filter_free(v->filter);
	v->filter = f;
	filter_select(f, &v->selection);
	view_state_changed(v);
}

static void put_filter(const char *arg, struct buf *b)
{
	buf_puts(b, arg);
}

static void put_pid(const char *arg, struct buf *b)
{
	buf_printf(b, "PID IN (%s)", arg);
}

static void put_comm(const char *arg, struct buf *b)
{
	buf_puts(b, "COMM IN (\"");
	for (; *arg; arg++)
		buf_printf(b, "%s%c", *arg == '"' ? "\\" : "", *arg);
	buf_puts(b, "\")");
}

static void put_from(const char *arg, struct buf *b)
{
	buf_printf(b, "TSTAMP >= %s", arg);
}

static void put_to(const char *arg, struct buf *b)
{
	buf_printf(b, "TSTAMP < %s", arg);
}

/* The commands whose arguments are combined into the filter. */
static const struct {
	const char *name;
	/* writes the expression that the argument means */
	void (*put)(const char *arg, struct buf *b);
	/* characters that the argument may have, and those it may end in; NULL: any */
	const char *chars, *last;
	const char *wants;
} parts[FILTER_PARTS] = {
	[FILTER_EXPRESSION] = { "filters", put_filter, NULL, NULL, NULL },
	[FILTER_PID] = { "pid", put_pid, "0123456789,", "0123456789", "numbers, joined by commas" },
	[FILTER_COMM] = { "comm", put_comm, NULL, NULL, NULL },
	[FILTER_FROM] = { "from", put_from, "0123456789.numsNUMS", "s",
			  "a time with its unit: 3s, 1500ms, 20us or 7ns" },
	[FILTER_TO] = { "to", put_to, "0123456789.numsNUMS", "s",
			"a time with its unit: 3s, 1500ms, 20us or 7ns" },
};

/* Check one part alone, so that the message shows the faulty text within that part. */
static int check_part(struct shell *sh, enum filter_part part, const char *arg)
{
	size_t n = strlen(arg);
	struct buf b = { 0 };
	struct filter *f;

	if (parts[part].chars && (arg[strspn(arg, parts[part].chars)] ||
				  !strchr(parts[part].last, arg[n - 1])))
		return diag_error(&sh->diag, "%s '%s': not %s", parts[part].name, arg,
				  parts[part].wants);
	parts[part].put(arg, &b);
	f = filter_parse(sh->session, &sh->view.types, b.data, &sh->diag);
	buf_free(&b);
	filter_free(f);
	return f ? 0 : -1;
}

static bool names_twice(const char *expression)
{
	return expression && strcasestr(expression, "TWICE");
}

/*
 * Whether packets are left out that two of the experiments have. Not in a comparison, where each
 * experiment has columns of its own, and not if the user's expression says which ones count.
 */
static bool counts_once(const struct shell *sh)
{
	const struct experiment *system, *program;

	return !sh->metric_set.compare && !names_twice(sh->filter_parts[FILTER_EXPRESSION]) &&
	       twice_find(sh->session, &system, &program);
}

/* Build the filter from the first n parts; several are joined by &&. */
static struct filter *build_filter(struct shell *sh, int nparts)
{
	bool once = counts_once(sh), several = false;
	struct filter *f;
	struct buf b = { 0 };

	buf_puts(&b, "");
	for (int i = 0, n = once; i < nparts; i++)
		several |= sh->filter_parts[i] && n++;
	for (int i = 0; i < nparts; i++) {
		bool quoted = several && i == FILTER_EXPRESSION;

		if (!sh->filter_parts[i])
			continue;
		buf_puts(&b, b.len ? " && " : "");
		buf_puts(&b, quoted ? "(" : "");
		parts[i].put(sh->filter_parts[i], &b);
		buf_puts(&b, quoted ? ")" : "");
	}
	if (once)
		buf_printf(&b, "%sTWICE==0", b.len ? " && " : "");
	f = filter_parse(sh->session, &sh->view.types, b.data, &sh->diag);
	buf_free(&b);
	return f;
}

static struct filter *whole_filter(struct shell *sh)
{
	return build_filter(sh, FILTER_PARTS);
}

_Static_assert(FILTER_FROM + 1 == FILTER_TO && FILTER_TO + 1 == FILTER_PARTS, "times are last");

struct filter *shell_filter_without_times(struct shell *sh)
{
	struct filter *f = build_filter(sh, FILTER_FROM);

	if (f && !*filter_text(f) && !sh->view.selection.experiments.len) {
		filter_free(f);
		return NULL;
	}
	if (f)
		filter_select(f, &sh->view.selection);
	return f;
}

int64_t shell_time(const struct shell *sh, enum filter_part part, int64_t otherwise)
{
	int64_t ns;

	return sh->filter_parts[part] && filter_time(sh->filter_parts[part], &ns) ? ns : otherwise;
}

void shell_count_once(struct shell *sh)
{
	const struct experiment *system, *program;
	struct filter *f;

	if (!sh->opened || !twice_find(sh->session, &system, &program))
		return;
	f = whole_filter(sh);
	if (f)
		set_filter(&sh->view, f);
}

void shell_groups_changed(struct shell *sh)
{
	session_join(sh->session, sh->metric_set.compare != COMPARE_OFF);
	shell_count_once(sh);
	view_state_changed(&sh->view);
}

/* Set one part; an empty argument removes it. */
static int set_part(struct shell *sh, enum filter_part part, const char *arg)
{
	char *old = sh->filter_parts[part];
	struct filter *f;

	if (*arg && check_part(sh, part, arg))
		return -1;
	sh->filter_parts[part] = *arg ? xstrdup(arg) : NULL;
	f = whole_filter(sh);
	if (!f) {
		free(sh->filter_parts[part]);
		sh->filter_parts[part] = old;
		return -1;
	}
	free(old);
	set_filter(&sh->view, f);
	return 0;
}

static int filter_command(struct shell *sh, enum filter_part part, int argc, char **argv)
{
	const char *text = sh->filter_parts[part];

	if (argc > 1)
		return set_part(sh, part, argv[1]);
	if (part == FILTER_EXPRESSION)
		text = sh->view.filter ? filter_text(sh->view.filter) : NULL;
	shell_reply(sh, text && *text ? text : "none");
	return 0;
}

static int cmd_filters(struct shell *sh, int argc, char **argv)
{
	return filter_command(sh, FILTER_EXPRESSION, argc, argv);
}

static int cmd_pid(struct shell *sh, int argc, char **argv)
{
	return filter_command(sh, FILTER_PID, argc, argv);
}

static int cmd_comm(struct shell *sh, int argc, char **argv)
{
	return filter_command(sh, FILTER_COMM, argc, argv);
}

static int cmd_from(struct shell *sh, int argc, char **argv)
{
	return filter_command(sh, FILTER_FROM, argc, argv);
}

static int cmd_to(struct shell *sh, int argc, char **argv)
{
	return filter_command(sh, FILTER_TO, argc, argv);
}

typedef int (*list_view)(struct view_state *v, struct table *t, struct diag *d);

/* Change the selection and show what is selected. */
static int choose(struct shell *sh, enum select_kind kind, const char *text, list_view list)
{
	struct table t = { 0 };
	struct view_state *v = &sh->view;

	if (selection_parse(&v->selection, sh->session, kind, text, &sh->diag))
		return -1;
	if (!v->filter)
		set_filter(v, filter_new());
	view_state_changed(v);
	return shell_print(sh, &t, list(v, &t, &sh->diag));
}

static int cmd_sample_select(struct shell *sh, int argc, char **argv)
{
	return choose(sh, SELECT_SAMPLE, argv[1], view_sample_list);
}

static int cmd_thread_select(struct shell *sh, int argc, char **argv)
{
	return choose(sh, SELECT_THREAD, argv[1], view_thread_list);
}

static int cmd_lwp_select(struct shell *sh, int argc, char **argv)
{
	return choose(sh, SELECT_LWP, argv[1], view_lwp_list);
}

static int cmd_cpu_select(struct shell *sh, int argc, char **argv)
{
	return choose(sh, SELECT_CPU, argv[1], view_cpu_list);
}

#define PART .max = 1, .option_args = 1, .filters = true

#define SELECTION .args = "list", .min = 1, .max = 1, .option_args = 1, .filters = true

static const struct command rows[] = {
	{ SECTION_EXPERIMENTS, "experiment_list", "exp_list", .view = view_experiment_list,
	  .help = "list the experiments with their numbers" },
	{ SECTION_EXPERIMENTS, "sample_list", .view = view_sample_list,
	  .help = "list which samples are selected" },
	{ SECTION_EXPERIMENTS, "thread_list", .view = view_thread_list,
	  .help = "list which threads are selected" },
	{ SECTION_EXPERIMENTS, "lwp_list", .view = view_lwp_list,
	  .help = "list which LWPs are selected" },
	{ SECTION_EXPERIMENTS, "cpu_list", .view = view_cpu_list,
	  .help = "list which CPUs are selected" },
	{ SECTION_EXPERIMENTS, "filters", .args = "[filter_expression]", .max = 1, .option_args = 1,
	  .run = cmd_filters, .filters = true,
	  .help = "report only data for which this is true, or show it" },
	{ SECTION_EXPERIMENTS, "pid", .args = "[pid,...]", PART, .run = cmd_pid,
	  .help = "report only these processes" },
	{ SECTION_EXPERIMENTS, "comm", .args = "[regexp]", PART, .run = cmd_comm,
	  .help = "report only threads with matching names" },
	{ SECTION_EXPERIMENTS, "from", .args = "[time]", PART, .run = cmd_from,
	  .help = "report only data that ended then or later: from 3s" },
	{ SECTION_EXPERIMENTS, "to", .args = "[time]", PART, .run = cmd_to,
	  .help = "report only data that ended before: to 5s" },
	{ SECTION_EXPERIMENTS, "describe", .view = view_describe,
	  .help = "list what filter expressions can use" },
	{ SECTION_EXPERIMENTS, "sample_select", SELECTION, .run = cmd_sample_select,
	  .help = "report only these samples" },
	{ SECTION_EXPERIMENTS, "thread_select", SELECTION, .run = cmd_thread_select,
	  .help = "report only these threads" },
	{ SECTION_EXPERIMENTS, "lwp_select", SELECTION, .run = cmd_lwp_select,
	  .help = "report only these LWPs" },
	{ SECTION_EXPERIMENTS, "cpu_select", SELECTION, .run = cmd_cpu_select,
	  .help = "report only these CPUs" },
};

const struct command_rows select_commands = COMMAND_ROWS(rows);
