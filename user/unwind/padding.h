/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes between functions. They align the next function and never run. */
#ifndef USER_UNWIND_PADDING_H
#define USER_UNWIND_PADDING_H

#include <stdbool.h>
#include <stddef.h>

/* Whether all n bytes are padding as assemblers and linkers write it: no-operations, INT3 or 0. */
bool is_padding(const unsigned char *p, size_t n);

#endif
