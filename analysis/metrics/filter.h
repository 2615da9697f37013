/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Expressions over packets: C's operators on 64-bit integers with C's precedence, sets,
 * and texts. Filters and the definitions of index and memory objects share one grammar.
 *
 * Numbers: constants, TRUE and FALSE, the properties of property.h, the fields of
 * packets, and the value of an object type, by its name. Names are not case sensitive.
 *
 * Names of values (SLEEP, DISK, futex) may stand to the right of something that has
 * such values, alone or in a list: STATE == SLEEP, SYSCALL IN (read, write).
 *
 * Sets: STACK (the functions of the stack, leaf first), FNAME("regexp") and
 * LNAME("regexp") (functions by their name, or by their load object's; the expression
 * must match the whole name), and lists (1,2,3).
 *
 * x IN set: all elements of x are in the set. SOME IN: at least one is. ORDERED IN: all
 * are, in the order of x, but not necessarily adjacent.
 *
 * Texts (COMM, IOFNAME) are compared by ==, != and IN with quoted regular expressions,
 * which must match the whole text.
 *
 * If a packet lacks a value, comparisons with it and what depends on them are unknown.
 * A filter keeps only packets for which it is known to be true. HAS_PROP(name) tests
 * whether a value is known.
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
 * Parse a filter. NULL after reporting the reason and column, then the expression with
 * a caret below the wrong character. An empty text is true. types may be NULL. Free
 * with filter_free.
 */
struct filter *filter_parse(struct session *s, const struct objtypes *types,
			    const char *text, struct diag *d);
/* Parse the expression of an object type. It must not be empty, and its value may be a text. */
struct filter *filter_parse_index(struct session *s, const struct objtypes *types,
				  const char *text, struct diag *d);
/* A filter without an expression, for a selection. */
struct filter *filter_new(void);
void filter_free(struct filter *f);
/* The expression; NULL if there is none. */
const char *filter_text(const struct filter *f);
/* Also require that packets are in a selection; NULL: no selection. Borrowed. */
void filter_select(struct filter *f, const struct selection *sel);
enum filter_choice {
	CHOOSES_THREADS, /* by id, process or experiment */
	CHOOSES_NAMES,	 /* also by name or cgroup, which a thread may change */
	CHOOSES_PACKETS, /* by what else they are */
};

/* What the expression chooses by. The selection is not looked at. */
enum filter_choice filter_chooses(const struct filter *f);
/* Whether a packet passes. Caches results by function and by stack, so f is modified. */
bool filter_match(struct filter *f, const struct hit *h);

/* The nanoseconds of a text like "3s" or "1.5ms". False: it is something else. */
bool filter_time(const char *text, int64_t *ret);

/* The value of an index expression for a packet. */
struct value filter_value(struct filter *f, const struct hit *h);
/*
 * Whether the value is a text; and the text for a packet, NULL if unknown, valid until
 * the next call.
 */
bool filter_is_text(const struct filter *f);
const char *filter_string(struct filter *f, const struct hit *h);
/* Whether it has properties of spans, whose values belong to calls and not to packets. */
bool filter_has_spans(const struct filter *f);
/* The enumeration of the expression's values; NULL: none. */
const struct enumeration *filter_values(const struct filter *f);

#endif
