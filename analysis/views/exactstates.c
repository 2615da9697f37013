/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exact_states: the exact states of threads between two usage samples. The figures come from the
 * recorder's snapshots, not from packets, so no sampling error is in them. A filter only chooses
 * threads: those of which a packet passes it.
 */
#include <inttypes.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/base/map.h"
#include "analysis/base/wrap.h"
#include "analysis/experiment/exp_range.h"
#include "analysis/experiment/exp_threads.h"
#include "analysis/metrics/filter.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/pass.h"
#include "analysis/model/names.h"
#include "analysis/views/columns.h"
#include "analysis/views/table.h"
#include "analysis/views/view.h"
#include "analysis/views/view_state.h"

static const enum er_mstate waits[] = { MS_WAIT_CPU, MS_USER_LOCK, MS_TFAULT, MS_DFAULT,
					MS_KFAULT,   MS_STOPPED,   MS_SLEEP };

enum { NWAITS = sizeof(waits) / sizeof(waits[0]) };

struct line {
	struct exp_span_of_thread sum;
	const struct experiment *e;
	const struct exp_fold *fold; /* instead of a thread; NULL: none */
	unsigned serial;
};

struct exact {
	struct view_state *v;
	bool choose; /* only threads in `chosen`, and all of the folds in `chosen_folds` */
	struct map chosen, chosen_folds;
	struct map by_key; /* to index in `lines` */
	VEC(struct line) lines;
	const struct experiment *first; /* the origin that from_ns and to_ns belong to */
	int64_t from_ns, to_ns, covered_ns, took_ns, vague_ns; /* covered_ns: of the time between, in open segments */
	size_t nread, nranges;
	bool others; /* ranges of other recordings */
};

/* --- which threads --- */

static uint64_t thread_key(const struct experiment *e, int64_t pid, int64_t tid)
{
	return hash64((uint64_t)pid << 32 | (uint32_t)tid) ^ hash64(e->origin->id);
}

static void choose_thread(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct exact *s = ctx;
	const struct experiment *e = experiment_founder(h->e);
	const struct exp_fold *fold =
		folded_sums(&session_names(h->session)->folded, e, hit_thread(h));

	if (fold)
		map_put(&s->chosen_folds, hash64((uintptr_t)fold), NULL);
	map_put(&s->chosen, thread_key(e, hit_pid(h), hit_thread(h)), NULL);
}

static void choose_threads(struct exact *s, struct filter *threads)
{
	s->choose = threads != NULL;
	if (threads)
		pass_run(s->v->session, NULL, threads, choose_thread, NULL, s);
}

static int64_t last_ns(const struct experiment *e, const struct exp_span_of_thread *th)
{
	return wrap_plus(th->last_ns, experiment_offset_ns(e));
}

/* A short-lived thread may have no packet of its own, but a part of those of its fold. */
static bool is_chosen(const struct exact *s, const struct experiment *e,
		      const struct exp_span_of_thread *th)
{
	const struct exp_fold *fold;

	if (!s->choose || map_get(&s->chosen, thread_key(e, th->pid, th->tid)))
		return true;
	fold = folded_at(&session_names(s->v->session)->folded, e, th->pid, th->tid, last_ns(e, th));
	return fold && map_get(&s->chosen_folds, hash64((uintptr_t)fold));
}

/* --- lines --- */

static struct line *line_of(struct exact *s, const struct experiment *e,
			    const struct exp_span_of_thread *th)
{
	const struct names *names = session_names(s->v->session);
	const struct exp_fold *part = folded_at(&names->folded, e, th->pid, th->tid, last_ns(e, th));
	const struct exp_fold *fold = part ? folded_whole(&names->folded, part) : NULL;
	unsigned serial = names_serial_at(names, e, th->pid, last_ns(e, th));
	uint64_t key =
		fold ? hash64((uintptr_t)fold) : thread_key(e, th->pid, th->tid) ^ hash64(serial);
	bool fresh;
	uint64_t *at = map_put(&s->by_key, key, &fresh);

	if (fresh) {
		*at = s->lines.len;
		vec_push(&s->lines, (struct line){ .e = e,
						   .fold = fold,
						   .serial = serial,
						   .sum = { .pid = th->pid, .tid = th->tid } });
	}
	return &s->lines.data[*at];
}

static void add(struct exp_span_of_thread *to, const struct exp_span_of_thread *th)
{
	add_to(&to->run_ns, th->run_ns);
	for (int i = 0; i < MS_COUNT; i++)
		add_to(&to->off_ns[i], th->off_ns[i]);
}

/* Segments of one recording are one range. */
static void extend(struct exact *s, const struct experiment *e, const struct exp_range *range)
{
	int64_t from = wrap_plus(range->from_ns, experiment_offset_ns(e));
	int64_t to = wrap_plus(range->to_ns, experiment_offset_ns(e));
	bool first = !s->nranges++;

	s->first = first ? e->origin : s->first;
	if (e->origin != s->first) {
		s->others = true;
		return;
	}
	add_to(&s->covered_ns, wrap_minus(to, from));
	s->from_ns = first || from < s->from_ns ? from : s->from_ns;
	s->to_ns = first || to > s->to_ns ? to : s->to_ns;
}

static void add_range(struct exact *s, const struct experiment *e, const struct exp_range *range)
{
	vec_for_each (th, &range->threads) {
		if (is_chosen(s, e, th))
			add(&line_of(s, e, th)->sum, th);
	}
	extend(s, e, range);
	s->took_ns = range->took_ns > s->took_ns ? range->took_ns : s->took_ns;
	add_to(&s->vague_ns, range->vague_ns);
}

