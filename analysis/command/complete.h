/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the word at the end of an unfinished command may become: commands, and what
 * the command takes there. Knows nothing of keyboards (edit.c does).
 */
#ifndef COMMAND_COMPLETE_H
#define COMMAND_COMPLETE_H

#include <stdbool.h>

#include "analysis/base/vec.h"

struct shell;

typedef VEC(char *) candidate_vec;

/*
 * line: what stands before the word, NULL or blank where the word is the first. Appends
 * candidates that begin with the word, each once, to be freed. False: the command takes
 * something there that is not known here, such as a file.
 */
bool complete_word(struct shell *sh, const char *line, const char *word, candidate_vec *ret);

#endif
