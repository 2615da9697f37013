/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Expressions over packets (requirements P-076 to P-081): C's operators over
 * 64-bit integers with C's precedence, sets, and texts. One grammar serves
 * filters and the definitions of index and memory objects.
 *
 * Numbers: constants, TRUE and FALSE, the properties of property.h, any field
 * that the packets have, and the index of an object type by its name. Names are
 * read in either case.
 *
 * Names of values (SLEEP, DISK, futex) stand right of what has such values, by
 * itself or in a list: STATE == SLEEP, SYSCALL IN (read, write).
 *
 * Sets: STACK (the functions of the stack, leaf first), FNAME("regexp") and
 * LNAME("regexp") (functions by their name, and by their load object's; the
 * expression must match the whole name), and lists (1,2,3).
 *
 * x IN set: every element of x is in the set; SOME IN: at least one is;
 * ORDERED IN: all are, in the order of x, not necessarily side by side.
 *
 * Texts: what is a text (COMM, IOFNAME) is compared by ==, != and IN with
 * regular expressions in quotes that must match all of it.
 *
 * A packet that lacks what is asked for is neither equal nor unequal to
 * anything: the comparison and what follows from it are not known, and a filter
 * keeps only what it is known to be true for. HAS_PROP(name) asks whether.
 */
#ifndef METRICS_FILTER_H
#define METRICS_FILTER_H

#include <stdbool.h>

#include "analysis/metrics/property.h"

struct diag;
struct filter;
struct objtypes;
struct selection;
struct session;

/*
 * NULL after reporting: the reason with the column, then the expression with a
 * caret below the character. An empty text is true. types NULL: none.
 */
struct filter *filter_parse(const struct session *s, const struct objtypes *types,
			    const char *text, struct diag *d);
/* The same for an expression that may be a text, too, to tell objects by; not empty. */
struct filter *filter_parse_index(const struct session *s, const struct objtypes *types,
				  const char *text, struct diag *d);
/* One without an expression, for a selection. */
struct filter *filter_new(void);
void filter_free(struct filter *f);
/* NULL when it has no expression. */
const char *filter_text(const struct filter *f);
/* What else a packet must be in; NULL anything. Borrowed. */
void filter_select(struct filter *f, const struct selection *sel);
/* Remembers per function and per stack what cannot change: f is written to. */
bool filter_match(struct filter *f, const struct hit *h);

/* What an index expression is of a packet. */
struct value filter_value(struct filter *f, const struct hit *h);
/* Whether it is a text; then what it is, or NULL, lent until the next call. */
bool filter_is_text(const struct filter *f);
const char *filter_string(struct filter *f, const struct hit *h);
/* The enumeration that its values belong to, or NULL. */
const struct enumeration *filter_values(const struct filter *f);

#endif
