/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * syscalls: for each system call how often and how long threads waited in it, and in which
 * states. If the recorder counted calls, also how many there were and how many failed.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/wrap.h"
#include "analysis/experiment/exp_recorder.h"
#include "analysis/experiment/syscalls.h"
#include "analysis/metrics/hit.h"
#include "analysis/views/columns.h"
#include "analysis/views/microstates.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"
#include "analysis/views/waitrows.h"

struct call {
	const char *name;
	int64_t calls, errors;
	struct wait_stat waits;
	int64_t off_ns[MS_COUNT];
};

struct calls {
	struct view_state *v;
	struct wait_counts *counts;
	struct strtab names; /* ids are indexes into `all` */
	VEC(struct call) all;
	struct call total;
	bool counted;        /* the numbers of calls are known */
};

static struct call *call_at(struct calls *c, const char *arch, int64_t number)
{
	const char *name = number < 0 ? "<no system call>" : syscall_name(arch, number);
	char unnamed[32];
	uint32_t id;

	if (!name) {
		snprintf(unnamed, sizeof(unnamed), "system call %lld", (long long)number);
		name = unnamed;
	}
	id = strtab_id(&c->names, name);
	while (c->all.len <= id)
		vec_push(&c->all, (struct call){ .calls = 0 });
	return &c->all.data[id];
}

static void add_wait(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct calls *c = ctx;
	struct wait_count count;
	struct call *call;

	/* Kernel threads make no system calls. */
	if (!hit_is_wait(h) || !hit_pid(h))
		return;
	call = call_at(c, h->e->arch, hit_syscall(h));
	count = wait_counts_of(c->counts, h);
	wait_stat_add(&call->waits, h, count);
	wait_stat_add(&c->total.waits, h, count);
	add_to(&call->off_ns[hit_state(h)], hit_weight(h));
	add_to(&c->total.off_ns[hit_state(h)], hit_weight(h));
}

/*
 * Add the recorder's counts. They cover the whole recording, so they are left out under a filter.
 */
static void add_counts(struct calls *c)
{
	vec_for_each(e, &c->v->session->experiments) {
		vec_for_each(el, &(*e)->recorder) {
			struct call *call;

			if (strcmp(el->name, "syscall") || c->v->filter)
				continue;
			c->counted = true;
			call = call_at(c, (*e)->arch, element_int(el, "number"));
			add_to(&call->calls, element_int(el, "calls"));
			add_to(&call->errors, element_int(el, "errors"));
			add_to(&c->total.calls, element_int(el, "calls"));
			add_to(&c->total.errors, element_int(el, "errors"));
		}
	}
}

static void put_columns(struct table *t)
{
	vec_push(&t->columns, (struct column){ .kind = CELL_COUNT, .title = { "Calls" }, .optional = true });
	vec_push(&t->columns, (struct column){ .kind = CELL_COUNT, .title = { "Errors" }, .optional = true });
	vec_push(&t->columns, (struct column){ .kind = CELL_COUNT, .title = { "Waits" } });
	vec_push(&t->columns, (struct column){ .kind = CELL_TIME, .title = { "Waited", "", "sec." },
					       .sorted = true });
	for (size_t i = 0; i < nmicrostate_columns; i++) {
		const struct mstate_desc *s = &mstate_descs[microstate_columns[i]];

		if (!s->on_cpu)
			vec_push(&t->columns, (struct column){ .kind = CELL_TIME, .optional = true,
				.title = { s->title[0], s->title[1], "sec." }, .spare = 1 });
	}
	vec_push(&t->columns, (struct column){ .kind = CELL_TEXT, .title = { "Name" } });
}

static void put_call(const struct calls *c, struct table *t, const struct call *call, const char *name)
{
	struct row *r = table_row(t);
	size_t n = 0;

	if (c->counted) {
		r->cells[0] = (struct cell){ .kind = CELL_COUNT, .i = call->calls };
		r->cells[1] = (struct cell){ .kind = CELL_COUNT, .i = call->errors };
	}
	n = 2;
	r->cells[n++] = (struct cell){ .kind = CELL_COUNT, .i = (int64_t)(call->waits.count + 0.5),
				       .estimate = wait_stat_is_estimate(&call->waits, call == &c->total) };
	r->cells[n++] = (struct cell){ .kind = CELL_TIME, .i = call->waits.time_ns };
	for (size_t i = 0; i < nmicrostate_columns; i++) {
		enum er_mstate state = microstate_columns[i];

		if (!mstate_descs[state].on_cpu)
			r->cells[n++] = (struct cell){ .kind = CELL_TIME, .i = call->off_ns[state] };
	}
	put_text(r, n, name);
}

static int call_cmp(const void *pa, const void *pb)
{
	const struct call *a = pa, *b = pb;

	if (a->waits.time_ns != b->waits.time_ns)
		return a->waits.time_ns > b->waits.time_ns ? -1 : 1;
	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void put_rows(struct calls *c, struct table *t)
{
	size_t limit = c->v->limit;

	for (size_t i = 0; i < c->all.len; i++)
		c->all.data[i].name = arena_strdup(&t->arena, c->names.strings[i]);
	vec_sort(&c->all, call_cmp);
	put_call(c, t, &c->total, "<Total>");
	for (size_t i = 0; i < c->all.len && (!limit || i + 1 < limit); i++)
		put_call(c, t, &c->all.data[i], c->all.data[i].name);
	if (!c->counted)
		put_note(t, "%s", c->v->filter ? "Calls are counted for the whole recording only: they "
			 "are left out under a filter." : "Calls were not counted: er_kernel "
			 "--exact-user counts them.");
	if (wait_stat_is_estimate(&c->total.waits, true) || c->all.len)
		put_note(t, "~ marks an estimate: only a sample of the waits was recorded.");
}

int view_syscalls(struct view_state *v, struct table *t, struct diag *d)
{
	struct calls c = { .v = v, .counts = wait_counts_new(v->session) };

	t->name = "syscalls";
	t->title = "System calls, most waited in first";
	put_columns(t);
	pass_run(v->session, v->metric_set, v->filter, add_wait, NULL, &c);
	add_counts(&c);
	put_rows(&c, t);
	wait_counts_free(c.counts);
	strtab_free(&c.names);
	vec_free(&c.all);
	return 0;
}
