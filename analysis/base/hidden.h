/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Characters that a reader cannot see, or that change what a reader sees: those that turn the
 * direction of writing, format characters, those of no width, and line separators. With them a
 * name can look like another one.
 */
#ifndef BASE_HIDDEN_H
#define BASE_HIDDEN_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the code point is one of them. Control characters are not its business. */
bool is_hidden(uint32_t c);

#endif
