/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * span_list: single calls of spans, the slowest first: when and how long, the time in each state, the
 * thread, the reasons of its recorded waits, and its arguments.
 */
#include "analysis/base/buf.h"
#include "analysis/base/wrap.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/spanstat.h"
#include "analysis/views/columns.h"
#include "analysis/views/spanrows.h"
#include "analysis/views/waitrows.h"

enum { SHOWN = 20, REASONS_SHOWN = 3 };

/* A row: the call, and the recorded time of its waits by state and reason. */
struct listed {
	const struct span_call *call;
	int64_t reason_ns[MS_COUNT][REASON_COUNT];
};

struct list {
	struct view_state *v;
	struct table *t;
	const struct spans *sp;
	VEC(struct listed) rows;
	struct map row_of; /* index of a call to index of its row + 1 */
};

static int64_t length(const struct span_call *c)
{
	return wrap_minus(c->end_ns, c->begin_ns);
}

static int by_length(const void *pa, const void *pb)
{
	const struct span_call *a = ((const struct listed *)pa)->call;
	const struct span_call *b = ((const struct listed *)pb)->call;

	if (length(a) != length(b))
		return length(a) > length(b) ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* The slowest calls of each name that pass the filter, and then the slowest of them. */
static void choose(struct list *l, size_t most)
{
	__cleanup(freep) uint8_t *marks = span_marks(l->v->session, l->v->filter);

	vec_for_each(n, &l->sp->names) {
		size_t taken = 0;

		for (size_t rank = 1; rank <= n->n && taken < most; rank++) {
			const struct span_call *c = span_ranked(l->sp, n, rank);

			if (marks[c - l->sp->calls.data] == SPAN_MARK_NONE)
				continue;
			vec_push(&l->rows, (struct listed){ .call = c });
			taken++;
		}
	}
	vec_sort(&l->rows, by_length);
	l->rows.len = l->rows.len < most ? l->rows.len : most;
	for (size_t i = 0; i < l->rows.len; i++)
		*map_put(&l->row_of, l->rows.data[i].call - l->sp->calls.data, NULL) = i + 1;
}

static void join_wait(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct list *l = ctx;
	int64_t state = hit_state(h), reason = hit_reason(h);
	const struct span_call *c;
	struct span_walk w;

	if (!hit_is_wait(h) || reason <= REASON_NONE || reason >= REASON_COUNT)
		return;
	hit_spans(h, &w);
	while ((c = span_walk_next(&w))) {
		const uint64_t *row = map_get(&l->row_of, c - l->sp->calls.data);

		if (row)
			add_to(&l->rows.data[*row - 1].reason_ns[state][reason], hit_part_length(h));
	}
}

enum { COL_BEGIN, COL_LENGTH, COL_STATES };

/* The columns of states, and their times on a CPU together if not all calls have them apart. */
static const enum er_mstate state_columns[] = {
	MS_LINUX_CPU, MS_USER, MS_SYSTEM, MS_SLEEP, MS_USER_LOCK, MS_WAIT_CPU, MS_DFAULT, MS_TFAULT,
	MS_KFAULT, MS_STOPPED,
};

enum {
	NSTATES = sizeof(state_columns) / sizeof(state_columns[0]),
	COL_NAME = COL_STATES + NSTATES, COL_RANK, COL_THREAD, COL_TEXT,
};

static void put_columns(struct table *t)
{
	vec_push(&t->columns, (struct column){ .kind = CELL_TIME, .title = { "Begin", "", "sec." },
					       .spare = 1 });
	vec_push(&t->columns, (struct column){ .kind = CELL_MSEC, .title = { "Length", "", "ms" },
					       .sorted = true });
	for (int i = 0; i < NSTATES; i++) {
		const struct mstate_desc *m = &mstate_descs[state_columns[i]];
		bool both = m->state == MS_LINUX_CPU;

		vec_push(&t->columns, (struct column){
			.kind = CELL_MSEC, .optional = true, .spare = 2,
			.title = { both ? "CPU" : m->title[0], both ? "" : m->title[1], "ms" } });
	}
	vec_push(&t->columns, (struct column){ .kind = CELL_TEXT, .title = { "Span" } });
	vec_push(&t->columns, (struct column){ .kind = CELL_COUNT, .title = { "N" } });
	vec_push(&t->columns, (struct column){ .kind = CELL_TEXT, .title = { "Thread" } });
	vec_push(&t->columns, (struct column){ .kind = CELL_TEXT, .title = { "Reasons; arguments" },
					       .wrap = true });
}

/* Append the next most important reason of at most `below`. Returns its time; 0: there is none. */
static int64_t put_reason(const struct listed *row, int64_t below, struct buf *b)
{
	int64_t most = 0;
	int state = 0, reason = 0;

	for (int s = 0; s < MS_COUNT; s++) {
		for (int r = REASON_NONE + 1; r < REASON_COUNT; r++) {
			if (row->reason_ns[s][r] > most && row->reason_ns[s][r] < below) {
				most = row->reason_ns[s][r];
				state = s;
				reason = r;
			}
		}
	}
	if (most > 0)
		buf_printf(b, "%s%s, %s", b->len ? "; " : "", span_state_name(state),
			   reason_descs[reason].uname);
	return most;
}

static const char *describe(struct list *l, const struct listed *row)
{
	int64_t last = INT64_MAX;
	struct buf b = { 0 };

	for (int i = 0; i < REASONS_SHOWN && last; i++)
		last = put_reason(row, last, &b);
	span_put_facts(l->sp, row->call, &b);
	return span_keep(l->t, &b);
}

static void put_row(struct list *l, const struct listed *row)
{
	const struct span_call *c = row->call;
	struct row *r = table_row(l->t);
	enum er_mstate states[MS_COUNT];
	size_t n = span_states(c->flags & SPAN_SPLIT, states);

	r->cells[COL_BEGIN] = (struct cell){ .kind = CELL_TIME, .i = c->begin_ns > 0 ? c->begin_ns : 0 };
	r->cells[COL_LENGTH] = (struct cell){ .kind = CELL_MSEC, .i = length(c) };
	for (size_t i = 0; i < n; i++) {
		int64_t ns = span_state_ns(l->sp, c, states[i]);

		for (int k = 0; k < NSTATES && ns; k++) {
			if (state_columns[k] == states[i])
				r->cells[COL_STATES + k] = (struct cell){ .kind = CELL_MSEC, .i = ns };
		}
	}
	put_text(r, COL_NAME, l->sp->names.data[c->name].sum.name);
	r->cells[COL_RANK] = (struct cell){ .kind = CELL_COUNT, .i = c->rank };
	put_text(r, COL_THREAD, span_thread_text(l->v, l->t, c));
	put_text(r, COL_TEXT, describe(l, row));
}

static bool is_listed(const struct list *l, uint32_t name)
{
	vec_for_each(row, &l->rows) {
		if (row->call->name == name)
			return true;
	}
	return false;
}

static void put_notes(struct list *l, size_t most)
{
	if (l->rows.len == most && !l->v->limit)
		put_note(l->t, "The %zu slowest; `limit n' shows n, and `limit 0' all.", most);
	put_note(l->t, "`span NAME N' shows a call.");
	for (size_t i = 0; i < l->sp->names.len; i++) {
		const struct span_name *n = &l->sp->names.data[i];

		if (is_listed(l, i) && !span_all_recorded(n))
			put_note(l->t, "%s: %zu of %llu calls have a record.", n->sum.name, n->nwhole,
				 (unsigned long long)n->sum.count);
	}
}

int view_span_list(struct view_state *v, struct table *t, struct diag *d)
{
	struct list l = { .v = v, .t = t, .sp = session_spans(v->session) };
	size_t most = view_most(v, SHOWN);

	t->name = "span_list";
	t->title = "Calls of spans, slowest first";
	choose(&l, most);
	if (l.rows.len) {
		put_columns(t);
		pass_run(v->session, NULL, NULL, join_wait, NULL, &l);
	}
	vec_for_each(row, &l.rows)
		put_row(&l, row);
	if (l.rows.len)
		put_notes(&l, most);
	else
		span_nothing(v, t);
	vec_free(&l.rows);
	map_free(&l.row_of);
	return 0;
}
