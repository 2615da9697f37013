/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions that a process's runtime has generated, by address. Runtimes reuse memory: a new
 * function removes those that it overlaps. The last of these are kept for a while, because stacks
 * are written a moment after they were taken.
 */
#ifndef USER_JIT_TABLE_H
#define USER_JIT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/vec.h"

enum { JIT_REPLACED = 256 };

struct jit_line;

struct jit_function {
	uint64_t start, from_ns; /* from_ns: it was there at the latest shortly after this time */
	uint64_t code_at; /* offset of its code in the file; 0: the file does not have it */
	uint32_t size;
	uint64_t gone_ns; /* when it was removed; 0: it is there, or another one replaced it */
	bool written; /* this and the next one are for the caller */
	bool scoped;  /* it is said from which methods its code comes */
	bool pseudo;  /* the name is ours and not the process's */
	bool gone;    /* no function: the one that starts here was removed at from_ns. It has no name */
	char *name;   /* the table owns it and the next three */
	char *alias, *source; /* NULL: unknown */
	struct jit_line *lines; /* in the order of offsets */
	size_t nlines;
};

typedef VEC(struct jit_function) jit_function_list;

/* Zeroed: empty. */
struct jit_table {
	jit_function_list functions; /* in the order of addresses; they do not overlap */
	struct jit_function replaced[JIT_REPLACED]; /* a ring; unused ones have no name */
	unsigned nreplaced;
	jit_function_list removed; /* that are written and gone; their names are not valid. The caller empties it */
	size_t bytes; /* that the functions and their names take, without the replaced ones */
};

/* Free the function's texts and lines. */
void jit_function_free(struct jit_function *f);
void jit_table_free(struct jit_table *t);
/* The function at the address; NULL: none. Valid until the next change. */
struct jit_function *jit_table_find(struct jit_table *t, uint64_t pc);
/* Whether a function has an address of this one. */
bool jit_table_overlaps(struct jit_table *t, const struct jit_function *f);
/* Whether the table has a function with this place and name. */
bool jit_table_has(struct jit_table *t, const struct jit_function *f);
/*
 * Add functions in the order in which the runtime made and removed them, and take ownership of their
 * texts and lines. Of two that overlap, the later one stays.
 */
void jit_table_add(struct jit_table *t, struct jit_function *new, size_t n);

#endif
