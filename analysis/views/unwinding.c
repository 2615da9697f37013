/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/views/unwinding.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/base/map.h"
#include "analysis/experiment/exp_recorder.h"
#include "analysis/views/columns.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

enum part { ON_CPU, WAITING, PARTS };

/* The sum of walks with the same name: the name of a program, or of how a walk ended. */
struct sum {
	const char *name;
	int64_t ns[PARTS], complete_ns[PARTS];
	const char *worst; /* how most of the incomplete walks ended */
	int64_t worst_ns;
};

struct sums {
	struct strtab names; /* ids index `sums` */
	VEC(struct sum) sums;
};

static struct sum *sum_named(struct sums *s, const char *name)
{
	uint32_t id = strtab_id(&s->names, name ? name : "");

	if (id == s->sums.len)
		vec_push(&s->sums, (struct sum){ .name = s->names.strings[id] });
	return &s->sums.data[id];
}

static void sums_free(struct sums *s)
{
	strtab_free(&s->names);
	vec_free(&s->sums);
}

static void add_walk(struct sum *sum, const struct exp_element *el)
{
	const char *of = element_get(el, "of"), *end = element_get(el, "end");
	enum part part = of && !strcmp(of, "waits") ? WAITING : ON_CPU;
	int64_t ns = element_int(el, "ns");

	sum->ns[part] += ns;
	if (element_int(el, "complete")) {
		sum->complete_ns[part] += ns;
	} else if (ns >= sum->worst_ns) {
		sum->worst_ns = ns;
		sum->worst = end;
	}
}

static void add_walks(struct sums *s, const struct experiment *e, const char *by)
{
	vec_for_each(el, &e->recorder)
		if (!strcmp(el->name, "walk"))
			add_walk(sum_named(s, element_get(el, by)), el);
}

static int64_t all_ns(const struct sum *s)
{
	return s->ns[ON_CPU] + s->ns[WAITING];
}

static int by_time(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	if (all_ns(x) != all_ns(y))
		return all_ns(x) < all_ns(y) ? 1 : -1;
	return strcmp(x->name, y->name);
}

void unwinding_summary(struct table *t, const struct experiment *founder)
{
	struct sums ends = { 0 };
	int64_t whole[PARTS] = { 0 };
	const struct sum *complete = NULL;

	add_walks(&ends, founder, "end");
	vec_sort(&ends.sums, by_time);
	vec_for_each(s, &ends.sums) {
		for (int part = 0; part < PARTS; part++)
			whole[part] += s->ns[part];
		if (s->complete_ns[ON_CPU] + s->complete_ns[WAITING])
			complete = s;
	}
	if (ends.sums.len)
		put_line(t, "User stacks are complete for %.2f %% of the time on CPUs and %.2f %% of the "
			 "waits", percent_of(complete ? complete->ns[ON_CPU] : 0, whole[ON_CPU]),
			 percent_of(complete ? complete->ns[WAITING] : 0, whole[WAITING]));
	vec_for_each(s, &ends.sums)
		if (s != complete)
			put_line(t, "  %.2f %% and %.2f %%: %s", percent_of(s->ns[ON_CPU], whole[ON_CPU]),
				 percent_of(s->ns[WAITING], whole[WAITING]), s->name);
	sums_free(&ends);
}

static void add_columns(struct table *t)
{
	static const char *const of[PARTS] = { "CPU", "Waits" };

	for (int part = 0; part < PARTS; part++) {
		vec_push(&t->columns, (struct column){ .kind = CELL_TIME, .title = { of[part], NULL, "sec." } });
		vec_push(&t->columns, (struct column){ .kind = CELL_PERCENT,
						       .title = { of[part], "Complete", "%" } });
	}
	text_column(t, "Program");
	text_column(t, "Most of the rest");
}

static void put_program(struct table *t, const struct sum *s)
{
	struct row *r = table_row(t);

	for (int part = 0; part < PARTS; part++) {
		r->cells[2 * part] = (struct cell){ .kind = CELL_TIME, .i = s->ns[part] };
		if (s->ns[part])
			r->cells[2 * part + 1] = (struct cell){
				.kind = CELL_PERCENT, .d = percent_of(s->complete_ns[part], s->ns[part]) };
	}
	put_textf(t, r, 2 * PARTS, "%s", s->name);
	put_textf(t, r, 2 * PARTS + 1, "%s", s->worst ? s->worst : "");
}

int view_unwinding(struct view_state *v, struct table *t, struct diag *d)
{
	struct sums programs = { 0 };

	t->name = "unwinding";
	t->title = "Programs by the time of their user stacks, and how much of it has complete stacks";
	add_columns(t);
	vec_for_each(e, &v->session->experiments)
		if (!(*e)->founder)
			add_walks(&programs, *e, "program");
	vec_sort(&programs.sums, by_time);
	vec_for_each(s, &programs.sums)
		put_program(t, s);
	if (!programs.sums.len)
		put_note(t, "The recorder did not count how walks of user stacks ended.");
	sums_free(&programs);
	return 0;
}
