/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * microstates: where the time of each thread or process went. The states come from the packets,
 * so every filter works. They are checked against the exact times of threads.xml: time that no
 * packet covers has a column of its own and a note. Under a filter only rows that keep all their
 * packets are checked; the exact time of the other rows is unknown. Threads that the recorder
 * folded are one row, and in the list of processes so are processes whose main threads it folded, if
 * it also added up their packets. With a filter each has its own row, whose exact time is unknown.
 */
#include <inttypes.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/base/intern.h"
#include "analysis/base/wrap.h"
#include "analysis/experiment/exp_threads.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/pass.h"
#include "analysis/model/names.h"
#include "analysis/views/functions.h"
#include "analysis/views/microstates.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

const enum er_mstate microstate_columns[] = {
	MS_USER,   MS_SYSTEM, MS_TRAP,   MS_LINUX_CPU, MS_WAIT_CPU, MS_USER_LOCK,
	MS_TFAULT, MS_DFAULT, MS_KFAULT, MS_STOPPED,   MS_SLEEP,
};

enum { NSTATES = sizeof(microstate_columns) / sizeof(microstate_columns[0]) };

const size_t nmicrostate_columns = NSTATES;

struct key {
	const struct experiment *origin;
	int64_t pid, tid; /* tid 0: a whole process; kernel threads always have their tid */
	unsigned serial;  /* of a process whose PID came again; 0: none */
	const struct exp_fold *fold; /* instead of a thread; NULL: none */
};

struct entry {
	struct key key;
	int64_t ns[MS_COUNT];
	int64_t wall;      /* from threads.xml; 0: unknown */
	uint64_t nthreads; /* threads listed in threads.xml */
	bool shared;       /* a part of its time may be in packets of its fold */
	bool sums;         /* these packets */
	bool unclosed;     /* a part is of a recording that was not closed */
	uint64_t npackets;
	/* packets with a state before the filter; more than npackets if the filter cuts the row */
	uint64_t nall;
};

struct microstates {
	struct view_state *v;
	bool by_process;
	bool folds;        /* those that the recorder folded are one row */
	bool checked;      /* against threads.xml */
	bool unclosed;     /* a recording was not closed: its threads.xml is older than its packets */
	struct metric_sort sort;
	size_t nmetrics;
	struct intern ids;
	VEC(struct entry) entries;
	VEC(int64_t) values; /* entries × nmetrics; sort keys */
};

static struct key key_of(const struct microstates *m, const struct experiment *origin, int64_t pid,
			 int64_t tid, unsigned serial)
{
	return (struct key){ .origin = origin, .pid = pid,
			     .tid = m->by_process && pid ? 0 : tid, .serial = serial };
}

static struct key fold_key(const struct microstates *m, const struct experiment *e, const struct exp_fold *fold)
{
	return (struct key){ .origin = e->origin,
			     .fold = folded_whole(&session_names(m->v->session)->folded, fold) };
}

static struct key hit_key(const struct microstates *m, const struct hit *h)
{
	const struct exp_fold *fold = !m->folds ? NULL : m->by_process ? hit_process_fold(h) : hit_fold(h);

	if (fold)
		return fold_key(m, h->e, fold);
	return key_of(m, hit_origin(h), hit_pid(h), hit_thread(h), hit_serial(h));
}

static uint64_t hash_of(const struct key *k)
{
	return hash64(k->origin->id ^ (uintptr_t)k->fold ^ hash64(k->pid + hash64(k->tid + k->serial)));
}

/* NULL if there is none. Valid until the next entry is added. */
static struct entry *find_entry(struct microstates *m, const struct key *k)
{
	struct intern_probe probe = intern_probe(hash_of(k));
	uint32_t id1;

	while ((id1 = intern_next(&m->ids, &probe))) {
		struct entry *e = &m->entries.data[id1 - 1];

		if (e->key.origin == k->origin && e->key.pid == k->pid && e->key.tid == k->tid &&
		    e->key.serial == k->serial && e->key.fold == k->fold)
			return e;
	}
	return NULL;
}

static struct entry *need_entry(struct microstates *m, const struct key *k)
{
	struct entry *e = find_entry(m, k);

