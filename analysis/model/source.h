/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source lines and code of functions. The first use of an object opens its line table
 * or code, from the same files as its symbols: archive, recorded path, debug file.
 * Problems go to the object's diag, which `objects` shows.
 *
 * An instruction of an inlined call has two lines: the one it was written in, and the
 * line of the call in the function that it was inlined into. Lists count it for the
 * latter. But if inlined calls are shown as frames, each frame has the line in its own
 * function.
 */
#ifndef MODEL_SOURCE_H
#define MODEL_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/model/session.h"

struct machine;

/* A source line. Paths are interned: equal paths are equal pointers. */
struct srcline {
	const char *file; /* NULL: unknown; then line is 0 */
	uint32_t line;
};

struct inlined_at {
	const char *name;     /* the function called; NULL: unknown */
	const char *symbol;   /* its mangled name; NULL: the same */
	const char *declared; /* file of its declaration, interned; NULL: unknown */
	struct srcline call;  /* line of the call; it may be unknown */
};

/*
 * The line in the function itself; for inlined code, the line of the outermost call.
 * False: unknown.
 */
bool func_srcline(struct session *s, const struct func *f, uint64_t offset, struct srcline *ret);
/* The line of a frame in its own function: of the call of the next inner frame, or of the code. */
bool frame_srcline(struct session *s, const struct frame *frame, struct srcline *ret);
/* The line that the code was written in, even in an inlined function. */
bool func_written(struct session *s, const struct func *f, uint64_t offset, struct srcline *ret);
/*
 * The inlined calls around a location, outermost first. Returns how many there are;
 * stores at most max.
 */
size_t func_inlined(struct session *s, const struct func *f, uint64_t offset,
		    struct inlined_at *ret, size_t max);
/*
 * The main source file of the function's compile unit, or an inlined function's own
 * file; NULL: unknown.
 */
const char *func_source(struct session *s, const struct func *f);
/*
 * The function's other names, separated by blanks; NULL: none are known. Those of a kernel function
 * are known only where that kernel runs, to a caller that may read /proc/kallsyms.
 */
const char *func_aliases(struct session *s, const struct func *f);
/* Whether both functions are in one compile unit. */
bool func_same_unit(struct session *s, const struct func *a, const struct func *b);
/* The compiler of the function; NULL: unknown. */
const char *func_producer(struct session *s, const struct func *f);
/* Whether `part` is f, or was split off f or off another part of it (outline.h). */
bool func_is_part_of(struct session *s, const struct func *part, const struct func *f);

/* A row of the line table: a line, and the code it has. */
struct line_code {
	struct srcline src;
	uint64_t offset; /* from the start of the function */
};

typedef VEC(struct line_code) line_code_vec;

/*
 * The rows of the line table within a function, by offset; the caller frees the vector
 * with vec_free.
 */
void func_lines(struct session *s, const struct func *f, line_code_vec *ret);

/* Copy up to n bytes of the function's code from an offset on. Returns how many; 0: unknown. */
size_t func_code(struct session *s, const struct func *f, uint64_t offset, void *to, size_t n);
/* The machine of the function's code; NULL: there is no code. */
const struct machine *func_machine(struct session *s, const struct func *f);

/*
 * The mangled name of the function, variable or slot ("rand@got") at an address in the
 * object of `near`. *offset is the distance from its start. NULL: unknown.
 */
const char *func_name_at(struct session *s, const struct func *near, uint64_t addr,
			 uint64_t *offset);

/* Create the functions of all symbols of an object, sampled or not. */
void object_all_funcs(struct session *s, struct loadobj *o);
/* The last component of a path. */
const char *base_name(const char *path);
/* Whether a path equals `name` or ends in its components. */
bool path_is_named(const char *path, const char *name);

#endif
