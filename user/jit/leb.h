/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes LEB128 numbers, which cursor.h reads. */
#ifndef USER_JIT_LEB_H
#define USER_JIT_LEB_H

#include <stddef.h>
#include <stdint.h>

enum { LEB_MAX = 10 }; /* bytes of a number */

/* Write the number to `to`. Returns its length. */
static inline size_t leb_put(uint8_t *to, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		to[n++] = v | 0x80;
	to[n++] = v;
	return n;
}

static inline size_t leb_put_signed(uint8_t *to, int64_t v)
{
	size_t n = 0;

	for (; v < -64 || v > 63; v >>= 7)
		to[n++] = v | 0x80;
	to[n++] = v & 0x7f;
	return n;
}

#endif
