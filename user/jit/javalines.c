/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table has pairs of distances, of bytecodes and of lines, and ends with a byte 0. A small pair is
 * one byte; a byte 255 is followed by two signed numbers. A number has up to five bytes. Each but the
 * last is at least 192; with each the next six bits follow.
 */
#include "user/jit/javalines.h"

#include <stdbool.h>

#include "analysis/base/cursor.h"

enum { ESCAPE = 255, LINE_BITS = 3, LOW = 192, BITS = 6, NUMBER_BYTES = 5, OFFSET_MAX = UINT16_MAX };

uint32_t java_number(struct cursor *c, unsigned bias)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < NUMBER_BYTES; i++) {
		unsigned byte = cursor_u8(c);

		c->bad |= byte < bias;
		sum += (byte - bias) << i * BITS;
		if (byte < LOW || c->bad)
			break;
	}
	return sum;
}

/* The lowest bit is the sign. */
static int32_t next_signed(struct cursor *c, unsigned bias)
{
	uint32_t n = java_number(c, bias);

	return (int32_t)(n >> 1 ^ -(n & 1));
}

size_t java_lines(const uint8_t *table, size_t size, unsigned bias, struct java_line *ret, size_t max)
{
	struct cursor c = { .p = table, .end = table + size };
	int64_t offset = 0, line = 0;
	size_t n = 0;

	while (n < max) {
		unsigned byte = cursor_u8(&c);
		bool far = byte == ESCAPE;

		if (!byte)
			break;
		offset += far ? next_signed(&c, bias) : (int)(byte >> LINE_BITS);
		line += far ? next_signed(&c, bias) : (int)(byte & ((1 << LINE_BITS) - 1));
		if (c.bad || line <= 0 || line > INT32_MAX || offset > OFFSET_MAX ||
		    offset < (n ? ret[n - 1].offset : 0))
			break;
		if (n && ret[n - 1].offset == offset)
			n--;
		if (!n || ret[n - 1].line != line)
			ret[n++] = (struct java_line){ .offset = offset, .line = line };
	}
	return n;
}
