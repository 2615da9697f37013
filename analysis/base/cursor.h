/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bounded reader over untrusted bytes. Reading past the end returns zeros and sets `bad`;
 * nothing outside [p, end) is ever read. Integers are in native byte order unless `swap` is
 * set. They need no alignment.
 */
#ifndef BASE_CURSOR_H
#define BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const unsigned char *p, *end;
	bool swap; /* the file's byte order is not this machine's */
	bool bad;  /* set by a read past the end, or a LEB128 number that is too long */
};

static inline size_t cursor_left(const struct cursor *c)
{
	return c->end - c->p;
}

/*
 * Returns the next n bytes and steps over them. If fewer are left, returns NULL, sets `bad` and
 * steps to the end.
 */
static inline const void *cursor_bytes(struct cursor *c, size_t n)
{
	const void *p = c->p;

	if (n > cursor_left(c)) {
		c->bad = true;
		c->p = c->end;
		return NULL;
	}
	c->p += n;
	return p;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	const unsigned char *p = cursor_bytes(c, 1);

	return p ? *p : 0;
}

static inline uint16_t cursor_u16(struct cursor *c)
{
	const void *p = cursor_bytes(c, 2);
	uint16_t v = 0;

	if (p)
		memcpy(&v, p, 2);
	return c->swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	const void *p = cursor_bytes(c, 4);
	uint32_t v = 0;

	if (p)
		memcpy(&v, p, 4);
	return c->swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	const void *p = cursor_bytes(c, 8);
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, 8);
	return c->swap ? __builtin_bswap64(v) : v;
}

enum { LEB128_MAX = 10 }; /* the most bytes of a 64-bit LEB128 number; a longer one sets `bad` */

/*
 * Reads a LEB128 number. Returns its bits; *bits is how many its bytes carry, *negative whether
 * the number is negative if it is signed.
 */
static inline uint64_t cursor_leb(struct cursor *c, unsigned *bits, bool *negative)
{
	uint64_t v = 0;
	unsigned char byte = 0x80;

	for (*bits = 0; byte & 0x80 && *bits < 7 * LEB128_MAX; *bits += 7) {
		byte = cursor_u8(c);
		v |= (uint64_t)(byte & 0x7f) << *bits;
	}
	c->bad |= byte & 0x80;
	*negative = byte & 0x40;
	return v;
}

static inline uint64_t cursor_uleb(struct cursor *c)
{
	unsigned bits;
	bool negative;

	return cursor_leb(c, &bits, &negative);
}

static inline int64_t cursor_sleb(struct cursor *c)
{
	unsigned bits;
	bool negative;
	uint64_t v = cursor_leb(c, &bits, &negative);

	return negative && bits < 64 ? v | UINT64_MAX << bits : v;
}

#endif
