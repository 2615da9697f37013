/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * microstates with experiments compared: for each kind of thread the share of its time in each
 * state, side by side. Process and thread numbers differ between recordings, so rows are
 * identified by name.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/intern.h"
#include "analysis/base/wrap.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/pass.h"
#include "analysis/model/names.h"
#include "analysis/views/columns.h"
#include "analysis/views/microstates.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

/* One name's times in one group. */
struct share {
	int64_t ns[MS_COUNT], total;
};

struct comparison {
	struct view_state *v;
	bool by_process;
	size_t ngroups;
	struct strtab names;     /* ids are row numbers */
	VEC(struct share) shares; /* rows × groups */
	struct share *totals;    /* indexed by group */
};

struct compared_row {
	size_t row;
	int64_t key;      /* sort value, largest first */
	const char *name; /* breaks ties */
};

static uint32_t row_of(struct comparison *c, const struct hit *h)
{
	const struct names *names = session_names(c->v->session);
	struct thread_kind kind = names_kind(names, h->e, hit_pid(h), hit_thread(h), hit_time(h));
	struct buf b = { 0 };
	uint32_t id;

	if (c->by_process && kind.process)
		buf_puts(&b, kind.process);
	else
		names_put_kind(&kind, &b);
	id = strtab_id(&c->names, b.data);
	buf_free(&b);
	while (c->shares.len < (id + 1) * c->ngroups)
		vec_push(&c->shares, (struct share){ .total = 0 });
	return id;
}

static void add_share(struct share *s, int64_t state, int64_t ns)
{
	add_to(&s->ns[state], ns);
	add_to(&s->total, ns);
}

static void add_hit(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct comparison *c = ctx;
	int64_t state = hit_state(h);
	size_t group = h->e->group - 1, row;

	if (state < 0 || state >= MS_COUNT || group >= c->ngroups)
		return;
	if (state == MS_KERNEL_CPU)
		state = MS_SYSTEM;
	row = row_of(c, h);
	add_share(&c->shares.data[row * c->ngroups + group], state, hit_weight(h));
	add_share(&c->totals[group], state, hit_weight(h));
}

/* Whether any group has time in the state. */
static bool occurs(const struct comparison *c, enum er_mstate state)
{
	for (size_t g = 0; g < c->ngroups; g++) {
		if (c->totals[g].ns[state])
			return true;
	}
	return false;
}

static const char *unit_of(const struct comparison *c, size_t group, const char *unit)
{
	static const char *const units[] = { [COMPARE_DELTA] = "delta", [COMPARE_RATIO] = "ratio" };
	enum compare how = c->v->metric_set->compare;

	return group && how > COMPARE_ON ? units[how] : unit;
}

static void put_columns(const struct comparison *c, struct table *t)
{
	bool ratio = c->v->metric_set->compare == COMPARE_RATIO;

	for (size_t g = 0; g < c->ngroups; g++) {
		const char *group = c->v->session->groups.data[g];

		vec_push(&t->columns, (struct column){ .group = group,
			.kind = ratio && g ? CELL_TIMES : CELL_TIME,
			.title = { "Total", "", unit_of(c, g, "sec.") } });
		for (size_t i = 0; i < nmicrostate_columns; i++) {
			const struct mstate_desc *col = &mstate_descs[microstate_columns[i]];

			if (occurs(c, col->state))
				vec_push(&t->columns, (struct column){ .group = group,
					.kind = ratio && g ? CELL_TIMES : CELL_PERCENT,
					.title = { col->title[0], col->title[1], unit_of(c, g, "%") } });
		}
	}
	vec_push(&t->columns, (struct column){ .kind = CELL_TEXT, .title = { "Name" } });
}

static struct cell share_cell(enum compare how, double share, double first)
{
	if (how == COMPARE_RATIO)
		return (struct cell){ .kind = CELL_TIMES, .d = first ? share / first : share ? INFINITY : 1 };
	if (how == COMPARE_DELTA)
		return (struct cell){ .kind = CELL_PERCENT, .d = share - first, .n = 1 };
	return (struct cell){ .kind = CELL_PERCENT, .d = share };
}

static void put_row(const struct comparison *c, struct table *t, const struct share *shares,
		    const char *name)
{
	struct row *r = table_row(t);
	size_t n = 0;

	for (size_t g = 0; g < c->ngroups; g++) {
		enum compare how = g ? c->v->metric_set->compare : COMPARE_ON;

		r->cells[n++] = compared_to(how, CELL_TIME, shares[g].total, shares[0].total);
		for (size_t i = 0; i < nmicrostate_columns; i++) {
			enum er_mstate state = microstate_columns[i];

			if (occurs(c, state))
				r->cells[n++] = share_cell(how,
					percent_of(shares[g].ns[state], shares[g].total),
					percent_of(shares[0].ns[state], shares[0].total));
		}
	}
	put_text(r, n, arena_strdup(&t->arena, name));
}

/*
 * The largest difference, in seconds of one state, between the last group and the first. Sleep
 * does not count.
 */
static int64_t difference(const struct comparison *c, const struct share *shares)
{
	int64_t most = 0;

	for (int i = 0; i < MS_COUNT; i++) {
		int64_t d = llabs(shares[c->ngroups - 1].ns[i] - shares[0].ns[i]);

		if (i != MS_SLEEP && d > most)
			most = d;
	}
	return most;
}

static int64_t key_of(const struct comparison *c, const struct share *shares)
{
	int64_t cpu = 0;

	if (c->v->metric_set->compare > COMPARE_ON)
		return difference(c, shares);
	for (size_t g = 0; g < c->ngroups; g++) {
		for (int i = 0; i < MS_COUNT; i++)
			add_to(&cpu, mstate_descs[i].on_cpu ? shares[g].ns[i] : 0);
	}
	return cpu;
}

static int row_cmp(const void *pa, const void *pb)
{
	const struct compared_row *a = pa, *b = pb;

	if (a->key != b->key)
		return a->key > b->key ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void put_rows(const struct comparison *c, struct table *t)
{
	size_t nrows = c->shares.len / c->ngroups, limit = c->v->limit;
	VEC(struct compared_row) rows = { 0 };

	for (size_t i = 0; i < nrows; i++)
		vec_push(&rows, (struct compared_row){ i, key_of(c, &c->shares.data[i * c->ngroups]),
						       c->names.strings[i] });
	vec_sort(&rows, row_cmp);
	put_row(c, t, c->totals, "<Total>");
	for (size_t i = 0; i < nrows && (!limit || i + 1 < limit); i++)
		put_row(c, t, &c->shares.data[rows.data[i].row * c->ngroups], rows.data[i].name);
	vec_free(&rows);
}

int view_microstates_compared(struct view_state *v, bool by_process, struct table *t)
{
	struct comparison c = { .v = v, .by_process = by_process,
				.ngroups = v->session->groups.len };

	c.totals = xcalloc(c.ngroups, sizeof(*c.totals));
	t->name = "microstates";
	t->title = v->metric_set->compare > COMPARE_ON ?
		   "States by name, as shares of the time of each; largest difference first" :
		   "States by name, as shares of the time of each; most CPU time first";
	pass_run(v->session, v->metric_set, v->filter, add_hit, NULL, &c);
	put_columns(&c, t);
	put_rows(&c, t);
	strtab_free(&c.names);
	vec_free(&c.shares);
	free(c.totals);
	return 0;
}
