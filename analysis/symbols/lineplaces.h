/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks a lineinfo through for the code of a line, or of an inlined function. Reads all units. */
#ifndef SYMBOLS_LINEPLACES_H
#define SYMBOLS_LINEPLACES_H

#include "analysis/base/vec.h"
#include "analysis/symbols/lineinfo.h"

struct symtab;

struct line_places {
	VEC(uint64_t) addresses; /* sorted: the line's first instruction in each function and copy */
	uint32_t next_line; /* none found: the next line of the file that has code; 0: none */
	bool file_known;
};

/*
 * The code of a line. `file` is a path or its end: "file.c" finds "/src/file.c". A function's code
 * of the line may have several parts; the one with the lowest address is taken, and one more for
 * each inlined call that has code of the line. `t` tells functions apart. The caller frees the
 * vector.
 */
void line_places(struct lineinfo *l, const struct symtab *t, const char *file, uint32_t line,
		 struct line_places *ret);
/* The number of inlined calls of a function, by its name in the source or its linker name. */
size_t inlined_calls(struct lineinfo *l, const char *name);

#endif
