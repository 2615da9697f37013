/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Secrets by which the recorder knows the processes that it has started. */
#ifndef USER_RECORD_TOKEN_H
#define USER_RECORD_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

/* Write n random bytes to ret, in hexadecimal with a NUL: 2 n + 1 characters. n is at most 64. */
void token_make(char *ret, size_t n);
/* Compare n characters. Takes the same time wherever the difference is. */
bool token_equal(const char *a, const char *b, size_t n);

#endif