static void read_all(struct exact *s, int64_t from_ns, int64_t to_ns)
{
	vec_for_each (ep, &s->v->session->experiments) {
		struct exp_range range = { 0 };
		int64_t offset = experiment_offset_ns(*ep), from = wrap_minus(from_ns, offset);
		int64_t to = to_ns == INT64_MAX ? (*ep)->end_ns : wrap_minus(to_ns, offset);

		if ((*ep)->founder || to <= 0 || from >= (*ep)->end_ns)
			continue;
		s->nread++;
		if (exp_range_read(*ep, from, to, &range))
			add_range(s, *ep, &range);
		exp_range_free(&range);
	}
}

static int longest_first(const void *pa, const void *pb)
{
	const struct line *a = pa, *b = pb;
	int64_t at = exp_span_of_thread_sum(&a->sum), bt = exp_span_of_thread_sum(&b->sum);

	if (a->sum.run_ns != b->sum.run_ns)
		return a->sum.run_ns > b->sum.run_ns ? -1 : 1;
	return at != bt ? (at > bt ? -1 : 1)
			: (a->sum.tid > b->sum.tid) - (a->sum.tid < b->sum.tid);
}

/* --- the table --- */

static void put_columns(struct table *t)
{
	vec_push(&t->columns,
		 (struct column){ .kind = CELL_TIME, .title = { "Total", "", "sec." } });
	vec_push(&t->columns, (struct column){ .kind = CELL_TIME, .title = { "CPU", "", "sec." } });
	vec_push(&t->columns, (struct column){ .kind = CELL_PERCENT, .title = { "CPU", "", "%" } });
	for (size_t i = 0; i < NWAITS; i++) {
		const struct mstate_desc *m = &mstate_descs[waits[i]];

		vec_push(&t->columns,
			 (struct column){ .kind = CELL_TIME,
					  .optional = true,
					  .title = { m->title[0], m->title[1], "sec." } });
	}
	vec_push(&t->columns, (struct column){ .kind = CELL_TEXT, .title = { "Name" } });
}

static void put_times(struct table *t, const struct exp_span_of_thread *th, const char *name)
{
	struct row *r = table_row(t);
	int64_t sum = exp_span_of_thread_sum(th);
	size_t n = 0;

	r->cells[n++] = (struct cell){ .kind = CELL_TIME, .i = sum };
	r->cells[n++] = (struct cell){ .kind = CELL_TIME, .i = th->run_ns };
	r->cells[n++] = (struct cell){ .kind = CELL_PERCENT, .d = percent_of(th->run_ns, sum) };
	for (size_t i = 0; i < NWAITS; i++)
		r->cells[n++] = (struct cell){ .kind = CELL_TIME, .i = th->off_ns[waits[i]] };
	put_text(r, n, arena_strdup(&t->arena, name));
}

static void put_name(const struct exact *s, const struct line *l, struct buf *b)
{
	if (l->fold)
		fold_put_name(l->fold, b);
	else
		names_put_thread(session_names(s->v->session), l->e, l->sum.pid, l->serial,
				 l->sum.tid, b);
}

static void put_rows(struct exact *s, struct table *t)
{
	struct exp_span_of_thread total = { 0 };
	struct buf name = { 0 };
	size_t n = 1;

	vec_sort(&s->lines, longest_first);
	vec_for_each (l, &s->lines)
		add(&total, &l->sum);
	put_times(t, &total, "<Total>");
	vec_for_each (l, &s->lines) {
		if (s->v->limit && n++ >= s->v->limit)
			break;
		buf_clear(&name);
		put_name(s, l, &name);
		put_times(t, &l->sum, name.data);
	}
	buf_free(&name);
}

static void put_notes(const struct exact *s, struct table *t)
{
	/* A segment begins some milliseconds after the one before has ended. */
	static const int64_t SEAM_NS = 500000000;
	int64_t missing = wrap_minus(wrap_minus(s->to_ns, s->from_ns), s->covered_ns);

	put_note(t, "Exact, from the usage sample at %.6f sec. to that at %.6f sec.",
		 s->from_ns / 1e9, s->to_ns / 1e9);
	put_note(t, "A thread that left or entered a CPU during such a sample counts up to that "
		    "moment, at most %.3f ms later.", s->took_ns / 1e6);
	if (s->vague_ns)
		put_note(t, "*** %.3f sec. may belong to the time before or after.",
			 s->vague_ns / 1e9);
	if (missing > SEAM_NS)
		put_note(t, "*** %.3f sec. of it are in segments that are not open.", missing / 1e9);
	if (s->others)
		put_note(t, "Of several recordings; the times are those of the first.");
	if (s->nranges < s->nread)
		put_note(t, "%zu recording%s no states of whole seconds.", s->nread - s->nranges,
			 s->nread - s->nranges == 1 ? " has" : "s have");
}

int view_exact_states(struct view_state *v, struct filter *threads, int64_t from_ns, int64_t to_ns,
		      struct table *t, struct diag *d)
{
	struct exact s = { .v = v };
	int err = 0;

	t->name = "exact_states";
	choose_threads(&s, threads);
	read_all(&s, from_ns, to_ns);
	if (!s.nranges)
		err = diag_error(d, "exact_states: no usage samples of this range: record with "
				    "microstates, and choose at least a second with from and to");
	if (!err) {
		t->title = "Exact states of threads between two usage samples, most CPU time first";
		put_columns(t);
		put_rows(&s, t);
		put_notes(&s, t);
	}
	vec_free(&s.lines);
	map_free(&s.by_key);
	map_free(&s.chosen);
	map_free(&s.chosen_folds);
	return err;
}
