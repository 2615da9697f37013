/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heappeak: the blocks that were in use when most memory was in use, by the call stack that allocated them.
 * The peak is heapstat's: that of one process, and under a filter that of the calls that pass it.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/base/map.h"
#include "analysis/base/sort.h"
#include "analysis/experiment/experiment.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/leaks.h"
#include "analysis/metrics/pass.h"
#include "analysis/views/columns.h"
#include "analysis/views/stacks.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

enum { COL_COUNT, COL_BYTES, COL_ERROR, COL_NAME };

/* What one stack had in use at the peak. */
struct held {
	uint32_t stack;
	uint64_t blocks, bytes;
	double variance;
};

typedef VEC(struct held) held_vec;

struct peak_pass {
	struct map *passed;          /* addresses of packets that pass the filter; NULL: there is no filter */
	const heap_blocks *blocks;
	struct map at;               /* address of a packet, to its block + 1 */
	struct map by_stack;         /* stack + 1, to its place in `held` + 1 */
	held_vec held;
	struct held total;
};

static void note_passed(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct peak_pass *p = ctx;

	if (h->stream->kind == ER_PKT_HEAP)
		map_put(p->passed, (uintptr_t)h->packet->p, NULL);
}

static void held_add(struct held *h, const struct heap_block *b)
{
	h->blocks++;
	h->bytes += b->bytes;
	h->variance += b->variance;
}

static void add_block(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct peak_pass *p = ctx;
	const uint64_t *at = h->stream->kind == ER_PKT_HEAP ? map_get(&p->at, (uintptr_t)h->packet->p) : NULL;
	uint64_t *place;
	bool fresh;

	if (!at)
		return;
	place = map_put(&p->by_stack, (uint64_t)h->stack + 1, &fresh);
	if (!*place) {
		vec_push(&p->held, (struct held){ .stack = h->stack });
		*place = p->held.len;
	}
	held_add(&p->held.data[*place - 1], &p->blocks->data[*at - 1]);
	held_add(&p->total, &p->blocks->data[*at - 1]);
}

/* The largest first; of equal ones that of more blocks. */
static int held_cmp(const void *pa, const void *pb)
{
	const struct held *a = pa, *b = pb;

	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	if (a->blocks != b->blocks)
		return a->blocks < b->blocks ? 1 : -1;
	return (a->stack > b->stack) - (a->stack < b->stack);
}

static void put_columns(struct table *t, bool sampled, bool errors)
{
	static const struct column columns[] = {
		[COL_COUNT] = { .kind = CELL_COUNT, .title = { "Blocks", "In Use" } },
		[COL_BYTES] = { .kind = CELL_COUNT, .title = { "Bytes", "In Use" } },
		[COL_ERROR] = { .kind = CELL_COUNT, .title = { "Bytes", "Std. Error" },
				.full = { "Bytes", "Standard Error" } },
	};

	t->name = "heappeak";
	t->title = "In use at the peak of memory, sorted by bytes";
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		vec_push(&t->columns, columns[i]);
	t->columns.data[COL_ERROR].hidden = !sampled || !errors;
	text_column(t, "Name");
	t->columns.data[COL_NAME].wrap = true;
}

static struct row *put_held(struct table *t, const struct held *h, bool sampled, int group)
{
	struct row *r = table_row(t);

	r->group = group;
	r->cells[COL_COUNT] = (struct cell){ .kind = CELL_COUNT, .i = h->blocks };
	r->cells[COL_BYTES] = (struct cell){ .kind = CELL_COUNT, .i = h->bytes, .estimate = sampled };
	r->cells[COL_ERROR] = (struct cell){ .kind = CELL_COUNT,
					     .i = llround(sqrt(h->variance > 0 ? h->variance : 0)) };
	return r;
}

static void put_stacks(struct view_state *v, struct table *t, const struct peak_pass *p, bool sampled)
{
	put_text(put_held(t, &p->total, sampled, 0), COL_NAME, "<Total>");
	for (size_t i = 0; i < p->held.len && (!v->limit || i < v->limit); i++) {
		const struct held *h = &p->held.data[i];

		put_textf(t, put_held(t, h, sampled, i + 1), COL_NAME, "Stack #%zu", i + 1);
		put_stack_frames(v, t, h->stack, i + 1);
	}
}

static void put_notes(struct view_state *v, struct table *t, const struct heap_peak *peak, bool sampled)
{
	if (peak->e)
		put_note(t, "The peak was at %.3f seconds in process %" PRId64 " (experiment %d)%s.", peak->time_ns / 1e9,
			 (int64_t)peak->e->pid, (int)peak->e->id,
			 v->filter ? ". Only calls that pass the filter count" : "");
	if (sampled)
		put_note(t, "~ marks an estimate: only a sample of the allocations was recorded%s. Blocks are those of "
			 "the sample.", v->errors ? "" : "; `errors on' shows standard errors");
}

static void peak_pass_free(struct peak_pass *p)
{
	map_free(&p->at);
	map_free(&p->by_stack);
	vec_free(&p->held);
}

int view_heappeak(struct view_state *v, struct table *t, struct diag *d)
{
	struct map passed = { 0 };
	struct peak_pass p = { .passed = v->filter ? &passed : NULL };
	bool sampled = leaks_sampled(v->session), fresh;
	heap_blocks blocks;
	struct heap_peak peak;

	if (!v->metric_set->leaks)
		return diag_error(d, "heappeak: the experiments were recorded without heap tracing (collect -H on)");
	if (v->filter)
		pass_run(v->session, NULL, v->filter, note_passed, NULL, &p);
	leaks_at_peak(v->session, p.passed, &peak, &blocks);
	p.blocks = &blocks;
	for (size_t i = 0; i < blocks.len; i++)
		*map_put(&p.at, blocks.data[i].packet, &fresh) = i + 1;
	pass_run(v->session, NULL, v->filter, add_block, NULL, &p);
	vec_sort(&p.held, held_cmp);
	put_columns(t, sampled, v->errors);
	put_stacks(v, t, &p, sampled);
	put_notes(v, t, &peak, sampled);
	peak_pass_free(&p);
	map_free(&passed);
	vec_free(&blocks);
	return 0;
}
