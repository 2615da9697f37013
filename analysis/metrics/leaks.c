/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/metrics/leaks.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "analysis/base/wrap.h"
#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/experiment.h"
#include "analysis/model/session.h"

struct leaks {
	struct map by_packet; /* packet address, to leaked bytes; leaks only */
	struct map temporary; /* packet addresses */
	VEC(struct heap_peak) peaks;
	uint64_t unknown;     /* frees of blocks whose allocation was not recorded */
};

/* A decoded packet of heaptrace. */
struct heap_event {
	const unsigned char *packet;
	int64_t time_ns;
	size_t order; /* in the file; breaks ties of equal times */
	enum heap_type type;
	uint64_t size, addr, old_addr;
	int64_t thread;
};

typedef VEC(struct heap_event) event_vec;

/* An allocated block. */
struct chunk {
	const unsigned char *packet;
	uint64_t addr, size;
	uint64_t left;       /* bytes still in use */
	double variance;
};

struct matching {
	VEC(struct chunk) chunks;
	VEC(size_t) mapped;       /* chunks that are mappings */
	struct map by_addr;       /* address, to the chunk that begins there + 1; 0: none */
	struct heap_peak peak;
	uint64_t in_use;
	double variance;          /* of in_use */
	uint64_t unknown;         /* frees of other blocks */
	size_t looked_at;         /* mappings examined by partial unmappings so far */
	const struct exp_stream *stream;
	struct map last;          /* thread, to the chunk of its last allocation + 1 */
	struct map *temporary;    /* packet addresses; NULL: not wanted */
	heap_changes *changes;    /* NULL: not wanted */
	uint64_t until;           /* stop when this many bytes are in use; 0: do not stop */
};

/* Bounds the time that a hostile file can take. */
enum { LOOK_AT_MOST = 100 * 1000 * 1000 };

/* packets: as in replay_all. */
static void read_events(const struct experiment *e, const struct exp_stream *st,
			const struct map *packets, event_vec *ret)
{
	struct field_ref time = stream_field(st, "TSTAMP"), type = stream_field(st, "HTYPE"),
			 size = stream_field(st, "HSIZE"), addr = stream_field(st, "HVADDR"),
			 old = stream_field(st, "HOVADDR"), thread = stream_field(st, "THRID");
	struct packet_iter it;
	struct packet p;

	packet_iter_init(&it, e, st);
	while (packet_next(&it, &p)) {
		if (packets && !map_get(packets, (uintptr_t)p.p))
			continue;
		vec_push(ret, (struct heap_event){
			.packet = p.p, .time_ns = packet_int(&p, time), .order = ret->len,
			.type = packet_int(&p, type), .size = packet_int(&p, size),
			.addr = packet_int(&p, addr), .old_addr = packet_int(&p, old),
			.thread = packet_int(&p, thread) });
	}
}

