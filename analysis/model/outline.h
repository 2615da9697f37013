/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Outlined code: what a compiler split off a function and put elsewhere, under a symbol of
 * its own: "main.cold", "main.part.0" (S-025). Which function that was is told by the
 * symbol's name, and where several of one object have that name, by the compile unit; it is
 * not guessed. Such a stack gets the call that was never made: a frame of the function, at
 * FRAME_OUTLINED, next to that of the part. The kernel's functions are left alone: a
 * recording names only those that were met, and one that is alone there need not be it.
 */
#ifndef MODEL_OUTLINE_H
#define MODEL_OUTLINE_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/model/session.h"

/* How much of a symbol's name is that of the function that it was split off; 0: of none. */
size_t outlined_from(const char *symbol);
/* The function that f was split off; NULL: from none, or it cannot be told from which. */
struct func *func_parent(struct session *s, const struct func *f);
/*
 * What lists call a part: "main -- outline code from line 85 [main.cold]", the line where it
 * is known; demangled in full with `full`. NULL: it is no part. Lives as long as the session.
 */
const char *func_outline_name(struct session *s, const struct func *f, bool full);

#endif
