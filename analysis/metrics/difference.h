/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a figure of one recording differs from that of another by more than sampling and a
 * threshold explain.
 */
#ifndef METRICS_DIFFERENCE_H
#define METRICS_DIFFERENCE_H

/* An estimate and its variance; 0: exact. */
struct estimate {
	double value, variance;
};

enum change { CHANGE_NONE, CHANGE_MORE, CHANGE_LESS, CHANGE_NEW, CHANGE_GONE };

/*
 * How `b` differs from `a`. A change counts if the difference, less `z` standard errors, still
 * exceeds `least`.
 */
enum change change_of(const struct estimate *a, const struct estimate *b, double least, double z);
/* The standard error of the difference. */
double change_error(const struct estimate *a, const struct estimate *b);
/*
 * The number of standard errors that a normal variable exceeds with probability `chance` / n: of n
 * comparisons without a difference, one or more then seem to differ with a probability of at most
 * `chance` (Bonferroni). At least 3; n may be 0.
 */
double errors_for(double chance, unsigned long n);

#endif
