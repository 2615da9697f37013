/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands on metric lists. The function list leads. When it changes, the lists of
 * callers-callees and of index objects follow it; when its sort order changes, theirs follow.
 */
#include <string.h>

#include "analysis/command/command.h"
#include "analysis/command/shell.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

static void reply_list(struct shell *sh, const char *setting, const struct metric_list *l)
{
	struct buf b = { 0 };

	metric_list_print(l, &b);
	shell_reply_as(sh, setting, b.data);
	buf_free(&b);
}

static void reply_sort(struct shell *sh, const char *setting, const struct metric_sort *s)
{
	struct buf b = { 0 };

	metric_sort_print(s, &b);
	shell_reply_as(sh, setting, b.data);
	buf_free(&b);
}

static void sorts_follow(struct view_state *v)
{
	metric_sort_callers(&v->sort, &v->csort);
	view_sorts_follow(v);
}

static void replace(struct metric_list *l, struct metric_list *by)
{
	metric_list_free(l);
	*l = *by;
}

static int cmd_metrics(struct shell *sh, int argc, char **argv)
{
	struct view_state *v = &sh->view;
	struct metric_list callers = { 0 };

	if (argc > 1) {
		if (metric_list_parse(&sh->metric_set, LIST_FUNCS, argv[1], &sh->diag, &v->metrics))
			return -1;
		metric_list_callers(&v->metrics, &callers);
		replace(&v->cmetrics, &callers);
		view_objects_follow(v);
		metric_sort_default(&sh->metric_set, &v->metrics, LIST_FUNCS, &v->sort);
		sorts_follow(v);
	}
	reply_list(sh, "metrics", &v->metrics);
	return 0;
}

static int cmd_sort(struct shell *sh, int argc, char **argv)
{
	struct view_state *v = &sh->view;

	if (argc > 1) {
		if (metric_sort_parse(&sh->metric_set, &v->metrics, LIST_FUNCS, argv[1], &sh->diag,
				      &v->sort))
			return -1;
		sorts_follow(v);
	}
	reply_sort(sh, "sort", &v->sort);
	return 0;
}

static int cmd_cmetrics(struct shell *sh, int argc, char **argv)
{
	struct metric_list *l = &sh->view.cmetrics, following = { 0 };

	/* The default is to follow the current function list. */
	if (argc > 1 && !strcmp(argv[1], "default")) {
		metric_list_callers(&sh->view.metrics, &following);
		replace(l, &following);
		argc = 1;
	}
	if (argc > 1 && metric_list_parse(&sh->metric_set, LIST_CALLERS, argv[1], &sh->diag, l))
		return -1;
	reply_list(sh, "cmetrics", l);
	return 0;
}

static int cmd_csort(struct shell *sh, int argc, char **argv)
{
	struct view_state *v = &sh->view;

	if (argc > 1 && !strcmp(argv[1], "default")) {
		metric_sort_callers(&v->sort, &v->csort);
		argc = 1;
	}
	if (argc > 1 && metric_sort_parse(&sh->metric_set, &v->cmetrics, LIST_CALLERS, argv[1],
					  &sh->diag, &v->csort))
		return -1;
	reply_sort(sh, "csort", &v->csort);
	return 0;
}

static void add_metric(struct table *t, const char *keyword, const char *label)
{
	struct row *r = table_row(t);

	r->cells[0] = (struct cell){ .kind = CELL_TEXT, .s = arena_strdup(&t->arena, keyword) };
	r->cells[1] = (struct cell){ .kind = CELL_TEXT, .s = label };
}

/* The visibilities that a metric can have. */
static const char *visibilities(const struct metric *m)
{
	if (m->unit == UNIT_RATIO)
		return "+";
	if (m->unit == UNIT_TIME)
		return ".%";
	return metric_has_time(m) ? ".+%" : "+%";
}

static void add_statics(struct table *t, bool all)
{
	add_metric(t, "name", "Name");
	if (!all)
		return;
	add_metric(t, "size", "Size");
	add_metric(t, "address", "PC Address");
}

/*
 * Print a list of metrics and its sort order, the commands that set them, and all metrics that
 * the list can have in these flavors.
 */
