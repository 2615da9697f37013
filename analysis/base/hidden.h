/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Characters that are invisible or change how other text looks: controls of writing direction,
 * format characters, characters without width, and line separators. With them one name can look
 * like another.
 */
#ifndef BASE_HIDDEN_H
#define BASE_HIDDEN_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the code point is one of these. Control characters are not included. */
bool is_hidden(uint32_t c);

#endif
