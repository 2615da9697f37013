/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes that align code: between functions, where they never run, and in functions. */
#ifndef USER_UNWIND_PADDING_H
#define USER_UNWIND_PADDING_H

#include <stdbool.h>
#include <stddef.h>

/* Whether all n bytes are padding as assemblers and linkers write it: no-operations, INT3 or 0. */
bool is_padding(const unsigned char *p, size_t n);

/* The length of the first piece of padding; 0: these bytes are other code. */
size_t padding_length(const unsigned char *p, size_t n);

#endif