	if (e)
		return e;
	vec_push(&m->entries, (struct entry){ .key = *k });
	for (size_t i = 0; i < m->nmetrics; i++)
		vec_push(&m->values, 0);
	return &m->entries.data[intern_add(&m->ids, hash_of(k))];
}

/* Whether the row has a part of a fold whose packets have the time of several threads. */
static bool is_shared(const struct microstates *m, const struct hit *h)
{
	const struct exp_fold *fold = m->folds ? NULL : hit_fold(h);

	return fold && fold->summed;
}

static void add_hit(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct microstates *m = ctx;
	int64_t state = hit_state(h);
	struct entry *e;
	struct key k;
	size_t i;

	if (state < 0 || state >= MS_COUNT)
		return;
	/* MS_KERNEL_CPU says only that the thread was in the kernel: count it as MS_SYSTEM. */
	if (state == MS_KERNEL_CPU)
		state = MS_SYSTEM;
	k = hit_key(m, h);
	e = need_entry(m, &k);
	add_to(&e->ns[state], hit_weight(h));
	e->npackets++;
	e->unclosed |= !experiment_founder(h->e)->closed;
	e->shared |= is_shared(m, h);
	e->sums |= e->shared && folded_sums(&session_names(h->session)->folded,
					      experiment_founder(h->e), hit_thread(h));
	i = e - m->entries.data;
	for (size_t a = 0; a < n; a++)
		add_to(&m->values.data[i * m->nmetrics + amounts[a].metric], amounts[a].value);
}

/* Count unfiltered packets, to find the rows that the filter did not touch. */
static void count_hit(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct microstates *m = ctx;
	int64_t state = hit_state(h);
	struct key k = hit_key(m, h);
	struct entry *e = state >= 0 && state < MS_COUNT ? find_entry(m, &k) : NULL;

	if (e)
		e->nall++;
}

/* Of a recording that was not closed, threads.xml may be missing, or older than the packets. */
static bool is_unclosed(const struct entry *e)
{
	return e->unclosed;
}

static bool is_part(const struct entry *e)
{
	return e->nall > e->npackets || e->shared;
}

static struct key thread_key(const struct microstates *m, const struct experiment *e,
			     const struct exp_thread *th)
{
	const struct names *names = session_names(m->v->session);
	const struct exp_fold *fold = m->folds && th->fold ? &e->folds.data[th->fold - 1] : NULL;
	int64_t end_ns = wrap_plus(th->end_ns, experiment_offset_ns(e));

	if (fold && (!m->by_process || (fold->summed && th->pid == th->tid)))
		return fold_key(m, e, fold);
	return key_of(m, e->origin, th->pid, th->tid, names_serial_at(names, e, th->pid, end_ns));
}

/* Whether the thread of a segment lived before it, in another segment of the recording. */
static bool is_in_earlier(struct map *threads, const struct experiment *e, const struct exp_thread *th)
{
	bool fresh;

	map_put(threads, hash64(e->origin->id ^ hash64((uint64_t)th->pid << 32 | (uint32_t)th->tid)), &fresh);
	return e != e->origin && !th->born && !fresh;
}

/* Add rows for threads without packets, unless the filter may have removed their packets. */
static void add_walls_of(struct microstates *m, const struct experiment *founder, struct map *threads)
{
	vec_for_each(th, &founder->threads) {
		struct key k = thread_key(m, founder, th);
		struct entry *e = m->v->filter ? find_entry(m, &k) : need_entry(m, &k);
		bool earlier = is_in_earlier(threads, founder, th);

		m->checked = true;
		if (!e || is_part(e))
			continue;
		add_to(&e->wall, th->end_ns - th->begin_ns);
		e->nthreads += !th->again && !earlier;
	}
}

