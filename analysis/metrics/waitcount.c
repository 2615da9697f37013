/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/metrics/waitcount.h"

#include <stdlib.h>

#include "analysis/base/alloc.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "analysis/base/wrap.h"
#include "analysis/experiment/exp_threads.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/pass.h"
#include "analysis/model/session.h"

/* The waits in one state of one thread, or of the threads of one fold. */
struct wait_cell {
	int64_t exact;      /* by the recorder's count; 0: unknown */
	double traced;      /* traced packets, one wait each */
	double sampled;     /* sum of the sampled packets' own estimates */
	int64_t sampled_ns; /* weight of sampled packets */
	int64_t rest_ns;    /* weight of packets for the remainder */
	uint32_t recorded;  /* sampled packets */
	uint32_t estimates; /* these, and packets for the remainder */
	uint64_t marks;     /* of all estimates except the last */
	const unsigned char *last; /* packet of the last estimate */
};

struct wait_counts {
	struct map by_key; /* to index into cells */
	VEC(struct wait_cell) cells;
};

static uint64_t key_of(const struct experiment *founder, int64_t pid, int64_t tid, int64_t state)
{
	return hash64((uint64_t)pid << 32 | (uint32_t)tid) ^
	       hash64((uint64_t)founder->id << 8 | (uint64_t)state);
}

static struct wait_cell *cell_at(struct wait_counts *wc, uint64_t key)
{
	bool fresh;
	uint64_t *at = map_put(&wc->by_key, key, &fresh);

	if (fresh) {
		*at = wc->cells.len;
		vec_push(&wc->cells, (struct wait_cell){ 0 });
	}
	return &wc->cells.data[*at];
}

/* A fold has the key of a process that cannot exist. */
static uint64_t fold_key(const struct experiment *founder, const struct exp_fold *f, int64_t state)
{
	return key_of(founder, -1, f - founder->folds.data, state);
}

static void add_exact(struct wait_counts *wc, uint64_t key, int64_t n)
{
	if (n)
		add_to(&cell_at(wc, key)->exact, n);
}

static void add_threads(struct wait_counts *wc, const struct experiment *e)
{
	for (int state = 0; state < MS_COUNT; state++) {
		vec_for_each(th, &e->threads)
			add_exact(wc, key_of(e, th->pid, th->tid, state), th->off_n[state]);
		vec_for_each(f, &e->folds)
			add_exact(wc, fold_key(e, f, state), f->sum.off_n[state]);
	}
}

/*
 * Stolen time is not a wait of its own: it interrupts a thread that has a CPU. A wait that continues
 * from the segment before was counted there.
 */
static bool is_no_wait(const struct hit *h)
{
	int64_t reason = hit_reason(h);

	if (hit_wait_flags(h) & WFLAG_CONTINUED)
		return true;
	return reason == REASON_STOLEN || reason == REASON_STOLEN_IRQ;
}

enum share { SHARE_NONE, SHARE_TRACED, SHARE_SAMPLED, SHARE_REST };

static enum share share_of(const struct hit *h)
{
	uint32_t flags = hit_wait_flags(h);

	if (is_no_wait(h))
		return SHARE_NONE;
	if (flags & WFLAG_REST)
		return SHARE_REST;
	if (hit_part_length(h) <= 0)
		return SHARE_NONE;
	return flags & WFLAG_TRACED ? SHARE_TRACED : SHARE_SAMPLED;
}

static double unscaled(const struct hit *h)
{
	return (double)hit_weight(h) / (double)hit_part_length(h);
}

static uint64_t mark_of(const unsigned char *packet)
{
	return hash64((uintptr_t)packet);
}

static uint64_t hit_key(const struct hit *h)
{
	const struct exp_fold *f = hit_fold(h);

	if (f)
		return fold_key(experiment_founder(h->e), f, hit_state(h));
	return key_of(experiment_founder(h->e), hit_pid(h), hit_thread(h), hit_state(h));
}

