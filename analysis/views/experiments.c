/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/pass.h"
#include "analysis/views/columns.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

int view_experiment_list(struct view_state *v, struct table *t, struct diag *d)
{
	t->name = "experiment_list";
	vec_push(&t->columns, (struct column){ .kind = CELL_COUNT, .title = { "ID" } });
	text_column(t, "Sel");
	vec_push(&t->columns, (struct column){ .kind = CELL_COUNT, .title = { "PID" } });
	text_column(t, "Experiment");
	vec_for_each(ep, &v->session->experiments) {
		const struct experiment *e = *ep;
		struct row *r = table_row(t);

		r->cells[0] = (struct cell){ .kind = CELL_COUNT, .i = e->id };
		put_text(r, 1, selection_has(&v->selection, e->id) ? "yes" : "no");
		r->cells[2] = (struct cell){ .kind = CELL_COUNT, .i = e->pid };
		put_text(r, 3, e->path);
	}
	return 0;
}

/* Samples are the periods between events: n events make n-1 samples. */
static int64_t count_samples(const struct experiment *e)
{
	int64_t n = 0;

	vec_for_each(ev, &e->events)
		n += !strcmp(ev->kind, "sample");
	return n ? n - 1 : 0;
}

/*
 * How many samples, threads, LWPs and CPUs an experiment has. Samples are counted by its events,
 * the others by its packets.
 */
struct counts {
	/* by kind of selection; keys: experiment id << 32 | number */
	struct map seen[SELECT_KINDS];
	size_t n;
	int64_t *of[SELECT_KINDS];     /* indexed by experiment id - 1 */
};

static void count_one(struct counts *c, enum select_kind kind, const struct hit *h, int64_t number)
{
	bool fresh;

	if (number < 0)
		return;
	map_put(&c->seen[kind], (uint64_t)h->e->id << 32 | (uint32_t)number, &fresh);
	c->of[kind][h->e->id - 1] += fresh;
}

static void count_hit(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct counts *c = ctx;

	count_one(c, SELECT_THREAD, h, hit_thrid(h));
	count_one(c, SELECT_LWP, h, hit_lwpid(h));
	count_one(c, SELECT_CPU, h, hit_cpu(h));
}

static void counts_init(struct counts *c, const struct view_state *v, enum select_kind kind)
{
	*c = (struct counts){ .n = v->session->experiments.len };
	for (int k = 0; k < SELECT_KINDS; k++)
		c->of[k] = xcalloc(c->n, sizeof(int64_t));
	for (size_t i = 0; i < c->n; i++)
		c->of[SELECT_SAMPLE][i] = count_samples(v->session->experiments.data[i]);
	if (kind != SELECT_SAMPLE)
		pass_run(v->session, NULL, NULL, count_hit, NULL, c);
}

static void counts_free(struct counts *c)
{
	for (int k = 0; k < SELECT_KINDS; k++) {
		map_free(&c->seen[k]);
		free(c->of[k]);
	}
}

static int selection_list(struct view_state *v, enum select_kind kind, const char *name,
			  struct table *t)
{
	struct buf b = { 0 };
	struct counts counts;

	t->name = name;
	vec_push(&t->columns, (struct column){ .kind = CELL_COUNT, .title = { "Exp" } });
	text_column(t, "Sel");
	vec_push(&t->columns, (struct column){ .kind = CELL_COUNT, .title = { "Total" } });
	counts_init(&counts, v, kind);
	for (size_t i = 0; i < counts.n; i++) {
		struct row *r = table_row(t);

		buf_clear(&b);
		selection_print(&v->selection, i + 1, kind, &b);
		r->cells[0] = (struct cell){ .kind = CELL_COUNT, .i = i + 1 };
		put_text(r, 1, arena_strdup(&t->arena, b.data));
		r->cells[2] = (struct cell){ .kind = CELL_COUNT, .i = counts.of[kind][i] };
	}
	counts_free(&counts);
	buf_free(&b);
	return 0;
}

int view_sample_list(struct view_state *v, struct table *t, struct diag *d)
{
	return selection_list(v, SELECT_SAMPLE, "sample_list", t);
}

int view_thread_list(struct view_state *v, struct table *t, struct diag *d)
{
	return selection_list(v, SELECT_THREAD, "thread_list", t);
}

int view_lwp_list(struct view_state *v, struct table *t, struct diag *d)
{
	return selection_list(v, SELECT_LWP, "lwp_list", t);
}

int view_cpu_list(struct view_state *v, struct table *t, struct diag *d)
{
	return selection_list(v, SELECT_CPU, "cpu_list", t);
}
