/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Objects of the user: types of index objects that were defined (indxobj_define), and, if counters
 * were recorded with addresses, all types of memory objects. The expressions of the types are
 * evaluated here for each packet. Packets with the same objects share a tuple.
 */
#ifndef EXPORT_PAGE_OBJECTS_H
#define EXPORT_PAGE_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/intern.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"

struct buf;
struct experiment;
struct filter;
struct hit;
struct objtype;
struct pack;
struct page_events;
struct view_state;

struct page_objtype {
	const struct objtype *type;
	struct filter *expr;
	struct strtab texts; /* of an expression whose values are texts */
	struct map ids;	     /* by value: index into values + 1 */
	VEC(int64_t) values;
	VEC(struct experiment *) seen_in; /* by value: an experiment with such a packet */
	bool some_minus, some_unknown;	  /* packets whose value is known as -1; whose value is not known */
	bool elsewhere; /* of memory objects: packets without an address have a value, too */
};

/* How the page may evaluate filters that have the name of a type. */
enum page_objfilter {
	OBJFILTER_NONE,    /* not at all, because the page does not know all that er_print does */
	OBJFILTER_UNKNOWN, /* <Unknown> objects have no value */
	OBJFILTER_MINUS,   /* they have the value -1 */
};

/* A zeroed struct has no types. */
struct page_objects {
	VEC(struct page_objtype) types; /* those of index objects first */
	size_t nindex;
	struct intern ids;
	VEC(uint32_t) tuples; /* tuples x types: index into values + 1; 0: the type does not apply */
	size_t ntuples;
};

/* Find the types. */
void page_objects_init(struct page_objects *po, struct view_state *v);
/* The tuple of a packet, from 1; 0: no type applies to it. */
uint32_t page_objects_of(struct page_objects *po, const struct hit *h);
/* Append the member `objtypes` of the index after a comma; nothing without types. */
void put_object_types(const struct page_objects *po, struct buf *b);
/* Append the sections of the pack. */
void put_objects(struct page_objects *po, const struct page_events *events, struct pack *ret);
void page_objects_free(struct page_objects *po);

#endif
