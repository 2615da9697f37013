/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/fuzz/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/command/command.h"
#include "analysis/command/shell.h"
#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/exp_recorder.h"
#include "analysis/experiment/exp_stacks.h"
#include "analysis/experiment/experiment.h"
#include "analysis/experiment/usage.h"
#include "analysis/export/export.h"
#include "analysis/export/outfile.h"

enum { ARGS_MAX = 4 };

static FILE *nowhere(void)
{
	static FILE *f;

	if (!f)
		f = fopen("/dev/null", "w");
	if (!f)
		abort();
	return f;
}

void report_quietly(void)
{
	stderr = nowhere();
}

/* Read every packet, each of its fields, and the stack it refers to. */
static void walk_packets(const struct experiment *e, volatile uint64_t *sink)
{
	vec_for_each(s, &e->streams) {
		struct packet_iter it;
		struct packet p;

		packet_iter_init(&it, e, s);
		while (packet_next(&it, &p)) {
			vec_for_each(fd, &s->fields) {
				struct field_ref ref = { fd->offset, fd->type, fd - s->fields.data };
				const char *text;

				*sink += packet_int(&p, ref);
				*sink += packet_text(&p, ref, &text);
				*sink += experiment_stack(e, packet_int(&p, ref));
			}
		}
	}
}

static void walk_stacks(struct experiment *e, volatile uint64_t *sink)
{
	vec_for_each(s, &e->stacks) {
		for (uint32_t i = 0; i < s->npcs; i++)
			*sink += experiment_pc(e, s, i);
	}
	for (size_t i = 0; i < experiment_nusages(e); i++) {
		struct exp_usage u;

		experiment_usage(e, i, &u);
		*sink += u.user_ns;
	}
	vec_for_each(el, &e->recorder)
		*sink += element_int(el, "lost");
}

/*
 * Commands that write files, read other files or end the run are left out. So is `help`, which
 * does not depend on the experiment.
 */
static bool is_left_out(const struct command *c)
{
	static const char *const names[] = { "outfile", "appendfile", "script", "quit", "help",
					     "mapfile", "page" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(c->name, names[i]))
			return true;
	}
	return c->rc_only;
}

static void run_with(struct shell *sh, const struct command *c, char *arg)
{
	char *argv[ARGS_MAX + 2] = { (char *)c->name, arg, arg, arg, arg };
	int n = c->min < ARGS_MAX ? c->min : ARGS_MAX;

	shell_run(sh, c, n + 1, argv);
}

/* Commands without arguments first, because some with arguments change what others show. */
static void run_all(struct shell *sh)
{
	static char function[] = "main", all[] = "all";
	const struct command *c;

	for (size_t i = 0; (c = command_at(i)); i++) {
		if (!c->min && !is_left_out(c))
			run_with(sh, c, NULL);
	}
	for (size_t i = 0; (c = command_at(i)); i++) {
		if (c->min && !is_left_out(c))
			run_with(sh, c, strncmp(c->args, "function", 8) ? all : function);
	}
}

static void export_as(struct shell *sh, const struct exporter *e, enum export_root root, bool redact)
{
	struct export x = { .view = &sh->view, .root = root, .redact = redact, .diag = &sh->diag };
	struct outfile out;

	if (e->weighted)
		x.metric = export_metric(&sh->view, NULL, root, &sh->diag);
	if ((e->weighted && !x.metric) || outfile_open(&out, "/dev/null", e->gzip, &sh->diag))
		return;
	if (e->write(&x, &out))
		outfile_abandon(&out);
	else
		outfile_commit(&out, &sh->diag);
}

/* Write the experiment in each format, with each root of stacks, and redacted. */
static void export_all(struct shell *sh)
{
	const struct exporter *e;

	for (size_t i = 0; (e = exporter_at(i)); i++) {
		for (int root = 0; root <= (e->weighted ? ROOT_PROCESS : 0); root++)
			export_as(sh, e, root, false);
		if (e->redacts)
			export_as(sh, e, 0, true);
	}
}

static struct shell *open_times(const char *path, size_t times)
{
	struct shell *sh = xcalloc(1, sizeof(*sh));
	char *paths[] = { (char *)path, (char *)path };

	shell_init(sh, "fuzz", NULL);
	printer_set_file(&sh->printer, nowhere(), false);
	if (!shell_open(sh, paths, times))
		return sh;
	report_close(sh);
	return NULL;
}

struct shell *report_open(const char *path)
{
	return open_times(path, 1);
}

void report_close(struct shell *sh)
{
	shell_fini(sh);
	free(sh);
}

/* Compare the experiment with itself, in both units. */
static void report_diff(const char *path)
{
	struct shell *sh = open_times(path, 2);
	static char name[] = "diff", unit[] = "time";
	char *argv[] = { name, unit, NULL };
	const struct command *diff;

	if (!sh)
		return;
	diff = command_find("diff", &sh->diag);
	shell_run(sh, diff, 1, argv);
	shell_run(sh, diff, 2, argv);
	report_close(sh);
}

void report_experiment(const char *path)
{
	struct shell *sh = report_open(path);
	volatile uint64_t sink = 0;

	if (!sh)
		return;
	vec_for_each(e, &sh->session->experiments) {
		walk_packets(*e, &sink);
		walk_stacks(*e, &sink);
	}
	export_all(sh);
	run_all(sh);
	report_close(sh);
	report_diff(path);
}