uint32_t wait_counts_add(struct wait_counts *wc, const struct hit *h)
{
	enum share share = hit_is_wait(h) ? share_of(h) : SHARE_NONE;
	struct wait_cell *cell;

	if (share == SHARE_NONE)
		return 0;
	cell = cell_at(wc, hit_key(h));
	if (share == SHARE_TRACED) {
		cell->traced++;
		return 0;
	}
	if (share == SHARE_SAMPLED) {
		cell->recorded++;
		cell->sampled += unscaled(h);
		add_to(&cell->sampled_ns, hit_weight(h));
	} else {
		add_to(&cell->rest_ns, hit_weight(h));
	}
	cell->estimates++;
	if (cell->last)
		cell->marks += mark_of(cell->last);
	cell->last = h->packet->p;
	return 1 + (cell - wc->cells.data);
}

struct wait_counts *wait_counts_begin(const struct session *s)
{
	struct wait_counts *wc = xcalloc(1, sizeof(*wc));

	vec_for_each(e, &s->experiments) {
		if (!(*e)->founder)
			add_threads(wc, *e);
	}
	return wc;
}

static void add_hit(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	wait_counts_add(ctx, h);
}

struct wait_counts *wait_counts_new(struct session *s)
{
	struct wait_counts *wc = wait_counts_begin(s);

	pass_run(s, NULL, NULL, add_hit, NULL, wc);
	return wc;
}

void wait_counts_free(struct wait_counts *wc)
{
	if (!wc)
		return;
	map_free(&wc->by_key);
	vec_free(&wc->cells);
	free(wc);
}

/* The waits of a cell that estimates share: those that were not traced. */
static double shared(const struct wait_cell *cell)
{
	double n = (double)cell->exact - cell->traced;

	return n > 0 ? n : 0;
}

static const struct wait_cell *cell_of(const struct wait_counts *wc, const struct hit *h)
{
	const uint64_t *at = map_get(&wc->by_key, hit_key(h));

	return at ? &wc->cells.data[*at] : NULL;
}

/* Sampled packets and the remainder share the waits in proportion to their time. */
static struct wait_factors factors_of(const struct wait_cell *cell)
{
	struct wait_factors ret = { 0 };

	if (!cell || !cell->exact)
		return (struct wait_factors){ .waits = 1, .ratios = 1, .all_ns = 1, .unscaled = true };
	ret.all_ns = (double)cell->sampled_ns + (double)cell->rest_ns;
	ret.all_waits = ret.all_ns > 0 ? shared(cell) : 0;
	ret.all_ns = ret.all_ns > 0 ? ret.all_ns : 1;
	ret.ratios = 1;
	if (cell->sampled > 0) {
		ret.waits = ret.all_waits * (double)cell->sampled_ns / ret.all_ns;
		ret.ratios = cell->sampled;
		ret.estimates = cell->estimates;
		ret.unseen = shared(cell) > cell->recorded;
	}
	return ret;
}

uint32_t wait_counts_factor(const struct wait_counts *wc, const struct hit *h)
{
	enum share kind = share_of(h);
	const struct wait_cell *cell;

	if (kind == SHARE_NONE || kind == SHARE_TRACED)
		return 0;
	cell = cell_of(wc, h);
	return cell ? 1 + (cell - wc->cells.data) : 0;
}

struct wait_factors wait_factors_at(const struct wait_counts *wc, uint32_t number)
{
	return factors_of(&wc->cells.data[number - 1]);
}

struct wait_count wait_counts_of(const struct wait_counts *wc, const struct hit *h)
{
	enum share kind = share_of(h);
	const struct wait_cell *cell;
	struct wait_count ret = { 0 };
	struct wait_factors f;

	if (kind == SHARE_NONE || kind == SHARE_TRACED)
		return (struct wait_count){ .n = kind == SHARE_TRACED };
	cell = cell_of(wc, h);
	f = factors_of(cell);
	ret.n = kind == SHARE_REST ? f.all_waits * (double)hit_weight(h) / f.all_ns : f.waits * unscaled(h) / f.ratios;
	ret.unscaled = f.unscaled && kind == SHARE_SAMPLED;
	ret.unseen = f.unseen;
	if (f.estimates)
		ret.mark = h->packet->p == cell->last ? -cell->marks : mark_of(h->packet->p);
	return ret;
}
