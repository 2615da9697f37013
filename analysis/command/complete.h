/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Completes the last word of an unfinished command: names of commands, and arguments that the
 * command takes there. Reading the keyboard is left to edit.c.
 */
#ifndef COMMAND_COMPLETE_H
#define COMMAND_COMPLETE_H

#include <stdbool.h>

#include "analysis/base/vec.h"

struct shell;

typedef VEC(char *) candidate_vec;

/*
 * `line` is the text before the word; NULL or blank if the word is the first. Appends each
 * candidate that begins with the word once; the caller frees them. False: the command takes
 * something there that is not known here, such as a file.
 */
bool complete_word(struct shell *sh, const char *line, const char *word, candidate_vec *ret);

#endif