static int list_metrics(struct shell *sh, const char *name, const char *const settings[2],
			const char *flavors,
			const struct metric_list *l, const struct metric_sort *sort,
			bool all_statics)
{
	struct table t = { .name = name };

	vec_push(&t.columns, (struct column){ .kind = CELL_TEXT, .title = { "Keyword" } });
	vec_push(&t.columns, (struct column){ .kind = CELL_TEXT, .title = { "Metric" } });
	vec_for_each(m, &sh->metric_set.all) {
		char *keyword;

		/* Only packets with data addresses have data-derived metrics. */
		if (flavors[0] == 'd' && m->kind != ER_PKT_MHWC)
			continue;
		keyword = xasprintf("%s%s%s", flavors, visibilities(m), m->name);
		add_metric(&t, keyword, m->uname);
		free(keyword);
	}
	add_statics(&t, all_statics);
	reply_list(sh, settings[0], l);
	reply_sort(sh, settings[1], sort);
	return shell_print(sh, &t, 0);
}

static int cmd_metric_list(struct shell *sh, int argc, char **argv)
{
	static const char *const settings[] = { "metrics", "sort" };

	return list_metrics(sh, "metric_list", settings, "ei", &sh->view.metrics, &sh->view.sort, true);
}

static int cmd_cmetric_list(struct shell *sh, int argc, char **argv)
{
	static const char *const settings[] = { "cmetrics", "csort" };

	return list_metrics(sh, "cmetric_list", settings, "aei", &sh->view.cmetrics, &sh->view.csort, true);
}

static int cmd_indx_metric_list(struct shell *sh, int argc, char **argv)
{
	static const char *const settings[] = { "indxobj_metrics", "indxobj_sort" };

	return list_metrics(sh, "indx_metric_list", settings, "e", &sh->view.imetrics, &sh->view.isort, false);
}

static int cmd_data_metric_list(struct shell *sh, int argc, char **argv)
{
	static const char *const settings[] = { "data_metrics", "data_sort" };

	return list_metrics(sh, "data_metric_list", settings, "d", &sh->view.dmetrics, &sh->view.dsort, false);
}

static const char *const compare_words[] = {
	[COMPARE_OFF] = "off", [COMPARE_ON] = "on", [COMPARE_DELTA] = "delta",
	[COMPARE_RATIO] = "ratio",
};

/* Discard the tally, because comparing changes its columns. */
static int set_compare(struct shell *sh, enum compare how)
{
	if (metric_set_compare(&sh->metric_set, sh->session, how, &sh->diag))
		return -1;
	shell_groups_changed(sh);
	/* In .er.rc files the setting is kept for sessions with several experiments. */
	if (how != COMPARE_OFF && !sh->metric_set.compare && !sh->in_rc)
		return diag_error(&sh->diag,
				  "compare: only one experiment or group is open: name two, or "
				  "open another with add_exp");
	return 0;
}

static int cmd_compare(struct shell *sh, int argc, char **argv)
{
	int how = -1;

	for (int i = COMPARE_OFF; argc > 1 && i <= COMPARE_RATIO; i++) {
		if (!strcmp(argv[1], compare_words[i]))
			how = i;
	}
	if (argc > 1 && how < 0)
		return diag_error(&sh->diag, "compare '%s': write on, off, delta or ratio",
				  argv[1]);
	if (argc > 1 && set_compare(sh, how))
		return -1;
	shell_reply(sh, compare_words[sh->metric_set.compare]);
	return 0;
}

static const struct command rows[] = {
	{ SECTION_FUNCTIONS, "metrics", ARGS_METRIC_SPEC, .run = cmd_metrics,
	  .help = "choose the metrics of lists, or show them" },
	{ SECTION_FUNCTIONS, "sort", ARGS_METRIC_SPEC, .run = cmd_sort,
	  .help = "choose the metric to sort lists by, or show it" },
	{ SECTION_FUNCTIONS, "metric_list", .run = cmd_metric_list,
	  .help = "list the metrics that the data supports" },
	{ SECTION_FUNCTIONS, "cmetric_list", "gmetric_list", .run = cmd_cmetric_list,
	  .help = "list the metrics of callers and callees" },
	{ SECTION_FUNCTIONS, "indx_metric_list", .run = cmd_indx_metric_list,
	  .help = "list the metrics of index objects" },
	{ SECTION_FUNCTIONS, "data_metric_list", .run = cmd_data_metric_list,
	  .help = "list the metrics of memory objects" },

	{ SECTION_CALLERS, "cmetrics", ARGS_METRIC_SPEC, .run = cmd_cmetrics,
	  .help = "choose the metrics of these lists, or show them" },
	{ SECTION_CALLERS, "csort", ARGS_METRIC_SPEC, .run = cmd_csort,
	  .help = "choose the sort metric of these lists, or show it" },

	{ SECTION_OUTPUT, "compare", .args = "[on|off|delta|ratio]", .max = 1, .option_args = 1,
	  .run = cmd_compare, .rc = RC_FIRST,
	  .help = "show experiments or groups side by side" },
};

const struct command_rows metric_commands = COMMAND_ROWS(rows);
