/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From functions to their source lines and their code. Line tables and code are
 * opened at the first question about an object, from the same files as its
 * symbols: archive, recorded path, debug file. What is wrong goes to the object's
 * diag, which `objects` shows.
 *
 * An inlined instruction has two places: the line it was written in, and the line
 * of the function that it was inlined into, which is where lists count it (S-022),
 * unless inlined calls have frames: then each frame has the line that its function
 * was in.
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
	const char *file;
	uint32_t line;
};

struct inlined_at {
	const char *name;     /* what was called; NULL unknown */
	const char *symbol;   /* its mangled name; NULL: the same */
	const char *declared; /* in which file; interned; NULL unknown */
	struct srcline call;  /* from where */
};

/* The line of the function itself, for inlined code that of the outermost call. False: unknown. */
bool func_srcline(struct session *s, const struct func *f, uint64_t offset, struct srcline *ret);
/* Where the frame's function was: at the call of the frame inside it, or in its own code. */
bool frame_srcline(struct session *s, const struct frame *frame, struct srcline *ret);
/* The line as it was written. */
bool func_written(struct session *s, const struct func *f, uint64_t offset, struct srcline *ret);
/* The inlined calls around it, the outermost first: how many; at most max are stored. */
size_t func_inlined(struct session *s, const struct func *f, uint64_t offset,
		    struct inlined_at *ret, size_t max);
/* The main source file of the unit that the function is in, an inlined one's own; NULL unknown. */
const char *func_source(struct session *s, const struct func *f);
/* Whether both come from one compile unit. */
bool func_same_unit(struct session *s, const struct func *a, const struct func *b);
/* The compiler that made it; NULL unknown. */
const char *func_producer(struct session *s, const struct func *f);
/* Whether it is the function or was split off it, or off another part (outline.h). */
bool func_is_part_of(struct session *s, const struct func *part, const struct func *f);

/* A line that has code, though perhaps none that counts, and the code's place. */
struct line_code {
	struct srcline src;
	uint64_t offset; /* in the function */
};

typedef VEC(struct line_code) line_code_vec;

/* All rows of the line table that lie in the function, by offset; freed with vec_free. */
void func_lines(struct session *s, const struct func *f, line_code_vec *ret);

/* Up to n bytes of the function's code from an offset on. How many; 0: not known. */
size_t func_code(struct session *s, const struct func *f, uint64_t offset, void *to, size_t n);
/* The machine of that code; NULL: there is none. */
const struct machine *func_machine(struct session *s, const struct func *f);

/*
 * The name of the function, variable or slot ("rand@got") at an address of the object that
 * `near` is a function of; mangled, *offset from its beginning. NULL: nothing is known.
 */
const char *func_name_at(struct session *s, const struct func *near, uint64_t addr,
			 uint64_t *offset);

/* All functions of an object that symbols name, sampled or not. */
void object_all_funcs(struct session *s, struct loadobj *o);
/* The last part of a path. */
const char *base_name(const char *path);
/* Whether the path is, or ends in, that name of one or more parts. */
bool path_is_named(const char *path, const char *name);

#endif