static int event_cmp(const void *pa, const void *pb)
{
	const struct heap_event *a = pa, *b = pb;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

static void give_back(struct matching *m, struct chunk *c, uint64_t bytes)
{
	bytes = bytes < c->left ? bytes : c->left;
	c->left -= bytes;
	m->in_use -= bytes;
	m->variance -= c->variance;
	c->variance = 0;
}

static bool is_known(const struct matching *m, uint64_t addr)
{
	const uint64_t *at = map_get(&m->by_addr, addr);

	return at && *at;
}

static void release(struct matching *m, uint64_t addr)
{
	uint64_t *at = map_get(&m->by_addr, addr);

	if (!at || !*at)
		return;
	give_back(m, &m->chunks.data[*at - 1], UINT64_MAX);
	*at = 0;
}

static void allocate(struct matching *m, const struct heap_event *ev)
{
	bool fresh;

	if (!ev->addr)
		return;
	/* A block already there must have been freed by a call that was not recorded. */
	release(m, ev->addr);
	vec_push(&m->chunks, (struct chunk){ .packet = ev->packet, .addr = ev->addr,
					     .size = ev->size, .left = ev->size,
					     .variance = leaks_variance(m->stream, ev->type, ev->size) });
	*map_put(&m->by_addr, ev->addr, &fresh) = m->chunks.len;
	if (ev->type == HEAP_MMAP)
		vec_push(&m->mapped, m->chunks.len - 1);
	m->in_use += ev->size;
	m->variance += m->chunks.data[m->chunks.len - 1].variance;
	*map_put(&m->last, ev->thread, &fresh) = m->chunks.len;
}

/* The block at this address is about to be freed. */
static void note_temporary(struct matching *m, const struct heap_event *ev, uint64_t addr)
{
	const uint64_t *last = map_get(&m->last, ev->thread), *at = map_get(&m->by_addr, addr);

	if (m->temporary && last && at && *at && *at == *last)
		map_put(m->temporary, (uintptr_t)m->chunks.data[*at - 1].packet, NULL);
}

/* Usually the range is one whole mapping, but it may be a part of one, or span several. */
static void unmap(struct matching *m, uint64_t addr, uint64_t size)
{
	uint64_t end = addr + size < addr ? UINT64_MAX : addr + size;
	const uint64_t *at = map_get(&m->by_addr, addr);
	size_t kept = 0;

	if (at && *at && m->chunks.data[*at - 1].size == size) {
		release(m, addr);
		return;
	}
	if (m->looked_at > LOOK_AT_MOST)
		return;
	m->looked_at += m->mapped.len;
	for (size_t i = 0; i < m->mapped.len; i++) {
		struct chunk *c = &m->chunks.data[m->mapped.data[i]];
		uint64_t c_end = c->addr + c->size < c->addr ? UINT64_MAX : c->addr + c->size;
		uint64_t from = addr > c->addr ? addr : c->addr, to = end < c_end ? end : c_end;

		if (from < to)
			give_back(m, c, to - from);
		if (c->left)
			m->mapped.data[kept++] = m->mapped.data[i];
	}
	m->mapped.len = kept;
}

static void replay(struct matching *m, const struct heap_event *ev)
{
	switch (ev->type) {
	case HEAP_MALLOC:
	case HEAP_MMAP:
		allocate(m, ev);
		break;
	case HEAP_REALLOC:
		note_temporary(m, ev, ev->old_addr);
		release(m, ev->old_addr);
		allocate(m, ev);
		break;
	case HEAP_FREE:
		m->unknown += ev->addr && !is_known(m, ev->addr);
		note_temporary(m, ev, ev->addr);
		release(m, ev->addr);
		break;
	case HEAP_MUNMAP:
		unmap(m, ev->addr, ev->size);
		break;
	}
}

static void note_change(struct matching *m, int64_t time_ns, uint64_t before, double variance)
{
	if (m->changes && m->in_use != before)
		vec_push(m->changes, (struct heap_change){ time_ns, (int64_t)(m->in_use - before),
							   m->variance - variance });
}

/*
 * Replay an experiment's packets; if `packets` is not NULL, only those with these
 * addresses. *m says what else is wanted. Call matching_free afterwards.
 */
static void replay_all(struct matching *m, struct experiment *e, const struct exp_stream *st,
		       const struct map *packets)
{
	event_vec events = { 0 };

	m->peak.e = e;
	m->stream = st;
	read_events(e, st, packets, &events);
	vec_sort(&events, event_cmp);
	vec_for_each(ev, &events) {
		uint64_t before = m->in_use;
		double variance = m->variance;

		replay(m, ev);
		note_change(m, wrap_minus(ev->time_ns, e->origin->start_ns), before, variance);
		if (m->in_use > m->peak.bytes) {
			m->peak.bytes = m->in_use;
			m->peak.time_ns = ev->time_ns;
		}
		if (m->until && m->in_use >= m->until)
			break;
	}
	m->peak.time_ns = wrap_minus(m->peak.time_ns, e->origin->start_ns);
	vec_free(&events);
}

static void matching_free(struct matching *m)
{
	vec_free(&m->chunks);
	vec_free(&m->mapped);
	map_free(&m->by_addr);
	map_free(&m->last);
}

static void match(struct leaks *l, struct experiment *e, const struct exp_stream *st)
{
	struct matching m = { .temporary = st->sampled ? NULL : &l->temporary };
	bool fresh;

	replay_all(&m, e, st, NULL);
	vec_for_each(c, &m.chunks) {
		if (c->left)
			*map_put(&l->by_packet, (uintptr_t)c->packet, &fresh) = c->left;
	}
	if (m.looked_at > LOOK_AT_MOST)
		diag_warn(&e->diag,
			  "heaptrace: too many mappings were unmapped in part: some count "
			  "as leaked as a whole");
	l->unknown += st->sampled ? 0 : m.unknown;
	vec_push(&l->peaks, m.peak);
	matching_free(&m);
}

struct leaks *leaks_new(const struct session *s)
{
	struct leaks *l = xcalloc(1, sizeof(*l));

	vec_for_each(e, &s->experiments) {
		vec_for_each(st, &(*e)->streams) {
			if (st->kind == ER_PKT_HEAP)
				match(l, *e, st);
		}
	}
	if (l->peaks.len)
		return l;
	leaks_free(l);
	return NULL;
}

void leaks_free(struct leaks *l)
{
	if (!l)
		return;
	map_free(&l->by_packet);
	map_free(&l->temporary);
	vec_free(&l->peaks);
	free(l);
}

uint64_t leaks_of(const struct leaks *l, const struct packet *p)
{
	const uint64_t *bytes = l ? map_get(&l->by_packet, (uintptr_t)p->p) : NULL;

	return bytes ? *bytes : 0;
}

bool leaks_temporary(const struct leaks *l, const struct packet *p)
{
	return l && map_get(&l->temporary, (uintptr_t)p->p);
}

uint64_t leaks_unknown_frees(const struct leaks *l)
{
	return l->unknown;
}

bool leaks_sampled(const struct session *s)
{
	vec_for_each(e, &s->experiments) {
		vec_for_each(st, &(*e)->streams) {
			if (st->kind == ER_PKT_HEAP && st->sampled)
				return true;
		}
	}
	return false;
}

/*
 * A block of s bytes is chosen with the probability p = 1 - exp(-s / mean), and its size is s / p. With
 * x = s / mean this is size / mean = x / (1 - exp(-x)), which Newton's method solves from above. The block
 * adds size^2 (1 - p) to the variance.
 */
double leaks_variance(const struct exp_stream *st, enum heap_type type, uint64_t size)
{
	double ratio, x;

	if (st->sampled <= 0 || type == HEAP_MMAP)
		return 0;
	x = ratio = (double)size / (double)st->sampled;
	for (int i = 0; i < 60; i++) {
		double over = x - ratio * (1 - exp(-x));

		if (over <= 1e-12 * x)
			break;
		x -= over / (1 - ratio * exp(-x));
	}
	return (double)size * (double)size * exp(-x);
}

static int change_cmp(const void *pa, const void *pb)
{
	const struct heap_change *a = pa, *b = pb;

	return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

static void end_process(const struct matching *m, const struct experiment *e)
{
	if (e->founder && m->in_use)
		vec_push(m->changes, (struct heap_change){
			wrap_plus(e->end_ns, wrap_minus(e->start_ns, e->origin->start_ns)), -m->in_use,
			-m->variance });
}

void leaks_changes(const struct session *s, const struct map *packets, heap_changes *ret)
{
	*ret = (heap_changes){ 0 };
	vec_for_each(e, &s->experiments) {
		vec_for_each(st, &(*e)->streams) {
			struct matching m = { .changes = ret };

			if (st->kind != ER_PKT_HEAP)
				continue;
			replay_all(&m, *e, st, packets);
			end_process(&m, *e);
			matching_free(&m);
		}
	}
	vec_sort(ret, change_cmp);
}

const struct heap_peak *leaks_peaks(const struct leaks *l, size_t *n)
{
	*n = l ? l->peaks.len : 0;
	return l ? l->peaks.data : NULL;
}

/* As leaks_peak_among. Returns the stream that has the peak; NULL: there is none. */
static const struct exp_stream *find_peak(const struct session *s, const struct map *packets, struct heap_peak *ret,
					  struct experiment **of)
{
	const struct exp_stream *found = NULL;

	*ret = (struct heap_peak){ 0 };
	vec_for_each(e, &s->experiments) {
		vec_for_each(st, &(*e)->streams) {
			struct matching m = { 0 };

			if (st->kind != ER_PKT_HEAP)
				continue;
			replay_all(&m, *e, st, packets);
			if (m.peak.bytes && m.peak.bytes >= ret->bytes) {
				*ret = m.peak;
				*of = *e;
				found = st;
			}
			matching_free(&m);
		}
	}
	return found;
}

void leaks_peak_among(const struct session *s, const struct map *packets, struct heap_peak *ret)
{
	struct experiment *e;

	find_peak(s, packets, ret, &e);
}

void leaks_at_peak(const struct session *s, const struct map *packets, struct heap_peak *peak, heap_blocks *ret)
{
	struct experiment *e;
	const struct exp_stream *st = find_peak(s, packets, peak, &e);
	struct matching m = { .until = peak->bytes };

	*ret = (heap_blocks){ 0 };
	if (!st)
		return;
	replay_all(&m, e, st, packets);
	vec_for_each(c, &m.chunks) {
		if (c->left)
			vec_push(ret, (struct heap_block){ (uintptr_t)c->packet, c->left, c->variance });
	}
	matching_free(&m);
}
