/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include <stdbool.h>

/*
 * Returns whether the whole text matches the pattern. `*` stands for any bytes, `[a0-9]` for one byte of a set. Other
 * bytes stand for themselves. fnmatch does the same, but converts both strings first in a locale of UTF-8.
 */
bool glob_match(const char *pattern, const char *text);

#endif
