/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bounded reader over bytes that nobody vouches for. Reading past the end
 * yields zeros and sets `bad`; nothing is ever read outside [p, end).
 * Integers are in native order unless `swap` is set; no alignment is needed.
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
	bool bad;  /* something was read past the end */
};

static inline size_t cursor_left(const struct cursor *c)
{
	return c->end - c->p;
}

/* n bytes and step over them; NULL, and bad, when there are not so many. */
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

#endif
