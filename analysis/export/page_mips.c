/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_mips.h"

#include <stdlib.h>

#include "analysis/export/page_events.h"
#include "analysis/export/page_pack.h"
#include "analysis/experiment/packet.h"

/* The most active threads get the most bins. */
static const struct {
	size_t threads, bins;
} sizes[] = { { 64, 1024 }, { 512, 256 }, { SIZE_MAX, 32 } };

struct mips {
	int64_t begin, end;
	size_t *first; /* by thread: index of its first bin */
	size_t *nbins; /* by thread */
	float (*bins)[MS_COUNT]; /* microseconds */
};

struct active {
	size_t n;
	uint32_t thread;
};

static int by_activity(const void *pa, const void *pb)
{
	const struct active *a = pa, *b = pb;

	if (a->n != b->n)
		return a->n < b->n ? 1 : -1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

static void size_bins(struct mips *m, const struct page_events *events)
{
	size_t n = events->threads.len, total = 0, size = 0;
	struct active *order = xcalloc(n + 1, sizeof(*order));

	m->first = xcalloc(n + 1, sizeof(*m->first));
	m->nbins = xcalloc(n + 1, sizeof(*m->nbins));
	for (size_t i = 0; i < n; i++)
		order[i] = (struct active){ events->threads.data[i].n, i };
	qsort(order, n, sizeof(*order), by_activity);
	for (size_t i = 0; i < n && order[i].n; i++) {
		size += i == sizes[size].threads;
		m->first[order[i].thread] = total;
		m->nbins[order[i].thread] = sizes[size].bins;
		total += sizes[size].bins;
	}
	free(order);
	m->bins = xcalloc(total + 1, sizeof(*m->bins));
}

/*
 * An event extends back over the time that it represents. A sampled wait also represents other
 * waits, so it extends back beyond its own beginning.
 */
static void add_event(struct mips *m, const struct page_event *ev, const struct event_class *c)
{
	int64_t spread = ev->length > ev->weight ? ev->length : ev->weight;
	size_t n = m->nbins[ev->thread];
	double width = (double)(m->end - m->begin) / n, from, to;
	float (*bins)[MS_COUNT] = &m->bins[m->first[ev->thread]];

	if (spread <= 0 || ev->weight <= 0 || c->flags & WFLAG_REST)
		return;
	from = ((double)ev->end - spread - m->begin) / width;
	to = ((double)ev->end - m->begin) / width;
	from = from < 0 ? 0 : from;
	to = to > n ? n : to;
	for (size_t i = from; i < to; i++) {
		double a = from > i ? from : i, b = to < i + 1 ? to : i + 1;

		bins[i][c->state] += (b - a) * width * ev->weight / spread;
	}
}

/*
 * A mask of the states that occur, then the share of each in 255ths. Shares add up to at most 255.
 */
static void put_bin(struct pack *p, const float bin[MS_COUNT], double width)
{
	unsigned char shares[MS_COUNT];
	unsigned mask = 0, n = 0;
	double sum = 0;

	for (int i = 0; i < MS_COUNT; i++)
		sum += bin[i];
	sum = sum > width ? sum : width;
	for (int i = 0; i < MS_COUNT; i++) {
		unsigned share = bin[i] * 255 / sum + 0.5;

		if (!share)
			continue;
		mask |= 1 << i;
		shares[n++] = share > 255 ? 255 : share;
	}
	pack_uint(p, mask);
	buf_add(&p->bytes, shares, n);
}

void put_mips(struct pack *p, const struct page_events *events, int64_t begin, int64_t end)
{
	struct mips m = { .begin = begin, .end = end > begin ? end : begin + 1 };

	size_bins(&m, events);
	vec_for_each(ev, &events->all)
		add_event(&m, ev, &events->classes.data[ev->event_class]);
	pack_begin(p, "mips");
	for (size_t i = 0; i < events->threads.len; i++) {
		pack_uint(p, m.nbins[i]);
		for (size_t k = 0; k < m.nbins[i]; k++)
			put_bin(p, m.bins[m.first[i] + k], (double)(m.end - m.begin) / m.nbins[i]);
	}
	pack_end(p);
	free(m.first);
	free(m.nbins);
	free(m.bins);
}
