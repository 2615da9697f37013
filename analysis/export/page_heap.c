/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_heap.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/alloc.h"
#include "analysis/base/wrap.h"
#include "analysis/experiment/experiment.h"
#include "analysis/export/page_pack.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/leaks.h"
#include "analysis/metrics/metric.h"
#include "analysis/views/view_state.h"

/* JavaScript computes with integers below this exactly. */
static const uint64_t EXACT_BELOW = (uint64_t)1 << 53;

static struct heap_stream *stream_of(struct page_heap *ph, const struct hit *h)
{
	size_t n = ph->streams.len;

	/* A pass goes through one stream after the other. */
	if (!n || ph->streams.data[n - 1].stream != h->stream)
		vec_push(&ph->streams,
			 (struct heap_stream){ .e = h->e,
					       .stream = h->stream,
					       .type = stream_field(h->stream, "HTYPE"),
					       .size = stream_field(h->stream, "HSIZE"),
					       .addr = stream_field(h->stream, "HVADDR"),
					       .old_addr = stream_field(h->stream, "HOVADDR") });
	return &ph->streams.data[ph->streams.len - 1];
}

static bool is_exact(const struct page_heap *ph, const struct heap_call *c)
{
	uint64_t from_start = c->time_ns < 0 ? -(uint64_t)c->time_ns : (uint64_t)c->time_ns;

	return c->size < EXACT_BELOW && c->addr < EXACT_BELOW && c->old_addr < EXACT_BELOW &&
	       c->addr + c->size < EXACT_BELOW && ph->bytes < EXACT_BELOW - c->size &&
	       from_start < EXACT_BELOW;
}

uint32_t page_heap_add(struct page_heap *ph, const struct leaks *l, const struct hit *h)
{
	const struct packet *p = h->packet;
	struct heap_stream *s;
	struct heap_call c;
	int64_t type;

	if (h->stream->kind != ER_PKT_HEAP)
		return 0;
	s = stream_of(ph, h);
	type = packet_int(p, s->type);
	c = (struct heap_call){ .time_ns = hit_time(h),
				.type = type < 0 || type > HEAP_MUNMAP ? HEAP_MUNMAP + 1 : type,
				.size = packet_int(p, s->size),
				.addr = packet_int(p, s->addr),
				.temporary = leaks_temporary(l, p),
				.stream = ph->streams.len - 1,
				.order = s->n++ };
	if (c.type == HEAP_REALLOC)
		c.old_addr = packet_int(p, s->old_addr);
	if (is_exact(ph, &c))
		ph->bytes += c.size;
	else
		ph->too_large = true;
	vec_push(&ph->calls, c);
	return ph->calls.len;
}

/* A call, and its number - 1 before sorting. */
struct ranked {
	struct heap_call call;
	uint32_t index;
};

static int by_time(const void *pa, const void *pb)
{
	const struct heap_call *a = &((const struct ranked *)pa)->call;
	const struct heap_call *b = &((const struct ranked *)pb)->call;

	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

void page_heap_sort(struct page_heap *ph)
{
	VEC(struct ranked) all = { 0 };

	ph->rank = xcalloc(ph->calls.len + 1, sizeof(*ph->rank));
	for (size_t i = 0; i < ph->calls.len; i++)
		vec_push(&all, (struct ranked){ ph->calls.data[i], i });
	vec_sort(&all, by_time);
	for (size_t i = 0; i < all.len; i++) {
		ph->calls.data[i] = all.data[i].call;
		ph->rank[all.data[i].index] = i + 1;
	}
	vec_free(&all);
}

bool page_heap_usable(const struct page_heap *ph)
{
	return ph->calls.len && !ph->too_large;
}

/* When a descendant ended, its memory was no longer in use. */
static void put_end(const struct experiment *e, struct buf *b)
{
	if (e->founder)
		buf_printf(b, "%" PRId64,
			   wrap_plus(e->end_ns, wrap_minus(e->start_ns, e->origin->start_ns)));
	else
		buf_puts(b, "null");
}

/* Elements of streams: number of calls, experiment, PID, mean of sampling (0: all calls were
 * recorded), end in nanoseconds. */
static void put_streams(const struct page_heap *ph, const struct view_state *v, struct buf *b)
{
	buf_puts(b, "{\"streams\":[");
	for (size_t i = 0; i < ph->streams.len; i++) {
		const struct heap_stream *s = &ph->streams.data[i];

		buf_printf(b, "%s[%zu,%" PRIu32 ",%" PRId64 ",%" PRId64 ",", i ? "," : "", s->n,
			   s->e->id, (int64_t)s->e->pid, (int64_t)s->stream->sampled);
		put_end(s->e, b);
		buf_puts(b, "]");
	}
	buf_printf(b, "],\"unknown\":%" PRIu64 ",\"limit\":%zu}",
		   leaks_unknown_frees(v->metric_set->leaks), v->limit);
}

enum column { TYPE, SIZE, ADDR, OLD_ADDR, TIME, NCOLUMNS };

static const char *const tags[NCOLUMNS] = { "htyp", "hsiz", "hadr", "hold", "htim" };

/* Addresses and times are near those of the call before. */
static void put_value(struct pack *p, enum column column, const struct heap_call *c,
		      const struct heap_call *before)
{
	switch (column) {
	case TYPE:
		pack_uint(p, c->type | c->temporary << 3);
		break;
	case SIZE:
		pack_uint(p, c->size);
		break;
	case ADDR:
		pack_int(p, (int64_t)(c->addr - before->addr));
		break;
	case OLD_ADDR:
		pack_int(p, c->type == HEAP_REALLOC ? (int64_t)(c->old_addr - c->addr) : 0);
		break;
	default:
		pack_int(p, wrap_minus(c->time_ns, before->time_ns));
	}
}

void put_heap(const struct page_heap *ph, const struct view_state *v, struct pack *ret)
{
	static const struct heap_call none;

	pack_begin(ret, "json");
	put_streams(ph, v, &ret->bytes);
	pack_end(ret);
	for (int column = 0; column < NCOLUMNS; column++) {
		pack_begin(ret, tags[column]);
		for (size_t i = 0; i < ph->calls.len; i++)
			put_value(ret, column, &ph->calls.data[i],
				  i ? &ph->calls.data[i - 1] : &none);
		pack_end(ret);
	}
}

void page_heap_free(struct page_heap *ph)
{
	vec_free(&ph->calls);
	vec_free(&ph->streams);
	free(ph->rank);
}
