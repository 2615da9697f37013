/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands that print a view and need an argument to choose what of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/command/command.h"
#include "analysis/command/shell.h"

/* A positive number, or 0 after finding none. */
static unsigned long number(const char *s)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(s, &end, 10);
	return errno || *end || *s < '0' || *s > '9' ? 0 : n;
}

static void list_candidates(struct shell *sh, const func_vec *found)
{
	for (size_t i = 0; i < found->len; i++) {
		const struct func *f = found->data[i];

		diag_note(&sh->diag, "%zu: %s in %s at 0x%llx%s%s", i + 1, f->long_name,
			  f->obj->name, (unsigned long long)f->addr, f->srcfile ? ", " : "",
			  f->srcfile ? f->srcfile : "");
	}
}

/* `name [n]` (P-019): n counts from 1 and is passed over where the name says it all. */
static struct func *choose(struct shell *sh, const func_vec *found, int argc, char **argv)
{
	unsigned long n = argc > 2 ? number(argv[2]) : 0;

	if (found->len == 1)
		return found->data[0];
	if (!found->len)
		diag_error(&sh->diag, "function '%s': none of that name was seen; functions lists "
			   "the names", argv[1]);
	else if (n >= 1 && n <= found->len)
		return found->data[n - 1];
	else if (argc > 2)
		diag_error(&sh->diag, "function '%s': there is no number '%s' among the %zu of that "
			   "name:", argv[1], argv[2], found->len);
	else
		diag_error(&sh->diag, "function '%s': %zu have that name; give the number of one "
			   "after it:", argv[1], found->len);
	list_candidates(sh, found);
	return NULL;
}

typedef int (*func_view)(struct view_state *v, const struct func *only, struct table *t,
			 struct diag *d);

static int one_function(struct shell *sh, func_view view, int argc, char **argv)
{
	struct table t = { 0 };
	func_vec found = { 0 };
	const struct func *f;

	session_find_funcs(sh->session, argv[1], &found);
	f = choose(sh, &found, argc, argv);
	vec_free(&found);
	return f ? shell_print(sh, &t, view(&sh->view, f, &t, &sh->diag)) : -1;
}

static int all_functions(struct shell *sh, func_view view)
{
	struct table t = { 0 };

	return shell_print(sh, &t, view(&sh->view, NULL, &t, &sh->diag));
}

int cmd_fsummary(struct shell *sh, int argc, char **argv)
{
	return all_functions(sh, view_summary);
}

int cmd_fsingle(struct shell *sh, int argc, char **argv)
{
	return one_function(sh, view_summary, argc, argv);
}

int cmd_callers_callees(struct shell *sh, int argc, char **argv)
{
	return all_functions(sh, view_callers_callees);
}

int cmd_csingle(struct shell *sh, int argc, char **argv)
{
	return one_function(sh, view_callers_callees, argc, argv);
}

static int index_list(struct shell *sh, enum index_kind kind)
{
	struct table t = { 0 };

	return shell_print(sh, &t, view_index(&sh->view, kind, &t, &sh->diag));
}

int cmd_threads(struct shell *sh, int argc, char **argv)
{
	return index_list(sh, INDEX_THREADS);
}

int cmd_processes(struct shell *sh, int argc, char **argv)
{
	return index_list(sh, INDEX_PROCESSES);
}

int cmd_cpus(struct shell *sh, int argc, char **argv)
{
	return index_list(sh, INDEX_CPUS);
}

int cmd_samples(struct shell *sh, int argc, char **argv)
{
	return index_list(sh, INDEX_SAMPLES);
}

int cmd_seconds(struct shell *sh, int argc, char **argv)
{
	return index_list(sh, INDEX_SECONDS);
}

typedef int (*exp_view)(struct view_state *v, const struct experiment *e, struct table *t,
			struct diag *d);

/* `[experiment_id | all]` */
static int experiment_report(struct shell *sh, exp_view view, int argc, char **argv)
{
	struct table t = { 0 };
	const struct experiment *e = NULL;
	unsigned long id = argc > 1 ? number(argv[1]) : 0;

	vec_for_each(pp, &sh->session->experiments) {
		if (id && (*pp)->id == id)
			e = *pp;
	}
	if (argc > 1 && !e && strcmp(argv[1], "all"))
		return diag_error(&sh->diag, "experiment '%s': not loaded; experiment_list shows the "
				  "numbers", argv[1]);
	return shell_print(sh, &t, view(&sh->view, e, &t, &sh->diag));
}

int cmd_header(struct shell *sh, int argc, char **argv)
{
	bool all = argc > 1 && !strcmp(argv[1], "all");

	return experiment_report(sh, all ? view_header_all : view_header, argc, argv);
}

int cmd_overview(struct shell *sh, int argc, char **argv)
{
	return experiment_report(sh, view_overview, argc, argv);
}

int cmd_statistics(struct shell *sh, int argc, char **argv)
{
	return experiment_report(sh, view_statistics, argc, argv);
}
