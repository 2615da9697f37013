/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/findings/findings.h"

#include <math.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/findings/rules.h"
#include "analysis/views/columns.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

/*
 * The rules. Their thresholds keep them silent on a healthy load:
 *
 * of_program: a program that loses less than a tenth of its time gains little from a remedy. A
 * chain must explain half of the waits for messages.
 * of_whole: the times must be a twentieth of the time that the data cover; below that they are a
 * side issue, such as a program that starts. It is no share of all CPUs' time, because one program
 * that matters may be small on a large machine.
 * stolen: hypervisors and interrupts take a little everywhere; from 2 % of the time that threads had
 * a CPU on, figures cannot be compared with those of another day. A hundredth of the time that the
 * data cover leaves out programs that hardly ran.
 * spans: calls are slow if they take twice the time of others; one state must explain half of that.
 * losses: 1 % of the samples is as much as the sampling error of a function that has a half of
 * 10,000 samples.
 */
static const struct rule rules[] = {
	{ "losses", .of_whole = 0.01, .find = find_losses },
	{ "cpu", HOLDUP_CPU, 0.1, 0.05, find_holdup },
	{ "quota", HOLDUP_QUOTA, 0.1, 0.05, find_holdup },
	{ "stolen", HOLDUP_STOLEN, 0.02, 0.01, find_stolen },
	{ "lock", HOLDUP_LOCK, 0.1, 0.05, find_holdup },
	{ "kernel_lock", HOLDUP_KERNEL_LOCK, 0.1, 0.05, find_holdup },
	{ "file_lock", HOLDUP_FILE_LOCK, 0.1, 0.05, find_holdup },
	{ "disk", HOLDUP_DISK, 0.1, 0.05, find_holdup },
	{ "faults", HOLDUP_FAULT, 0.1, 0.05, find_holdup },
	{ "memory", HOLDUP_MEMORY, 0.1, 0.05, find_holdup },
	{ "chain", .of_program = 0.5, .of_whole = 0.05, .find = find_chain },
	{ "spans", .of_program = 0.5, .of_whole = 0.01, .find = find_spans },
	{ "computing", .find = find_computing },
};

enum { NRULES = sizeof(rules) / sizeof(rules[0]) };

static const char *keep(struct finder *f, const char *text)
{
	return text ? arena_strdup(f->arena, text) : NULL;
}

void finder_add(struct finder *f, const struct rule *r, const char *text, int64_t figure_ns,
		double error_ns, const char *command, const char *filter)
{
	vec_push(&f->found, (struct finding){
		.rule = r->name, .text = keep(f, text), .figure_ns = figure_ns,
		.exact = error_ns <= 0, .error_ns = llround(error_ns),
		.command = keep(f, command), .filter = keep(f, filter) });
}

void put_time(struct buf *b, double ns)
{
	if (ns >= 1e9)
		buf_printf(b, "%.1f s", ns / 1e9);
	else if (ns >= 1e6)
		buf_printf(b, "%.0f ms", ns / 1e6);
	else
		buf_printf(b, "%.0f us", ns / 1e3);
}

void put_share(struct buf *b, double share, double error)
{
	buf_printf(b, "%.0f %%", 100 * share);
	if (100 * error >= 0.5)
		buf_printf(b, " (+-%.0f %%)", 100 * error);
}

/*
 * Losses put all other figures in doubt, so they come first. The CPU time is no trouble, so it
 * comes last.
 */
static int order_of(const struct finding *g)
{
	return !strcmp(g->rule, rules[0].name) ? 0 : !strcmp(g->rule, rules[NRULES - 1].name) ? 2 : 1;
}

static int finding_cmp(const void *pa, const void *pb)
{
	const struct finding *a = pa, *b = pb;

	if (order_of(a) != order_of(b))
		return order_of(a) - order_of(b);
	if (a->figure_ns != b->figure_ns)
		return a->figure_ns > b->figure_ns ? -1 : 1;
	return strcmp(a->rule, b->rule);
}

void findings_make(struct view_state *v, struct arena *arena, finding_vec *ret)
{
	struct table texts = { 0 }; /* lends its arena to the facts */
	struct finder f = { .arena = arena };

	facts_init(&f.facts, v, &texts);
	for (size_t i = 0; i < NRULES; i++)
		rules[i].find(&f, &rules[i]);
	facts_free(&f.facts);
	table_free(&texts);
	vec_sort(&f.found, finding_cmp);
	/* The last one is the CPU time; it keeps its place. */
	if (f.found.len > FINDINGS_MAX) {
		f.found.data[FINDINGS_MAX - 1] = f.found.data[f.found.len - 1];
		f.found.len = FINDINGS_MAX;
	}
	*ret = f.found;
}

enum { COL_TIME, COL_ERROR, COL_RULE, COL_COMMAND, COL_FILTER, COL_TEXT };

static void put_columns(struct table *t)
{
	static const struct column columns[] = {
		[COL_TIME] = { .kind = CELL_TIME, .title = { "Time", "", "sec." } },
		[COL_ERROR] = { .kind = CELL_TEXT, .title = { "Std.", "Error", "sec." },
				.full = { "Standard", "Error" } },
		[COL_RULE] = { .kind = CELL_TEXT, .title = { "Rule" }, .hidden = true },
		[COL_COMMAND] = { .kind = CELL_TEXT, .title = { "Command" }, .hidden = true },
		[COL_FILTER] = { .kind = CELL_TEXT, .title = { "Filter" }, .hidden = true },
		[COL_TEXT] = { .kind = CELL_TEXT, .title = { "Finding" }, .wrap = true },
	};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		vec_push(&t->columns, columns[i]);
}

/* In output for people the command follows the sentence. */
static void put_finding(struct table *t, const struct finding *g)
{
	struct row *r = table_row(t);

	r->cells[COL_TIME] = (struct cell){ .kind = CELL_TIME, .i = g->figure_ns };
	if (g->exact)
		put_text(r, COL_ERROR, "exact");
	else
		put_textf(t, r, COL_ERROR, "%.3f", g->error_ns / 1e9);
	put_text(r, COL_RULE, g->rule);
	put_text(r, COL_COMMAND, g->command);
	put_text(r, COL_FILTER, g->filter ? g->filter : "");
	put_textf(t, r, COL_TEXT, "%s See: %s", g->text, g->command);
}

int view_findings(struct view_state *v, struct table *t, struct diag *d)
{
	finding_vec found;

	t->name = "findings";
	t->title = "Where the time went, most important first";
	findings_make(v, &t->arena, &found);
	if (found.len)
		put_columns(t);
	vec_for_each(g, &found)
		put_finding(t, g);
	if (!found.len)
		put_note(t, "No time in a state %s.", v->filter ? "passes the filter" : "was recorded");
	vec_free(&found);
	return 0;
}
