/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Outlined code: a part that the compiler split off a function and placed elsewhere
 * under its own symbol, such as "main.cold" or "main.part.0". The symbol's name tells
 * the function. If several functions of the object have that name, the one of the same
 * compile unit is taken; there is no guessing. A stack with a part gets a frame for the
 * call that no instruction made: the function, at FRAME_OUTLINED, next to the part.
 * Functions of the kernel are left as they are: a recording has only the symbols of its
 * stacks, so a name that is unique there may not be unique.
 */
#ifndef MODEL_OUTLINE_H
#define MODEL_OUTLINE_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/model/session.h"

/* The length of the function's name in a part's symbol name; 0: not a part. */
size_t outlined_from(const char *symbol);
/* The function that f was split off. NULL: f is not a part, or the function is ambiguous. */
struct func *func_parent(struct session *s, const struct func *f);
/*
 * The name of a part in lists: "main -- outline code from line 85 [main.cold]", with
 * the line if known; fully demangled with `full`. NULL: not a part. Valid as long as
 * the session.
 */
const char *func_outline_name(struct session *s, const struct func *f, bool full);

#endif
