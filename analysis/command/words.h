/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a line of commands falls into words. Blanks separate; a double quote at
 * the start of a word runs to the next one, with \" for a quote inside; within
 * a word quotes are ordinary, so that filter expressions need none. A word that
 * starts with # begins a comment; a line that starts with @ is one.
 */
#ifndef COMMAND_WORDS_H
#define COMMAND_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/base/vec.h"

struct words {
	VEC(char *) v;
};

/* Replace what is in ret by the words of line. False when a quote is still open at the end. */
bool words_split(struct words *ret, const char *line);
/* Whether a physical line ends in the backslash that joins the next one. */
bool line_continues(const char *line);
void words_free(struct words *w);

#endif
