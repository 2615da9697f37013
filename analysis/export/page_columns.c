/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_columns.h"

#include "analysis/base/parallel.h"
#include "analysis/export/page_events.h"
#include "analysis/export/page_pack.h"

/*
 * The number of events in a pack. If every event is a wait with a waker, that is about 8 MB of
 * base64.
 */
enum { PACK_EVENTS = 1 << 20 };

typedef void (*put_fn)(struct pack *p, const struct page_event *ev,
		       const struct page_event *before);

static void put_merged(struct pack *p, const struct page_event *ev, const struct page_event *before)
{
	pack_uint(p, ev->merged);
}

/* Sums of merged events; 0 for others. Weights are from files, and may be any numbers. */
static uint64_t whole(const struct page_event *ev, double sum)
{
	return ev->merged ? sum < 1e18 ? (uint64_t)sum : (uint64_t)1e18 : 0;
}

static void put_squares(struct pack *p, const struct page_event *ev,
			const struct page_event *before)
{
	pack_uint(p, whole(ev, ev->squares));
}

static void put_variance(struct pack *p, const struct page_event *ev,
			 const struct page_event *before)
{
	pack_uint(p, whole(ev, ev->variance));
}

static void put_time(struct pack *p, const struct page_event *ev, const struct page_event *before)
{
	pack_int(p, ev->end - (before ? before->end : 0));
}

static void put_thread(struct pack *p, const struct page_event *ev, const struct page_event *before)
{
	pack_uint(p, ev->thread);
}

static void put_path(struct pack *p, const struct page_event *ev, const struct page_event *before)
{
	pack_uint(p, ev->path);
}

static void put_class(struct pack *p, const struct page_event *ev, const struct page_event *before)
{
	pack_uint(p, ev->event_class);
}

static void put_weight(struct pack *p, const struct page_event *ev, const struct page_event *before)
{
	pack_int(p, ev->weight);
}

static void put_cpu(struct pack *p, const struct page_event *ev, const struct page_event *before)
{
	pack_int(p, ev->cpu);
}

/* If all waits are recorded, the length of a wait usually equals its weight. */
static void put_length(struct pack *p, const struct page_event *ev, const struct page_event *before)
{
	pack_int(p, ev->length - ev->weight);
}

static void put_waker(struct pack *p, const struct page_event *ev, const struct page_event *before)
{
	pack_uint(p, ev->waker);
}

static void put_waker_path(struct pack *p, const struct page_event *ev,
			   const struct page_event *before)
{
	pack_uint(p, ev->waker_path);
}

/* The holder of a lock usually ends the wait for it: 0 none, 1 the waker, else index + 2. */
static void put_holder(struct pack *p, const struct page_event *ev, const struct page_event *before)
{
	pack_uint(p, !ev->holder ? 0 : ev->holder == ev->waker ? 1 : ev->holder + 1);
}

static void put_spans(struct pack *p, const struct page_event *ev, const struct page_event *before)
{
	pack_uint(p, ev->spans);
}

static void put_variant(struct pack *p, const struct page_event *ev,
			const struct page_event *before)
{
	pack_uint(p, ev->variant);
}

static void put_lock(struct pack *p, const struct page_event *ev, const struct page_event *before)
{
	pack_uint(p, ev->lock);
}

enum column_of { OF_ALL, OF_WAITS, OF_MERGED, OF_IN_SPANS, OF_LATER };

/*
 * Columns OF_MERGED and OF_IN_SPANS have a value for each event if a pack has such events, else none.
 * Those OF_LATER have one for each event; they are in packs of their own.
 */
static const struct {
	const char *tag;
	enum column_of of;
	put_fn put;
} columns[] = {
	{ "mrgd", OF_MERGED, put_merged },   { "sqrs", OF_MERGED, put_squares },
	{ "vari", OF_MERGED, put_variance }, { "time", OF_ALL, put_time },
	{ "thrd", OF_ALL, put_thread },	     { "path", OF_ALL, put_path },
	{ "clas", OF_ALL, put_class },	     { "wght", OF_ALL, put_weight },
	{ "cpus", OF_ALL, put_cpu },	     { "leng", OF_WAITS, put_length },
	{ "wakr", OF_WAITS, put_waker },     { "wkpt", OF_WAITS, put_waker_path },
	{ "hold", OF_WAITS, put_holder },    { "spns", OF_IN_SPANS, put_spans },
	{ "vrnt", OF_LATER, put_variant },   { "lock", OF_LATER, put_lock },
};

/* Which kinds of columns these events need. */
static unsigned kinds_of(const struct page_events *events, size_t from, size_t to)
{
	unsigned ret = 1U << OF_ALL | 1U << OF_WAITS;

	for (size_t i = from; i < to; i++)
		ret |= (events->all.data[i].merged > 0) << OF_MERGED |
		       (events->all.data[i].spans > 0) << OF_IN_SPANS;
	return ret;
}

static void put_column(struct pack *p, const struct page_events *events, size_t from, size_t to,
		       size_t c)
{
	pack_begin(p, columns[c].tag);
	for (size_t i = from; i < to; i++) {
		const struct page_event *ev = &events->all.data[i];

		if (columns[c].of != OF_WAITS || class_is_wait(&events->classes.data[ev->event_class]))
			columns[c].put(p, ev, i > from ? ev - 1 : NULL);
	}
	pack_end(p);
}

static void put_pack(struct pack *p, const struct page_events *events, size_t from, size_t to, bool later)
{
	unsigned kinds = later ? 1U << OF_LATER : kinds_of(events, from, to);

	pack_begin(p, "evts");
	pack_uint(p, from);
	pack_uint(p, to - from);
	pack_end(p);
	for (size_t c = 0; c < sizeof(columns) / sizeof(columns[0]); c++) {
		if (kinds >> columns[c].of & 1)
			put_column(p, events, from, to, c);
	}
}

/* Part i makes every nth pack. */
struct packing {
	const struct page_events *events;
	packed_vec *packs;
	size_t nparts;
	bool later;
};

static void make_part(void *ctx, size_t part)
{
	const struct packing *m = ctx;
	size_t n = m->events->all.len;
	struct pack p = { 0 };

	for (size_t i = part; i < m->packs->len; i += m->nparts) {
		size_t from = i * PACK_EVENTS, rest = n - from;

		put_pack(&p, m->events, from, from + (rest < PACK_EVENTS ? rest : PACK_EVENTS),
			 m->later);
		m->packs->data[i] = pack_compress(&p);
		pack_clear(&p);
	}
	pack_free(&p);
}

static void make_packs(const struct page_events *events, bool later, packed_vec *ret)
{
	struct packing m = { .events = events, .packs = ret, .nparts = parallel_parts(), .later = later };

	*ret = (packed_vec){ 0 };
	for (size_t i = 0; i < events->all.len; i += PACK_EVENTS)
		vec_push(ret, (struct packed){ 0 });
	parallel_run(make_part, &m, m.nparts < ret->len ? m.nparts : ret->len);
}

void make_columns(const struct page_events *events, packed_vec *ret)
{
	make_packs(events, false, ret);
}

void make_later_columns(const struct page_events *events, packed_vec *ret)
{
	make_packs(events, true, ret);
}
