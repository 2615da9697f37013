/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The number of waits that a packet counts as.
 *
 * The recorder counts the waits of each thread and state exactly (threads.xml). It
 * records a sample of them with stacks, chosen in proportion to length. A sampled
 * packet alone would count as weight / length waits, an estimate with a large error if
 * waits are short. So these estimates are scaled, for each thread and state, to add up
 * to the exact count (a ratio estimator: Cochran, Sampling Techniques, ch. 6). A packet
 * for the remainder of a total counts as many waits as its share of the time. A traced
 * wait counts as one. Of threads that the recorder folded only the sum is known, so the
 * estimates of the threads of a fold are scaled together.
 *
 * A sum of all waits of some threads in some states is exact, as is one without estimates. To detect
 * this, each estimate has a random mark, and the marks of one thread and state add up to 0. A sum
 * whose marks add up to 0 has either all or none of the estimates of each thread and state, with an
 * error probability of 2^-64. But waits that were not recorded may have had another reason or stack
 * than all that were (`unseen`): a sum by what only records tell is then an estimate, too.
 */
#ifndef METRICS_WAITCOUNT_H
#define METRICS_WAITCOUNT_H

#include <stdbool.h>
#include <stdint.h>

struct hit;
struct session;
struct wait_counts;

/* What a packet adds to a number of waits. */
struct wait_count {
	double n;
	uint64_t mark; /* 0: exact by itself */
	bool unscaled; /* an estimate without an exact count to scale to: an older recording */
	bool unseen;   /* the thread had more waits in this state than were recorded */
};

/* Reads all packets of the session, ignoring filters. Never NULL. Free with wait_counts_free. */
struct wait_counts *wait_counts_new(struct session *s);
void wait_counts_free(struct wait_counts *wc);
/*
 * The same in two steps, for a caller that goes over all packets anyway: add each packet of the session.
 * Adding returns what wait_counts_factor does for the packet; use nothing else before the last one is added.
 */
struct wait_counts *wait_counts_begin(const struct session *s);
uint32_t wait_counts_add(struct wait_counts *wc, const struct hit *h);
/*
 * How the sampled packets of one thread and state, or of one fold, count. A packet counts as its part of `waits`,
 * which are for weight / length that add up to `ratios`; one for a remainder as its part of `all_waits`, which are for
 * all_ns nanoseconds.
 */
struct wait_factors {
	double waits, ratios, all_waits, all_ns; /* none of the divisors is 0 */
	uint32_t estimates; /* packets with a mark */
	bool unscaled, unseen;
};

/*
 * The number of the factors by which a packet of time off a CPU counts, from 1. 0: it counts as one wait if it
 * was traced, else as none.
 */
uint32_t wait_counts_factor(const struct wait_counts *wc, const struct hit *h);
struct wait_factors wait_factors_at(const struct wait_counts *wc, uint32_t number);
/* For a packet of time off a CPU. n is 0 if the number of waits is unknown. */
struct wait_count wait_counts_of(const struct wait_counts *wc, const struct hit *h);

#endif
