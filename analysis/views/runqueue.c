/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runqueue: waits for a CPU. It shows which threads had the CPU in the meantime, which threads
 * waited for it, how long each wait took, and where the waiting threads were.
 */
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/experiment/mstate.h"
#include "analysis/metrics/hit.h"
#include "analysis/views/columns.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"
#include "analysis/views/waitrows.h"

enum { KEY_REASON, KEY_HOLDER, KEY_WAITER, KEY_PATH };

struct runqueue {
	struct wait_report w; /* first member: the report's functions are given its address */
	struct wait_stat octaves[WAIT_OCTAVES];
};

/* The key of the thread that had the CPU at a moment of the wait; thread 0 means that the CPU was idle. */
static uint32_t holder_key(struct wait_report *w, const struct hit *h)
{
	if (wait_holder(h))
		return wait_thread_key(w, h, hit_holder_pid(h), wait_holder(h));
	if (hit_holder(h))
		return wait_text_key(w, WAIT_UNSEEN);
	if (hit_wait_flags(h) & WFLAG_REST)
		return wait_text_key(w, WAIT_REST);
	return wait_text_key(w, hit_wait_length(h) ? "<none: it was idle>" : "<unknown>");
}

static void add_wait(void *ctx, const struct hit *h, const struct amount *amounts, size_t namounts)
{
	struct runqueue *rq = ctx;
	struct wait_count n;
	uint32_t key[WAIT_KEYS] = { 0 };

	if (hit_state(h) != MS_WAIT_CPU)
		return;
	key[KEY_REASON] = wait_text_key(&rq->w, wait_reason_name(h));
	key[KEY_HOLDER] = holder_key(&rq->w, h);
	key[KEY_WAITER] = wait_thread_key(&rq->w, h, hit_pid(h), hit_thread(h));
	key[KEY_PATH] = wait_path(&rq->w.paths, h->stack);
	n = wait_report_add(&rq->w, h, key);
	if (wait_has_length(h, n))
		wait_stat_add(&rq->octaves[wait_octave(hit_wait_length(h))], h, n);
}

static const char *reason_of(struct wait_report *w, const struct wait_sum *s)
{
	return wait_key_text(w, s->key[KEY_REASON]);
}

static const char *holder_of(struct wait_report *w, const struct wait_sum *s)
{
	return wait_key_text(w, s->key[KEY_HOLDER]);
}

static const char *waiter_of(struct wait_report *w, const struct wait_sum *s)
{
	return wait_key_text(w, s->key[KEY_WAITER]);
}

static const char *path_of(struct wait_report *w, const struct wait_sum *s)
{
	return wait_path_text(w, s->key[KEY_PATH]);
}

/* Add all sums by one key. */
static void put_by(struct wait_report *w, int key, const char *heading, const char *more,
		   const char *(*text)(struct wait_report *w, const struct wait_sum *s))
{
	struct wait_bag by;
	sum_vec sums;

	wait_bag_by(&w->bag, 1 << key, &by);
	wait_bag_sorted(&by, &sums);
	w->group++;
	wait_row(w, &w->total, "%s", heading);
	w->counted = key == KEY_WAITER;
	wait_rows(w, &sums, more, text);
	w->counted = false;
	vec_free(&sums);
	wait_bag_free(&by);
}

/* The shortest wait of an octave. */
static uint64_t octave_us(unsigned octave)
{
	return octave ? (uint64_t)1 << (octave - 1) : 0;
}

/* Append the beginning of an octave in the unit that needs fewest digits: "4 us", "16 ms". */
static void put_octave(struct buf *b, unsigned octave)
{
	uint64_t us = octave_us(octave);

	if (us >= 1 << 20)
		buf_printf(b, "%5llu s ", (unsigned long long)us >> 20);
	else if (us >= 1 << 10)
		buf_printf(b, "%5llu ms", (unsigned long long)us >> 10);
	else
		buf_printf(b, "%5llu us", (unsigned long long)us);
}

enum { BAR_WIDTH = 14 }; /* the row then fits 80 columns */

/*
 * Add a row for each octave from the shortest wait to the longest, including those without waits.
 */
static void put_histogram(struct runqueue *rq)
{
	unsigned first = WAIT_OCTAVES, last = 0;
	double max = 0;

	for (unsigned i = 0; i < WAIT_OCTAVES; i++) {
		if (rq->octaves[i].count <= 0)
			continue;
		first = first == WAIT_OCTAVES ? i : first;
		last = i;
		max = rq->octaves[i].count > max ? rq->octaves[i].count : max;
	}
	if (first == WAIT_OCTAVES)
		return;
	rq->w.group++;
	wait_row(&rq->w, &rq->w.total, "At least this long:");
	for (unsigned i = first; i <= last; i++) {
		struct wait_stat *ws = &rq->octaves[i];
		int marks = (int)(ws->count / max * BAR_WIDTH + 0.5);
		struct buf b = { 0 };

		put_octave(&b, i);
		buf_printf(&b, " |%.*s", ws->count > 0 && !marks ? 1 : marks,
			   "##############");
		memset(ws->decades, 0, sizeof(ws->decades));
		wait_row(&rq->w, ws, "  %s", b.data);
		buf_free(&b);
	}
}

static void put_report(struct wait_report *w)
{
	put_by(w, KEY_REASON, "<Total>", "kind", reason_of);
	put_histogram((struct runqueue *)w);
	put_by(w, KEY_HOLDER, "Who had the CPU:", "thread", holder_of);
	put_by(w, KEY_WAITER, "Who waited:", "thread", waiter_of);
	put_by(w, KEY_PATH, "Where they were:", "stack", path_of);
}

int view_runqueue(struct view_state *v, struct table *t, struct diag *d)
{
	static const struct wait_view view = { .name = "runqueue",
					       .title = "Waits for a CPU, most time first",
					       .heading = "Wait for a CPU",
					       .what = "waits for a CPU",
					       .add = add_wait,
					       .put = put_report };
	struct runqueue rq = { 0 };

	for (unsigned i = 0; i < WAIT_OCTAVES; i++) {
		wait_stat_init(&rq.octaves[i], v->metric_set->compare ? v->session->groups.len : 0);
		wait_stat_bound(&rq.octaves[i], octave_us(i) * 1000,
				i + 1 < WAIT_OCTAVES ? octave_us(i + 1) * 1000 - 1 : INT64_MAX);
	}
	wait_report_run(&rq.w, &view, v, t);
	for (int i = 0; i < WAIT_OCTAVES; i++)
		wait_stat_fini(&rq.octaves[i]);
	return 0;
}
