/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Types of index and memory objects: a name, and the expression whose value for
 * a packet is the object that it belongs to (P-050 to P-062). -1, and what is
 * not known, is <Unknown>.
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

/* A zeroed struct has none. */
struct objtypes {
	VEC(struct objtype) all; /* built-in ones first */
};

void objtypes_init(struct objtypes *t);
void objtypes_free(struct objtypes *t);
/* The type of that name, in either case of letters; NULL none, or types is NULL. */
const struct objtype *objtype_find(const struct objtypes *types, const char *name);
/*
 * Define one. 0, or -1 after reporting: the name has other characters than
 * letters, digits and _, does not begin with a letter, or is taken; or the
 * expression is wrong.
 */
int objtype_define(struct objtypes *types, const struct session *s, enum objkind kind,
		   const char *name, const char *text, struct diag *d);
/* "Index object", "Memory object": for messages and titles. */
const char *objkind_name(enum objkind kind);

#endif
