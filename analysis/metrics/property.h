/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Properties of packets that expressions can use, one row a name. Other names are
 * fields in the packets' description. A property is a number, a number whose values
 * have names (an enumeration), or a text.
 */
#ifndef METRICS_PROPERTY_H
#define METRICS_PROPERTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exp_stream;
struct experiment;
struct hit;
struct session;

/* The value of an expression for a packet. Unknown: the packet has no such data. */
struct value {
	int64_t i;
	bool known;
};

/* Values with names; the names may depend on the recording machine. */
struct enumeration {
	const char *what;  /* "a wait reason" */
	const char *names; /* all names, for `describe`, or what they are */
	/* The name of a value; NULL: it has none. */
	const char *(*name)(const struct experiment *e, int64_t value);
	/* The value of a name, in upper or lower case. False: there is no such name. */
	bool (*value)(const struct session *s, const char *name, int64_t *ret);
};

struct property {
	const char *name;   /* in capitals */
	const char *label;
	/*
	 * Fields that the property is computed from, separated by blanks. A stream has
	 * the property if it has one of them; NULL: every packet has it. Without get
	 * and text the property is the field itself.
	 */
	const char *fields;
	struct value (*get)(const struct hit *h);
	const char *(*text)(const struct hit *h); /* NULL: it is a number; returns NULL: unknown */
	const struct enumeration *values;
};

extern const struct property properties[];
extern const size_t nproperties;

struct dataobj;

/*
 * The data object of a packet's data address, and the offset in it; NULL: the packet
 * has no address.
 */
const struct dataobj *hit_data_object(const struct hit *h, uint64_t *offset);

/* The row of a name in capitals; NULL: none. */
const struct property *property_find(const char *name);
/* Whether the stream's packets have the property. */
bool property_in_stream(const struct property *p, const struct exp_stream *st);

extern const struct enumeration enum_states, enum_reasons, enum_syscalls, enum_heap_types,
	enum_io_types;

#endif
