/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Filter expressions (requirements P-076 to P-081): C's operators over integers
 * with C's precedence, and sets.
 *
 * Numbers: constants, THRID LWPID PID CPUID EXPID SAMPLE, TSTAMP (nanoseconds
 * from the start of the founder), LEAF (a function), and any field that the
 * packets have, such as MSTATE; a packet that lacks the field has 0 there.
 * Names are read in either case.
 *
 * Sets: STACK (the functions of the stack, leaf first), FNAME("regexp") and
 * LNAME("regexp") (functions by their name, and by their load object's; the
 * expression must match the whole name), and lists (1,2,3).
 *
 * x IN set: every element of x is in the set; SOME IN: at least one is;
 * ORDERED IN: all are, in the order of x, not necessarily side by side.
 */
#ifndef METRICS_FILTER_H
#define METRICS_FILTER_H

#include <stdbool.h>

struct diag;
struct filter;
struct hit;
struct session;

/* NULL after reporting, with the column of the wrong character. */
struct filter *filter_parse(const struct session *s, const char *text, struct diag *d);
void filter_free(struct filter *f);
const char *filter_text(const struct filter *f);
/* Remembers per function and per stack what cannot change: f is written to. */
bool filter_match(struct filter *f, const struct hit *h);

#endif
