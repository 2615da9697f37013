/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/symbols/inline.h"

uint32_t inline_add(struct inline_index *x, uint32_t outer, const struct inline_callee *callee,
		    uint32_t file, uint32_t line)
{
	uint32_t depth = outer ? x->calls.data[outer - 1].depth + 1 : 1;

	vec_push(&x->calls, (struct inline_call){ .outer = outer,
						  .depth = depth,
						  .file = file,
						  .line = line,
						  .callee = callee });
	return x->calls.len;
}

void inline_add_range(struct inline_index *x, uint32_t call, uint64_t lo, uint64_t hi)
{
	if (lo < hi)
		vec_push(&x->ranges,
			 (struct inline_range){ .lo = lo,
						.hi = hi,
						.call = call,
						.depth = x->calls.data[call - 1].depth });
}

static int range_cmp(const void *pa, const void *pb)
{
	const struct inline_range *a = pa, *b = pb;

	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return (a->call > b->call) - (a->call < b->call);
}

void inline_add_point(struct inline_index *x, uint64_t addr, uint32_t call)
{
	struct inline_point *last = x->points.len ? &x->points.data[x->points.len - 1] : NULL;

	if (last && last->addr == addr)
		last->call = call;
	else if (!last || last->call != call)
		vec_push(&x->points, (struct inline_point){ addr, call });
}

/*
 * Open ranges form a stack, each inside the one below. Before a range is opened those
 * that end earlier are closed, so points are created in address order.
 */
void inline_finish(struct inline_index *x)
{
	VEC(struct inline_range) open = { 0 };

	vec_sort(&x->ranges, range_cmp);
	for (size_t i = 0; i <= x->ranges.len; i++) {
		bool end = i == x->ranges.len;
		struct inline_range r =
			end ? (struct inline_range){ .lo = UINT64_MAX } : x->ranges.data[i];

		while (open.len && open.data[open.len - 1].hi <= r.lo) {
			uint64_t at = open.data[--open.len].hi;

			inline_add_point(x, at, open.len ? open.data[open.len - 1].call : 0);
		}
		if (end)
			break;
		if (open.len && r.hi > open.data[open.len - 1].hi)
			r.hi = open.data[open.len - 1].hi;
		inline_add_point(x, r.lo, r.call);
		vec_push(&open, r);
	}
	vec_free(&open);
	vec_free(&x->ranges);
}

const struct inline_call *inline_find(const struct inline_index *x, uint64_t addr)
{
	size_t n = vec_upto(&x->points, addr, addr);
	uint32_t call = n ? x->points.data[n - 1].call : 0;

	return call ? &x->calls.data[call - 1] : NULL;
}

void inline_free(struct inline_index *x)
{
	vec_free(&x->calls);
	vec_free(&x->ranges);
	vec_free(&x->points);
}