static int by_start(const void *pa, const void *pb)
{
	const struct experiment *a = *(struct experiment *const *)pa, *b = *(struct experiment *const *)pb;

	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

static void add_walls(struct microstates *m)
{
	VEC(struct experiment *) founders = { 0 };
	struct map threads = { 0 };

	vec_for_each(ep, &m->v->session->experiments) {
		if (!(*ep)->founder)
			vec_push(&founders, *ep);
	}
	vec_sort(&founders, by_start);
	vec_for_each(ep, &founders) {
		if ((*ep)->closed)
			add_walls_of(m, *ep, &threads);
		else
			m->unclosed = true;
	}
	vec_free(&founders);
	map_free(&threads);
}

static int64_t sum_of(const struct entry *e)
{
	int64_t sum = 0;

	for (int i = 0; i < MS_COUNT; i++)
		add_to(&sum, e->ns[i]);
	return sum;
}

/*
 * Whether the states differ by more than the tolerance: one in a thousand, plus a millisecond,
 * plus a microsecond for each packet, because packets have whole microseconds.
 */
static bool is_off(const struct entry *e, int64_t by)
{
	return by > 1000000 + (int64_t)e->npackets * 1000 && by > e->wall / 1000;
}

/* Time that no packet covers. */
static int64_t lacks(const struct entry *e)
{
	int64_t lack = e->wall - sum_of(e);

	return is_off(e, lack) ? lack : 0;
}

static int64_t whole_of(const struct entry *e)
{
	return sum_of(e) + lacks(e);
}

/*
 * Draw one letter for each hundredth, with states in order. Rounding errors carry over to the
 * next state.
 */
static void put_bar(struct table *t, struct cell *cell, const struct entry *e)
{
	int64_t whole = whole_of(e), upto = 0;
	char bar[TABLE_BAR + 1];
	size_t at = 0;

	for (size_t i = 0; i < NSTATES; i++) {
		add_to(&upto, e->ns[microstate_columns[i]]);
		while (whole > 0 && at < TABLE_BAR && (at + 0.5) * (double)whole < (double)upto * TABLE_BAR)
			bar[at++] = mstate_descs[microstate_columns[i]].letter;
	}
	while (at < TABLE_BAR)
		bar[at++] = whole ? '?' : ' ';
	bar[at] = '\0';
	*cell = (struct cell){ .kind = CELL_BAR, .s = arena_strdup(&t->arena, bar) };
}

static void put_entry(struct table *t, const struct entry *e, const char *name)
{
	struct row *r = table_row(t);
	int64_t whole = whole_of(e);
	size_t n = 0;

	r->cells[n++] = (struct cell){ .kind = CELL_TIME, .i = whole };
	for (size_t i = 0; i < NSTATES; i++) {
		int64_t ns = e->ns[microstate_columns[i]];

		r->cells[n++] = (struct cell){ .kind = CELL_TIME, .i = ns };
		r->cells[n++] = (struct cell){ .kind = CELL_PERCENT, .d = percent_of(ns, whole) };
	}
	r->cells[n++] = (struct cell){ .kind = CELL_TIME, .i = lacks(e) };
	r->cells[n++] = (struct cell){ .kind = CELL_PERCENT, .d = percent_of(lacks(e), whole) };
	put_bar(t, &r->cells[n++], e);
	put_text(r, n, name);
}

/*
 * What is left out first on a narrow terminal: the columns of seconds, because total and percent
 * show the same; then rare states that have little time; then all rare states.
 */
enum { SPARE_OTHER = 1, SPARE_RARE, SPARE_SECONDS };

static int spare_of(const struct entry *total, size_t state)
{
	static const unsigned common = 1 << MS_USER | 1 << MS_SYSTEM | 1 << MS_WAIT_CPU |
				       1 << MS_USER_LOCK | 1 << MS_SLEEP;

	if (state == NSTATES)
		return SPARE_OTHER;
	if (common >> microstate_columns[state] & 1)
		return 0;
	return percent_of(total->ns[microstate_columns[state]], whole_of(total)) < 1 ? SPARE_RARE :
										      SPARE_OTHER;
}

static void put_columns(struct table *t, const struct entry *total)
{
	vec_push(&t->columns, (struct column){ .kind = CELL_TIME, .title = { "Total", "", "sec." } });
	for (size_t i = 0; i <= NSTATES; i++) {
		const char *first = i < NSTATES ? mstate_descs[microstate_columns[i]].title[0] : "Not";
		const char *second = i < NSTATES ? mstate_descs[microstate_columns[i]].title[1] : "known";

		vec_push(&t->columns, (struct column){ .kind = CELL_TIME,
			.title = { first, second, "sec." }, .optional = true,
			.spare = SPARE_SECONDS });
		vec_push(&t->columns, (struct column){ .kind = CELL_PERCENT,
			.title = { first, second, "%" }, .optional = true,
			.spare = spare_of(total, i) });
	}
	vec_push(&t->columns, (struct column){ .kind = CELL_BAR, .title = { "States" } });
	vec_push(&t->columns, (struct column){ .kind = CELL_TEXT, .title = { "Name" } });
}

enum { LEGEND_WIDTH = 58 };

/* Add one letter's meaning, on a new line if this one is full. */
static void put_letter(struct table *t, struct buf *b, char letter, const char *name)
{
	if (b->len && b->len + strlen(name) + 4 > LEGEND_WIDTH) {
		put_note(t, "%s,", b->data);
		buf_clear(b);
		buf_puts(b, "  ");
	}
	buf_printf(b, "%s%c %s", !b->len ? "States: " : b->len > 2 ? ", " : "", letter, name);
}

/* Explain only the letters that occur. */
static void put_legend(struct table *t, const struct entry *total)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < NSTATES; i++) {
		if (total->ns[microstate_columns[i]])
			put_letter(t, &b, mstate_descs[microstate_columns[i]].letter,
				   mstate_descs[microstate_columns[i]].uname);
	}
	if (lacks(total))
		put_letter(t, &b, '?', "not known");
	if (b.len)
		put_note(t, "%s", b.data);
	buf_free(&b);
}

