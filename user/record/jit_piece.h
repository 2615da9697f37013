/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the worker has read of a process's generated code in one turn, copied. Nothing in it is
 * checked before jit_piece_functions.
 */
#ifndef USER_RECORD_JIT_PIECE_H
#define USER_RECORD_JIT_PIECE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jit_entry;
struct jit_function;
struct jit_table;
struct unwind_names;

struct jit_piece {
	struct jit_entry *entries;
	size_t n;
	char *names;
	size_t nnames;
	uint64_t from_ns, until_ns; /* it was read between these times */
	bool of_memory;             /* and not of a file */
};

/* Copy what the worker says now. What it has read was not there at `from_ns`. */
struct jit_piece jit_piece_copy(const struct unwind_names *names, uint64_t from_ns, bool of_memory);
void jit_piece_free(struct jit_piece *p);
/*
 * The functions that are sound and not in the table, and those that are gone, with their dates. `ret` has room
 * for p->n; their texts and lines are the caller's. *gone_ns is when the process last removed a function. Returns
 * how many there are.
 */
size_t jit_piece_functions(const struct jit_piece *p, struct jit_table *table, uint64_t *gone_ns,
			   struct jit_function *ret);

#endif
