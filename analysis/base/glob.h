/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include <stdbool.h>

/*
 * Whether the pattern matches the whole text: `*` stands for any bytes, `[a0-9]` for one of a set, and all else for
 * itself. fnmatch says the same; but in a locale of UTF-8 it converts both strings first.
 */
bool glob_match(const char *pattern, const char *text);

#endif
