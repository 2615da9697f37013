/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What expressions can ask of a packet: one row a name. What is in no row is the
 * name of a field in a packet's description. A property is a number, a number
 * whose values have names (an enumeration), or a text.
 */
#ifndef METRICS_PROPERTY_H
#define METRICS_PROPERTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/metrics/pass.h"

/* What an expression is of a packet. Not known: the packet has nothing of the kind. */
struct value {
	int64_t i;
	bool known;
};

/* Values with names; which name a number has may depend on the recording machine. */
struct enumeration {
	const char *what;  /* "a wait reason" */
	const char *names; /* all of them for `describe`, or what they are */
	/* NULL for a number without a name. */
	const char *(*name)(const struct experiment *e, int64_t value);
	/* Names are read in either case. False: none of that name. */
	bool (*value)(const struct session *s, const char *name, int64_t *ret);
};

struct property {
	const char *name;   /* in capitals */
	const char *label;
	/*
	 * The fields that it is made of, blank separated, one of which a packet's
	 * description must have; NULL: every packet has it. With neither get nor
	 * text it is the field itself.
	 */
	const char *fields;
	struct value (*get)(const struct hit *h);
	const char *(*text)(const struct hit *h); /* NULL: a number, or (returned) not known */
	const struct enumeration *values;
};

extern const struct property properties[];
extern const size_t nproperties;

struct dataobj;

/* What the data address of a packet belongs to, and how far in; NULL: it has no such address. */
const struct dataobj *hit_data_object(const struct hit *h, uint64_t *offset);

/* The row of a name in capitals, or NULL. */
const struct property *property_find(const char *name);
/* Whether a stream's packets have the property. */
bool property_in_stream(const struct property *p, const struct exp_stream *st);

extern const struct enumeration enum_states, enum_reasons, enum_syscalls, enum_heap_types,
	enum_io_types;

#endif
