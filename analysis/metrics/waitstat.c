/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/metrics/waitstat.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/base/alloc.h"
#include "analysis/base/wrap.h"
#include "analysis/experiment/experiment.h"
#include "analysis/metrics/hit.h"

unsigned wait_decade(int64_t ns)
{
	unsigned decade = 0;

	for (int64_t from = 1000; decade < WAIT_DECADES - 1 && ns >= from; from *= 10)
		decade++;
	return decade;
}

unsigned wait_octave(int64_t ns)
{
	unsigned octave = 0;

	for (int64_t us = ns / 1000; octave < WAIT_OCTAVES - 1 && us > 0; us /= 2)
		octave++;
	return octave;
}

void wait_stat_init(struct wait_stat *ws, unsigned ngroups)
{
	*ws = (struct wait_stat){ .ngroups = ngroups };
	if (ngroups)
		ws->groups = xcalloc(ngroups, sizeof(*ws->groups));
}

void wait_stat_fini(struct wait_stat *ws)
{
	free(ws->groups);
	ws->groups = NULL;
}

void wait_stat_bound(struct wait_stat *ws, int64_t least_ns, int64_t most_ns)
{
	ws->least_ns = least_ns;
	ws->most_ns = most_ns;
	for (unsigned g = 0; g < ws->ngroups; g++)
		wait_stat_bound(&ws->groups[g], least_ns, most_ns);
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

bool wait_has_length(const struct hit *h, struct wait_count n)
{
	uint32_t flags = hit_wait_flags(h);

	return !(flags & WFLAG_REST) && (n.n > 0 || flags & WFLAG_CONTINUED);
}

static void add_one(struct wait_stat *ws, const struct hit *h, struct wait_count n)
{
	int64_t length = hit_wait_length(h), part = hit_part_length(h), weight = hit_weight(h);
	uint32_t flags = hit_wait_flags(h);

	add_to(&ws->time_ns, weight);
	/* Packets have whole microseconds: a smaller difference is rounding. */
	if (part && weight - part >= 1000 && !(flags & WFLAG_REST))
		ws->variance += (double)weight * (double)(weight - part);
	ws->marks += n.mark;
	ws->unscaled |= n.unscaled;
	ws->unseen |= n.unseen;
	if (wait_has_length(h, n))
		ws->longest_ns = larger(ws->longest_ns, length);
	if (n.n <= 0)
		return;
	/* The first part of a divided wait counts as the wait, and the others as none. */
	add_to(&ws->counted_ns, length != part ? length : weight);
	ws->count += n.n;
	if (n.mark || n.unscaled) {
		ws->estimated += n.n;
		ws->squares += n.n * n.n;
	}
	if (!(flags & WFLAG_REST))
		ws->decades[wait_decade(length)] += n.n;
}

void wait_stat_add(struct wait_stat *ws, const struct hit *h, struct wait_count n)
{
	add_one(ws, h, n);
	if (h->e->group && h->e->group <= ws->ngroups)
		add_one(&ws->groups[h->e->group - 1], h, n);
}

void wait_stat_merge(struct wait_stat *to, const struct wait_stat *from)
{
	for (unsigned g = 0; g < to->ngroups && g < from->ngroups; g++)
		wait_stat_merge(&to->groups[g], &from->groups[g]);
	add_to(&to->time_ns, from->time_ns);
	add_to(&to->counted_ns, from->counted_ns);
	to->count += from->count;
	to->estimated += from->estimated;
	to->squares += from->squares;
	to->variance += from->variance;
	to->marks += from->marks;
	to->unscaled |= from->unscaled;
	to->unseen |= from->unseen;
	to->longest_ns = larger(to->longest_ns, from->longest_ns);
	for (int i = 0; i < WAIT_DECADES; i++)
		to->decades[i] += from->decades[i];
}

int64_t wait_stat_mean(const struct wait_stat *ws)
{
	int64_t mean = ws->count > 0 ? (int64_t)((double)ws->counted_ns / ws->count) : 0;

	if (!ws->most_ns || ws->count <= 0)
		return mean;
	return mean < ws->least_ns ? ws->least_ns : mean > ws->most_ns ? ws->most_ns : mean;
}

bool wait_stat_is_estimate(const struct wait_stat *ws, bool counted)
{
	return ws->marks || ws->unscaled || (ws->unseen && !counted);
}

double wait_stat_error(const struct wait_stat *ws, const struct wait_stat *all)
{
	double share = all->estimated > 0 ? ws->estimated / all->estimated : 0;
	double others = all->squares - ws->squares;

	if (!wait_stat_is_estimate(ws, true))
		return 0;
	if (ws->unscaled)
		return sqrt(ws->squares);
	return sqrt(ws->squares * (1 - share) * (1 - share) + (others > 0 ? others : 0) * share * share);
}

double wait_stat_time_error(const struct wait_stat *ws)
{
	return sqrt(ws->variance);
}
