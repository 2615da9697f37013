/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/metrics/waitstat.h"

#include "analysis/metrics/pass.h"

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

double wait_count(const struct hit *h)
{
	int64_t length = hit_wait_length(h);
	uint32_t flags = hit_wait_flags(h);

	if (length <= 0 || flags & WFLAG_REST)
		return 0;
	return flags & WFLAG_TRACED ? 1 : (double)hit_weight(h) / (double)length;
}

void wait_stat_add(struct wait_stat *ws, const struct hit *h)
{
	int64_t length = hit_wait_length(h), weight = hit_weight(h);
	double count = wait_count(h);

	add_to(&ws->time_ns, weight);
	if (count <= 0)
		return;
	add_to(&ws->known_ns, weight);
	ws->count += count;
	ws->decades[wait_decade(length)] += count;
	ws->sampled |= !(hit_wait_flags(h) & WFLAG_TRACED);
	ws->longest_ns = length > ws->longest_ns ? length : ws->longest_ns;
}

void wait_stat_merge(struct wait_stat *to, const struct wait_stat *from)
{
	add_to(&to->time_ns, from->time_ns);
	add_to(&to->known_ns, from->known_ns);
	to->count += from->count;
	to->sampled |= from->sampled;
	to->longest_ns = from->longest_ns > to->longest_ns ? from->longest_ns : to->longest_ns;
	for (int i = 0; i < WAIT_DECADES; i++)
		to->decades[i] += from->decades[i];
}

int64_t wait_stat_mean(const struct wait_stat *ws)
{
	return ws->count > 0 ? (int64_t)((double)ws->known_ns / ws->count) : 0;
}
