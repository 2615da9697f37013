/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Statistics of a set of waits: time, number, mean and longest length, and the
 * distribution of lengths. waitcount.h tells how many waits a packet counts as, and
 * when a number is exact.
 */
#ifndef METRICS_WAITSTAT_H
#define METRICS_WAITSTAT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/metrics/waitcount.h"

struct hit;

/* Lengths by decade: below 1 us, from 1 us, 10 us, … 1 s, and 10 s and more. */
enum { WAIT_DECADES = 9 };
/* Lengths by power of two of a microsecond: below 1, from 1, 2, 4, … 2^38. */
enum { WAIT_OCTAVES = 40 };

struct wait_stat {
	int64_t time_ns;    /* total */
	int64_t counted_ns; /* of waits that count here; of a divided one the whole length */
	int64_t longest_ns; /* of recorded waits */
	int64_t least_ns, most_ns; /* between which each length lies (wait_stat_bound); most_ns 0: not known */
	double count;
	double estimated;   /* the part of count that comes from estimates */
	double squares;     /* sum of the squares of these estimates */
	double variance;    /* of time_ns, from sampling, in ns squared */
	uint64_t marks;     /* see waitcount.h; 0: count is exact */
	bool unscaled, unseen;
	double decades[WAIT_DECADES]; /* of waits with a recorded length */
	/* While groups are compared: the statistics of each group, ngroups of them. */
	struct wait_stat *groups;
	unsigned ngroups;
};

/* ngroups 0: no comparison. */
void wait_stat_init(struct wait_stat *ws, unsigned ngroups);
void wait_stat_fini(struct wait_stat *ws);

/* Say that each wait has such a length, as in a row of a histogram. */
void wait_stat_bound(struct wait_stat *ws, int64_t least_ns, int64_t most_ns);
void wait_stat_add(struct wait_stat *ws, const struct hit *h, struct wait_count n);
/* Whether the packet is of one wait, which counts here or in an earlier segment. */
bool wait_has_length(const struct hit *h, struct wait_count n);
/* Add `from` to `to`. Both have the same number of groups. */
void wait_stat_merge(struct wait_stat *to, const struct wait_stat *from);
/*
 * Mean length in nanoseconds, time by number; 0: no count is known. Both may be estimates, so that of few waits
 * can lie outside the bounds; then it is the nearer bound.
 */
int64_t wait_stat_mean(const struct wait_stat *ws);
/*
 * Whether count is an estimate; otherwise it is the recorder's count. `counted`: the set was chosen by thread and
 * state, which the recorder counts, and not by what only records tell.
 */
bool wait_stat_is_estimate(const struct wait_stat *ws, bool counted);
/*
 * The standard error of count, in waits; 0 if count is exact. `all` is a set that
 * contains ws and has an exact count. Computed from the residuals of a ratio estimator
 * (Cochran, Sampling Techniques, 6.4), as if each wait had been sampled independently.
 */
double wait_stat_error(const struct wait_stat *ws, const struct wait_stat *all);
/*
 * The standard error of time_ns, from sampling, in nanoseconds. A wait of length L that was
 * sampled with probability L / w has the weight w (Horvitz and Thompson, 1952); waits that are
 * always recorded add nothing. Time that is a remainder of an exact total adds nothing, either.
 */
double wait_stat_time_error(const struct wait_stat *ws);
/* The index of a length into decades, octaves. */
unsigned wait_decade(int64_t ns);
unsigned wait_octave(int64_t ns);

#endif
