/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Splits a line of commands into words. Blanks separate words. A double quote at the start of a
 * word runs to the next double quote; \" is a quote inside. Quotes within a word are ordinary
 * characters, so filter expressions need no escapes. A word that starts with # begins a comment.
 * A line that starts with @ is a comment.
 */
#ifndef COMMAND_WORDS_H
#define COMMAND_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/base/vec.h"

struct words {
	VEC(char *) v;
};

/* Replace the words in ret by those of line. False if a quote is still open at the end. */
bool words_split(struct words *ret, const char *line);
/* Whether a physical line ends in a backslash, which joins the next line to it. */
bool line_continues(const char *line);
void words_free(struct words *w);

#endif
