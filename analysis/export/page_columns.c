/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_columns.h"

#include "analysis/base/parallel.h"
#include "analysis/export/page_events.h"
#include "analysis/export/page_pack.h"

/*
 * The number of events in a pack. If every event is a wait with a waker, that is about 2 MB of
 * base64: a browser decodes the first packs while it reads the others. Packs four times as large were no smaller.
 */
enum { PACK_EVENTS = 1 << 18 };

typedef void (*put_fn)(struct pack *p, const struct page_event *ev,
		       const struct page_event *before);

static void put_merged(struct pack *p, const struct page_event *ev, const struct page_event *before)
{
	pack_uint(p, ev->merged);
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
	pack_uint(p, page_unusual(ev->holder, ev->waker));
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

static void put_factor(struct pack *p, const struct page_event *ev, const struct page_event *before)
{
	pack_uint(p, ev->merged ? 0 : ev->factor);
}

static void put_length_ns(struct pack *p, const struct page_event *ev, const struct page_event *before)
{
	pack_uint(p, ev->length_ns);
}

/* The second value of an event of page_counts.h. */
static void put_second(struct pack *p, const struct page_event *ev, const struct page_event *before)
{
	pack_int(p, ev->length);
}

static void put_subject(struct pack *p, const struct page_event *ev, const struct page_event *before)
{
	pack_uint(p, ev->subject);
}

/* Numbers of calls for memory, which are often one after the other. */
static void put_heap_number(struct pack *p, const struct page_event *ev, const struct page_event *before)
{
	pack_int(p, (int64_t)ev->heap - (before ? before->heap : 0));
}

/* Packs of the page's events; of those columns of them that are read later; of the events of page_counts.h. */
enum pack_kind { OF_EVENTS, OF_LATER, OF_COUNTS };
enum { EVENTS = 1 << OF_EVENTS, LATER = 1 << OF_LATER, COUNTS = 1 << OF_COUNTS };

enum column_of { ALL, WAITS, MERGED, SQUARES, VARIANCES, IN_SPANS, DIVIDED, SECOND, SUBJECT, HEAP_CALL };
enum { IF_MERGED = 1 << MERGED | 1 << SQUARES | 1 << VARIANCES };

/*
 * Columns of WAITS have a value for each wait, others for each event. Other columns but
 * those of ALL are there only if a pack has such events. SQUARES and VARIANCES are struct merged_sums of merged
 * events, DIVIDED is the length of a wait's other parts in nanoseconds; other events have 0.
 */
static const struct {
	const char *tag;
	unsigned packs;
	enum column_of of;
	put_fn put;
} columns[] = {
	{ "mrgd", EVENTS, MERGED, put_merged },
	{ "sqrs", EVENTS, SQUARES, NULL },
	{ "vari", EVENTS, VARIANCES, NULL },
	{ "time", EVENTS | COUNTS, ALL, put_time },
	{ "thrd", EVENTS | COUNTS, ALL, put_thread },
	{ "path", EVENTS | COUNTS, ALL, put_path },
	{ "clas", EVENTS | COUNTS, ALL, put_class },
	{ "wght", EVENTS | COUNTS, ALL, put_weight },
	{ "cpus", EVENTS | COUNTS, ALL, put_cpu },
	{ "leng", EVENTS, WAITS, put_length },
	{ "wakr", EVENTS, WAITS, put_waker },
	{ "wkpt", EVENTS, WAITS, put_waker_path },
	{ "hold", EVENTS, WAITS, put_holder },
	{ "spns", EVENTS | COUNTS, IN_SPANS, put_spans },
	{ "vrnt", LATER | COUNTS, ALL, put_variant },
	{ "lock", LATER, ALL, put_lock },
	{ "fact", LATER, ALL, put_factor },
	{ "lens", LATER, ALL, put_length_ns },
	{ "othr", LATER, DIVIDED, NULL },
	{ "scnd", COUNTS, SECOND, put_second },
	{ "sbjt", COUNTS, SUBJECT, put_subject },
	{ "heap", COUNTS, HEAP_CALL, put_heap_number },
};

/* Events that are divided into packs. Part i makes every nth pack. */
struct packing {
	const struct page_events *events;
	enum pack_kind kind;
	const struct page_event *all;
	size_t n;
	packed_vec *packs;
	size_t nparts;
};

/* Which columns these events need. */
static unsigned needed(const struct packing *m, size_t from, size_t to)
{
	unsigned ret = 1U << ALL | 1U << WAITS;

	for (size_t i = from; i < to; i++)
		ret |= (m->all[i].merged > 0) * IF_MERGED | (m->all[i].spans > 0) << IN_SPANS |
		       (m->all[i].others > 0) << DIVIDED |
		       (m->all[i].length != 0) << SECOND | (m->all[i].subject > 0) << SUBJECT |
		       (m->all[i].heap > 0) << HEAP_CALL;
	return ret;
}

/* Weights are from files, so their squares may be any numbers. */
static void put_sum(struct pack *p, const struct packing *m, const struct page_event *ev, enum column_of of)
{
	const struct merged_sums *sums = ev->merged ? &m->events->sums.data[ev->sums] : NULL;
	double sum = !sums ? 0 : of == SQUARES ? sums->squares : sums->variance;

	pack_uint(p, sum < 1e18 ? (uint64_t)sum : (uint64_t)1e18);
}

static void put_others(struct pack *p, const struct packing *m, const struct page_event *ev)
{
	pack_uint(p, ev->others ? (uint64_t)m->events->other_parts.data[ev->others - 1] : 0);
}

static void put_column(struct pack *p, const struct packing *m, size_t from, size_t to, size_t c)
{
	pack_begin(p, columns[c].tag);
	for (size_t i = from; i < to; i++) {
		const struct page_event *ev = &m->all[i];

		if (columns[c].of == SQUARES || columns[c].of == VARIANCES)
			put_sum(p, m, ev, columns[c].of);
		else if (columns[c].of == DIVIDED)
			put_others(p, m, ev);
		else if (columns[c].of != WAITS ||
			 class_is_wait(&m->events->classes.data[ev->event_class]))
			columns[c].put(p, ev, i > from ? ev - 1 : NULL);
	}
	pack_end(p);
}

static void put_pack(struct pack *p, const struct packing *m, size_t from, size_t to)
{
	unsigned of = needed(m, from, to);

	pack_begin(p, "evts");
	pack_uint(p, from);
	pack_uint(p, to - from);
	pack_end(p);
	for (size_t c = 0; c < sizeof(columns) / sizeof(columns[0]); c++) {
		if (columns[c].packs >> m->kind & 1 && of >> columns[c].of & 1)
			put_column(p, m, from, to, c);
	}
}

static void make_part(void *ctx, size_t part)
{
	const struct packing *m = ctx;
	struct pack p = { 0 };

	for (size_t i = part; i < m->packs->len; i += m->nparts) {
		size_t from = i * PACK_EVENTS, rest = m->n - from;

		put_pack(&p, m, from, from + (rest < PACK_EVENTS ? rest : PACK_EVENTS));
		m->packs->data[i] = pack_compress(&p);
		pack_clear(&p);
	}
	pack_free(&p);
}

static void make_packs(const struct page_events *events, enum pack_kind kind, packed_vec *ret)
{
	struct packing m = { .events = events, .kind = kind, .packs = ret, .nparts = parallel_parts() };

	m.all = kind == OF_COUNTS ? events->counts.all.data : events->all.data;
	m.n = kind == OF_COUNTS ? events->counts.all.len : events->all.len;
	*ret = (packed_vec){ 0 };
	for (size_t i = 0; i < m.n; i += PACK_EVENTS)
		vec_push(ret, (struct packed){ 0 });
	parallel_run(make_part, &m, m.nparts < ret->len ? m.nparts : ret->len);
}

void make_columns(const struct page_events *events, packed_vec *ret)
{
	make_packs(events, OF_EVENTS, ret);
}

void make_count_columns(const struct page_events *events, packed_vec *ret)
{
	make_packs(events, OF_COUNTS, ret);
}

void make_later_columns(const struct page_events *events, packed_vec *ret)
{
	make_packs(events, OF_LATER, ret);
}
