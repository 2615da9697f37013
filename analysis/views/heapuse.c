/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heapuse: the memory in use over time, all processes together. The time from the first change to the last
 * is divided into equal parts, a row each.
 */
#include <inttypes.h>
#include <math.h>

#include "analysis/base/diag.h"
#include "analysis/base/map.h"
#include "analysis/base/wrap.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/leaks.h"
#include "analysis/metrics/pass.h"
#include "analysis/views/columns.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

enum { PARTS = 20, PARTS_MOST = 10000 };
enum { COL_TIME, COL_BYTES, COL_ERROR, COL_HIGHEST, COL_ALLOCATED };

/* The memory in use, and in the present part of the time. */
struct in_use {
	int64_t bytes, highest;
	int64_t allocated; /* in this part */
	double variance;
};

/* The packets that pass the filter. */
struct passed {
	const struct leaks *leaks;
	struct map packets; /* their addresses */
	uint64_t temporary;
};

static void note_packet(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct passed *p = ctx;

	if (h->stream->kind != ER_PKT_HEAP)
		return;
	map_put(&p->packets, (uintptr_t)h->packet->p, NULL);
	p->temporary += leaks_temporary(p->leaks, h->packet);
}

static void put_columns(struct table *t, bool sampled, bool errors)
{
	static const struct column columns[] = {
		[COL_TIME] = { .kind = CELL_TIME, .title = { "Time", NULL, "sec." } },
		[COL_BYTES] = { .kind = CELL_COUNT, .title = { "Bytes", "In Use" } },
		[COL_ERROR] = { .kind = CELL_COUNT, .title = { "Bytes", "Std. Error" },
				.full = { "Bytes", "Standard Error" } },
		[COL_HIGHEST] = { .kind = CELL_COUNT, .title = { "Bytes", "Highest" } },
		[COL_ALLOCATED] = { .kind = CELL_COUNT, .title = { "Bytes", "Allocated" } },
	};

	t->name = "heapuse";
	t->title = "Memory in use over time";
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		vec_push(&t->columns, columns[i]);
	t->columns.data[COL_ERROR].hidden = !sampled || !errors;
}

static struct cell bytes_cell(int64_t bytes, bool estimate)
{
	return (struct cell){ .kind = CELL_COUNT, .i = bytes, .estimate = estimate };
}

static void put_part(struct table *t, int64_t end_ns, const struct in_use *u, bool sampled)
{
	struct row *r = table_row(t);

	r->cells[COL_TIME] = (struct cell){ .kind = CELL_TIME, .i = end_ns };
	r->cells[COL_BYTES] = bytes_cell(u->bytes, sampled);
	r->cells[COL_ERROR] = bytes_cell(llround(sqrt(u->variance > 0 ? u->variance : 0)), false);
	r->cells[COL_HIGHEST] = bytes_cell(u->highest, sampled);
	r->cells[COL_ALLOCATED] = bytes_cell(u->allocated, sampled);
}

static void put_parts(struct table *t, const heap_changes *changes, size_t nparts, bool sampled)
{
	int64_t begin = changes->data[0].time_ns;
	uint64_t length = (uint64_t)changes->data[changes->len - 1].time_ns - (uint64_t)begin;
	struct in_use u = { 0 };
	size_t at = 0;

	for (size_t part = 1; part <= nparts; part++) {
		int64_t end = begin + (int64_t)(part == nparts ? length : (uint64_t)((double)length / nparts * part));

		u.highest = u.bytes;
		u.allocated = 0;
		for (; at < changes->len && changes->data[at].time_ns <= end; at++) {
			const struct heap_change *c = &changes->data[at];

			u.bytes = wrap_plus(u.bytes, c->bytes);
			u.variance += c->variance;
			u.highest = u.bytes > u.highest ? u.bytes : u.highest;
			u.allocated = c->bytes > 0 ? wrap_plus(u.allocated, c->bytes) : u.allocated;
		}
		put_part(t, end, &u, sampled);
	}
}

int view_heapuse(struct view_state *v, struct table *t, struct diag *d)
{
	struct passed passed = { .leaks = v->metric_set->leaks };
	bool sampled = leaks_sampled(v->session);
	size_t most = view_most(v, PARTS);
	heap_changes changes;

	if (!v->metric_set->leaks)
		return diag_error(d, "heapuse: the experiments were recorded without heap tracing "
				     "(collect -H on)");
	pass_run(v->session, NULL, v->filter, note_packet, NULL, &passed);
	leaks_changes(v->session, v->filter ? &passed.packets : NULL, &changes);
	put_columns(t, sampled, v->errors);
	if (changes.len)
		put_parts(t, &changes, most < PARTS_MOST ? most : PARTS_MOST, sampled);
	if (sampled)
		put_note(t, "~ marks an estimate: only a sample of the allocations was recorded%s.",
			 v->errors ? "" : "; `errors on' shows standard errors");
	else
		put_note(t, "Temporary allocations: %" PRIu64 ". Each was freed by its thread before this thread made "
			 "another one%s.", passed.temporary, metric_find(v->metric_set, "heaptempcnt") ?
			 "; metric heaptempcnt has them by function" : "");
	map_free(&passed.packets);
	vec_free(&changes);
	return 0;
}
