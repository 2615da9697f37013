/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists of index objects and memory objects. The name of a type is a command, too. Built-in index
 * types have rows of their own in the table. The names of all other types mean indxobj or memobj
 * with that type.
 */
#include <string.h>
#include <strings.h>

#include "analysis/base/buf.h"
#include "analysis/command/choose.h"
#include "analysis/command/command.h"
#include "analysis/command/shell.h"
#include "analysis/views/table.h"
#include "analysis/views/view.h"

/* A type of this kind by its name or by a unique beginning of it. */
static const struct objtype *find_type(const struct objtypes *types, enum objkind kind,
				       const char *name)
{
	const struct objtype *found = objtype_find(types, name);
	size_t n = 0;

	if (found)
		return found->kind == kind ? found : NULL;
	vec_for_each(t, &types->all) {
		if (t->kind != kind || !*name || strncasecmp(t->name, name, strlen(name)))
			continue;
		found = t;
		n++;
	}
	return n == 1 ? found : NULL;
}

static int print_type(struct shell *sh, enum objkind kind, const char *name)
{
	const struct objtype *type = find_type(&sh->view.types, kind, name);
	struct table t = { 0 };

	if (!type)
		return diag_error(&sh->diag, "%s type '%s': unknown; %s lists the types",
				  objkind_name(kind), name,
				  kind == OBJ_MEMORY ? "mobj_list" : "indxobj_list");
	return shell_print(sh, &t, view_index(&sh->view, type, &t, &sh->diag));
}

static int cmd_indxobj(struct shell *sh, int argc, char **argv)
{
	return print_type(sh, OBJ_INDEX, argv[1]);
}

static int cmd_memobj(struct shell *sh, int argc, char **argv)
{
	return print_type(sh, OBJ_MEMORY, argv[1]);
}

/*
 * Define a type. Names of commands are refused, because the type could not be told from the
 * command.
 */
static int define(struct shell *sh, enum objkind kind, char **argv)
{
	const struct command *c;

	for (size_t i = 0; (c = command_at(i)); i++) {
		if (!c->type && (!strcasecmp(c->name, argv[1]) ||
				 (c->alias && !strcasecmp(c->alias, argv[1]))))
			return diag_error(&sh->diag,
					  "%s type '%s': is the name of a command; choose "
					  "another name",
					  objkind_name(kind), argv[1]);
	}
	return objtype_define(&sh->view.types, sh->session, kind, argv[1], argv[2], &sh->diag);
}

static int cmd_indxobj_define(struct shell *sh, int argc, char **argv)
{
	return define(sh, OBJ_INDEX, argv);
}

static int cmd_mobj_define(struct shell *sh, int argc, char **argv)
{
	return define(sh, OBJ_MEMORY, argv);
}

static int set_metrics(struct shell *sh, enum list_kind kind, struct metric_list *l,
		       struct metric_sort *sort, int argc, char **argv)
{
	struct buf b = { 0 };

	if (argc > 1) {
		if (metric_list_parse(&sh->metric_set, kind, argv[1], &sh->diag, l))
			return -1;
		metric_sort_default(&sh->metric_set, l, kind, sort);
	}
	metric_list_print(l, &b);
	shell_reply(sh, b.data);
	buf_free(&b);
	return 0;
}

static int set_sort(struct shell *sh, enum list_kind kind, const struct metric_list *l,
		    struct metric_sort *sort, int argc, char **argv)
{
	struct buf b = { 0 };

	if (argc > 1 && metric_sort_parse(&sh->metric_set, l, kind, argv[1], &sh->diag, sort))
		return -1;
	metric_sort_print(sort, &b);
	shell_reply(sh, b.data);
	buf_free(&b);
	return 0;
}

static int cmd_indxobj_metrics(struct shell *sh, int argc, char **argv)
{
	return set_metrics(sh, LIST_INDEX, &sh->view.imetrics, &sh->view.isort, argc, argv);
}

static int cmd_indxobj_sort(struct shell *sh, int argc, char **argv)
{
	return set_sort(sh, LIST_INDEX, &sh->view.imetrics, &sh->view.isort, argc, argv);
}

static int cmd_data_metrics(struct shell *sh, int argc, char **argv)
{
	return set_metrics(sh, LIST_DATA, &sh->view.dmetrics, &sh->view.dsort, argc, argv);
}

static int cmd_data_sort(struct shell *sh, int argc, char **argv)
{
	return set_sort(sh, LIST_DATA, &sh->view.dmetrics, &sh->view.dsort, argc, argv);
}

