/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of functions in a Go program. Go's runtime needs it, so strip leaves it in place: the
 * section .gopclntab, or a part of .data.rel.ro in position-independent programs. It has the name,
 * the lines, the inlined calls and the size of the frame of each function (src/debug/gosym/pclntab.go and
 * src/runtime/symtab.go of Go describe it). Its layout has changed with Go 1.2, 1.16, 1.18 and 1.20.
 * Inlined calls are read from Go 1.18 on: their trees are outside the table, at an address that the
 * runtime's variable firstmoduledata has.
 *
 * Only tables of 64-bit little-endian machines are read. Addresses are the file's own. Nothing in
 * the file is trusted: whatever does not fit is left out.
 */
#ifndef SYMBOLS_GOTABLE_H
#define SYMBOLS_GOTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/vec.h"

struct go_layout;

struct gotable {
	const struct go_layout *layout;
	const unsigned char *p;
	size_t size;
	uint64_t addr; /* of p; set by gofile.h */
	uint64_t text; /* what the addresses of functions are relative to; 0: not in the table */
	unsigned quantum;
	uint64_t n; /* functions */
	uint64_t names, units, files, values, index, functions; /* offsets from p */
	uint64_t nfiles;
	bool reads_calls; /* made by Go 1.18 or later */
	const unsigned char *trees; /* set by gofile.h; NULL: inlined calls are not known */
	size_t trees_size;
};

enum go_found { GO_NONE, GO_UNKNOWN, GO_FOUND };

/*
 * Read the header of a table at p, which may have bytes of others behind it. GO_NONE: there is no
 * table, or it is damaged. GO_UNKNOWN: the version of the table is not known. The bytes must stay.
 * gofile.h finds the table of a file, and sets what is not in the table.
 */
enum go_found gotable_open(const void *p, size_t size, struct gotable *ret);
/* Open the first table that begins at a multiple of 8 bytes, *at. False: there is none. */
bool gotable_search(const void *p, size_t size, size_t *at, struct gotable *ret);

enum go_flags {
	GO_TOP = 1,	 /* has no caller */
	GO_SWITCHES = 2, /* changes to another stack */
};

struct go_function {
	uint64_t start, end; /* start < end */
	uint64_t at; /* offset of its description */
	unsigned flags; /* enum go_flags, from Go 1.18 on */
	/*
	 * A number that the functions of one package have in common; before Go 1.16 those of one
	 * source file.
	 */
	uint32_t unit;
	const char *name;
	size_t name_len; /* 1 to GO_NAME_MAX */
};

enum { GO_NAME_MAX = 4096 };

/* The i-th function, by address; i < n. False: its description is damaged. */
bool gotable_function(const struct gotable *t, uint64_t i, struct go_function *ret);

/* Code from `start` up to the next span, or the end of the function. */
struct go_span {
	uint64_t start;
	int32_t file; /* for gotable_path; -1: unknown */
	int32_t line; /* at most 0: unknown */
	int32_t call; /* the innermost inlined call, for gotable_call; -1: none */
};

typedef VEC(struct go_span) go_spans;

/* Append the function's spans by address. There are at most as many as it has bytes. */
void gotable_spans(const struct gotable *t, const struct go_function *f, go_spans *ret);
/* The path of a file; NULL: unknown. */
const char *gotable_path(const struct gotable *t, const struct go_function *f, int32_t file);

/* How many bytes the stack has grown since the call of the function, from `start` on. */
struct go_depth {
	uint64_t start;
	int32_t bytes; /* below 0: unknown */
};

typedef VEC(struct go_depth) go_depths;

/* Append the depths by address. There are at most as many as the function has bytes. */
void gotable_depths(const struct gotable *t, const struct go_function *f, go_depths *ret);

struct go_call {
	const char *name;
	uint64_t caller; /* an address whose line and inlined call are those of the call itself */
};

/* Whether calls were inlined into the function. */
bool gotable_has_calls(const struct gotable *t, const struct go_function *f);
/* An inlined call of the function. False: unknown. */
bool gotable_call(const struct gotable *t, const struct go_function *f, int32_t call,
		  struct go_call *ret);

#endif
