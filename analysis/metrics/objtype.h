/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Types of index and memory objects. A type is a name and an expression; the
 * expression's value for a packet identifies the object of the packet. -1 and unknown
 * values are <Unknown>.
 */
#ifndef METRICS_OBJTYPE_H
#define METRICS_OBJTYPE_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/base/vec.h"

struct diag;
struct session;

enum objkind { OBJ_INDEX, OBJ_MEMORY };

struct objtype {
	enum objkind kind;
	const char *name;  /* "Threads" */
	const char *text;  /* the expression */
	bool builtin;
};

/* A zeroed struct is empty. */
struct objtypes {
	VEC(struct objtype) all; /* built-in types first */
};

void objtypes_init(struct objtypes *t);
void objtypes_free(struct objtypes *t);
/* The type with this name, in upper or lower case; NULL: none, or types is NULL. */
const struct objtype *objtype_find(const struct objtypes *types, const char *name);
/*
 * Define a type. 0, or -1 after reporting: the name is taken, does not begin with a
 * letter or has characters besides letters, digits and _; or the expression is wrong.
 */
int objtype_define(struct objtypes *types, struct session *s, enum objkind kind,
		   const char *name, const char *text, struct diag *d);
/* "Index object", "Memory object": for messages and titles. */
const char *objkind_name(enum objkind kind);

#endif