/* Note what was checked, if all of it agrees. */
static void put_checked(const struct microstates *m, struct table *t, int64_t wall, size_t nthreads,
			size_t nparts, size_t nrows)
{
	if (!nrows)
		put_note(t, "No time in a state %s.", m->v->filter ? "passes the filter" :
			 "was recorded");
	else if (nparts == nrows)
		put_note(t, "Not compared with the time in the recording: the filter cut %s.",
			 nparts == 1 ? "the row" : "each row");
	else if (nparts)
		put_note(t, "Checked %zu of %zu rows: their states add up to their time in the "
			 "recording, %.3f sec. of %zu thread%s. Rows cut by the filter cannot be checked.",
			 nrows - nparts, nrows, wall / 1e9, nthreads,
			 nthreads == 1 ? "" : "s");
	else
		put_note(t, "Checked: the states of each row add up to its time in the recording, "
			 "%.3f sec. of %zu thread%s in all.", wall / 1e9, nthreads,
			 nthreads == 1 ? "" : "s");
}

static void put_check(struct microstates *m, struct table *t)
{
	int64_t wall = 0, missing = 0, much = 0;
	size_t nmissing = 0, nmuch = 0, nthreads = 0, nparts = 0, nshared = 0, nrows = 0;

	vec_for_each(e, &m->entries) {
		int64_t sum = sum_of(e);

		if (is_unclosed(e))
			continue;
		nrows++;
		nparts += is_part(e);
		nshared += e->shared && !e->sums;
		if (is_part(e))
			continue;
		add_to(&wall, e->wall);
		nthreads += e->nthreads;
		if (is_off(e, e->wall - sum)) {
			nmissing++;
			add_to(&missing, e->wall - sum);
		} else if (is_off(e, sum - e->wall)) {
			nmuch++;
			add_to(&much, sum - e->wall);
		}
	}
	if (!nmissing && !nmuch)
		put_checked(m, t, wall, nthreads, nparts, nrows);
	if (nshared)
		put_note(t, "Rows of %zu short-lived thread%s lack time that no record represents: "
			 "rows \"short-lived threads\" have its sum.", nshared, nshared == 1 ? "" : "s");
	if (nmissing)
		put_note(t, "*** %zu row%s lack%s %.3f sec. (%.2f %%) of the time in the recording: "
			 "see `header' for what was lost.", nmissing, nmissing == 1 ? "" : "s",
			 nmissing == 1 ? "s" : "", missing / 1e9, percent_of(missing, wall));
	if (nmuch)
		put_note(t, "*** %zu row%s ha%s %.3f sec. (%.2f %%) more than the time in the "
			 "recording.", nmuch, nmuch == 1 ? "" : "s", nmuch == 1 ? "s" : "ve",
			 much / 1e9, percent_of(much, wall));
}

