/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What there is to say of many waits together.
 *
 * A traced wait stands for itself. A sampled one was chosen with a probability
 * in proportion to its length, and its weight says how much time it stands for:
 * so it stands for weight / length waits of its length, and sums of that are
 * unbiased (Horvitz and Thompson). What is left over of a thread's exact total
 * (WFLAG_REST) is time of waits that no packet describes: it adds to the time, and to
 * neither count nor mean.
 */
#ifndef METRICS_WAITSTAT_H
#define METRICS_WAITSTAT_H

#include <stdbool.h>
#include <stdint.h>

struct hit;

/* Lengths by decade: below 1 us, from 1 us, 10 us, … 1 s, and 10 s and more. */
enum { WAIT_DECADES = 9 };
/* Lengths by power of two of a microsecond: below 1, from 1, 2, 4, … 2^38. */
enum { WAIT_OCTAVES = 40 };

struct wait_stat {
	int64_t time_ns;   /* all of it */
	int64_t known_ns;  /* of waits whose length is known */
	int64_t longest_ns;
	double count;      /* of these, estimated where not traced */
	double decades[WAIT_DECADES];
	bool sampled;      /* some were: count, mean and decades are estimates */
};

void wait_stat_add(struct wait_stat *ws, const struct hit *h);
void wait_stat_merge(struct wait_stat *to, const struct wait_stat *from);
/* Mean length in nanoseconds; 0 where no length is known. */
int64_t wait_stat_mean(const struct wait_stat *ws);
/* How many waits a packet stands for; 0 where its length is not known. */
double wait_count(const struct hit *h);
/* Into decades, octaves. */
unsigned wait_decade(int64_t ns);
unsigned wait_octave(int64_t ns);

#endif