static int cmd_data_single(struct shell *sh, int argc, char **argv)
{
	struct table t = { 0 };
	size_t nth = argc > 2 ? choose_number(argv[2]) : 0;

	if (argc > 2 && !nth)
		return diag_error(&sh->diag,
				  "data_single: '%s': not a number from 1 upwards",
				  argv[2]);
	return shell_print(sh, &t, view_data_single(&sh->view, argv[1], nth, &t, &sh->diag));
}

#define ARGS_TYPE   .args = "type", .min = 1, .max = 1, .option_args = 1
#define ARGS_DEFINE .args = "type expression", .min = 2, .max = 2, .option_args = 2, .rc = RC_EVERY

static const struct command rows[] = {
	{ SECTION_INDEX, "threads", .type = "Threads", .help = "list the threads" },
	{ SECTION_INDEX, "processes", .type = "Processes", .help = "list the processes" },
	{ SECTION_INDEX, "cpus", .type = "CPUs", .help = "list the CPUs" },
	{ SECTION_INDEX, "samples", .type = "Samples",
	  .help = "list the samples, which are periods of time" },
	{ SECTION_INDEX, "seconds", .type = "Seconds",
	  .help = "list the seconds of the recording" },
	{ SECTION_INDEX, "experiment_ids", .type = "Experiment_IDs",
	  .help = "list the experiments" },
	{ SECTION_INDEX, "goroutines", .type = "Goroutines", .help = "list the goroutines of Go programs" },
	{ SECTION_INDEX, "lifetimes", .view = view_lifetimes,
	  .help = "list the programs of processes and how they ended" },
	{ SECTION_INDEX, "states", .type = "States", .help = "list the microstates" },
	{ SECTION_INDEX, "reasons", .type = "Reasons", .help = "list the reasons of waits" },
	{ SECTION_INDEX, "comms", .type = "Comms", .help = "list the names of threads" },
	{ SECTION_INDEX, "cgroups", .type = "Cgroups", .help = "list the cgroups" },
	{ SECTION_INDEX, "datasize", .type = "Datasize",
	  .help = "list the sizes of allocations and I/O" },
	{ SECTION_INDEX, "duration", .type = "Duration",
	  .help = "list waits and calls by their length" },
	{ SECTION_INDEX, "indxobj", ARGS_TYPE, .run = cmd_indxobj,
	  .help = "list the index objects of a type" },
	{ SECTION_INDEX, "indxobj_list", .view = view_indxobj_list,
	  .help = "list the types of index objects" },
	{ SECTION_INDEX, "indxobj_define", ARGS_DEFINE, .run = cmd_indxobj_define,
	  .help = "define a type of index objects" },
	{ SECTION_INDEX, "indxobj_metrics", ARGS_METRIC_SPEC, .run = cmd_indxobj_metrics,
	  .help = "choose the metrics of these lists, or show them" },
	{ SECTION_INDEX, "indxobj_sort", ARGS_METRIC_SPEC, .run = cmd_indxobj_sort,
	  .help = "choose the sort metric of these lists, or show it" },

	{ SECTION_DATA, "data_objects", .view = view_data_objects,
	  .help = "list the variables that were used" },
	{ SECTION_DATA, "data_single", .args = "name [n]", .min = 1, .max = 2, .option_args = 1,
	  .run = cmd_data_single, .help = "summarize one variable, the nth of that name" },
	{ SECTION_DATA, "data_layout", .view = view_data_layout,
	  .help = "list the variables with the offsets that were used" },
	{ SECTION_DATA, "memobj", ARGS_TYPE, .run = cmd_memobj,
	  .help = "list the memory objects of a type" },
	{ SECTION_DATA, "mobj_list", .view = view_mobj_list,
	  .help = "list the types of memory objects" },
	{ SECTION_DATA, "mobj_define", ARGS_DEFINE, .run = cmd_mobj_define,
	  .help = "define a type of memory objects" },
	{ SECTION_DATA, "data_metrics", ARGS_METRIC_SPEC, .run = cmd_data_metrics,
	  .help = "choose the metrics of these lists, or show them" },
	{ SECTION_DATA, "data_sort", ARGS_METRIC_SPEC, .run = cmd_data_sort,
	  .help = "choose the sort metric of these lists, or show it" },
};

const struct command_rows index_commands = COMMAND_ROWS(rows);

const struct command *command_of_type(const struct objtypes *types, const char *name)
{
	const struct objtype *type = objtype_find(types, name);

	for (size_t i = 0; type && i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].run == (type->kind == OBJ_MEMORY ? cmd_memobj : cmd_indxobj))
			return &rows[i];
	}
	return NULL;
}