static void put_notes(struct microstates *m, struct table *t, const struct entry *total)
{
	put_legend(t, total);
	if (m->checked)
		put_check(m, t);
	else if (!m->unclosed)
		put_note(t, "Not compared with the time in the recording: there is no threads.xml.");
	if (m->unclosed)
		put_note(t, "Not compared with the time in the recording: the recording was not closed.");
}

static void put_name(const struct microstates *m, const struct key *k, struct buf *b)
{
	const struct names *names = session_names(m->v->session);

	if (k->fold)
		fold_put_name(k->fold, b);
	else if (m->by_process)
		names_put_process(names, k->origin, k->pid, k->serial, k->tid, b);
	else
		names_put_thread(names, k->origin, k->pid, k->serial, k->tid, b);
}

/* Leave out threads without time, as other lists do. */
static void put_entries(struct microstates *m, struct table *t, const struct entry *total)
{
	struct view_state *v = m->v;
	ranked_vec rows = { 0 };
	struct buf label = { 0 };

	for (size_t i = 0; i < m->entries.len; i++) {
		const struct entry *e = &m->entries.data[i];
		const int64_t *values = &m->values.data[i * m->nmetrics];

		if (!whole_of(e))
			continue;
		buf_clear(&label);
		put_name(m, &e->key, &label);
		vec_push(&rows, (struct ranked){
			.excl = values, .incl = values, .attr = values, .index = i,
			.name = arena_strdup(&t->arena, label.data),
			.order = e->key.pid ? e->key.pid : e->key.tid, .by_order = true });
	}
	ranked_sort(rows.data, rows.len, &m->sort);
	put_entry(t, total, "<Total>");
	for (size_t i = 0; i < rows.len && (!v->limit || i + 1 < v->limit); i++)
		put_entry(t, &m->entries.data[rows.data[i].index], rows.data[i].name);
	vec_free(&rows);
	buf_free(&label);
}

static void add_up(const struct microstates *m, struct entry *total)
{
	vec_for_each(e, &m->entries) {
		for (int i = 0; i < MS_COUNT; i++)
			add_to(&total->ns[i], e->ns[i]);
		/* Add row by row, so that one row's surplus cannot hide another row's lack. */
		add_to(&total->wall, whole_of(e));
		total->npackets += e->npackets;
	}
}

/* Sort by a metric of the microstates, or by the sort metric of index lists. */
static int choose_sort(struct microstates *m, const char *by, struct diag *d)
{
	const struct metric *metric = by ? metric_find(m->v->metric_set, by) : NULL;

	m->sort = m->v->isort;
	if (by && !metric)
		return diag_error(d, "microstates '%s': not 'threads', 'processes' or a metric that "
				  "was recorded; metric_list lists them", by);
	if (by)
		m->sort = (struct metric_sort){ .col = { .flavor = FLAVOR_EXCL, .metric = metric,
							 .vis = VIS_TIME } };
	return 0;
}

int view_microstates(struct view_state *v, bool by_process, const char *sort_by, struct table *t,
		     struct diag *d)
{
	struct microstates m = { .v = v, .by_process = by_process,
				 .folds = !v->filter,
				 .nmetrics = metric_set_width(v->metric_set) };
	struct entry total = { 0 };
	struct buf title = { 0 };

	if (choose_sort(&m, sort_by, d))
		return -1;
	if (v->metric_set->compare)
		return view_microstates_compared(v, by_process, t);
	t->name = "microstates";
	buf_printf(&title, "States of %s, sorted by metric: ", by_process ? "processes" : "threads");
	metric_sort_describe(&m.sort, &title);
	t->title = arena_strdup(&t->arena, title.data);
	buf_free(&title);
	pass_run(v->session, v->metric_set, v->filter, add_hit, NULL, &m);
	if (v->filter)
		pass_run(v->session, v->metric_set, NULL, count_hit, NULL, &m);
	add_walls(&m);
	add_up(&m, &total);
	put_columns(t, &total);
	put_entries(&m, t, &total);
	put_notes(&m, t, &total);
	intern_free(&m.ids);
	vec_free(&m.entries);
	vec_free(&m.values);
	return 0;
}
