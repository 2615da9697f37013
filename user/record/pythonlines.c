/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/pythonlines.h"

#include "analysis/base/cursor.h"

/* The kinds of entries. Their names are those of CPython's _PyCodeLocationInfoKind. */
enum { SHORT_LAST = 9, ONE_LINE0 = 10, ONE_LINE2 = 12, NO_COLUMNS = 13, LONG = 14, NONE = 15 };

/* Six bits in each byte, the lowest ones first. */
static uint32_t next_number(struct cursor *c)
{
	uint32_t value = 0;
	unsigned shift = 0, byte;

	do {
		byte = cursor_u8(c);
		value |= shift < 32 ? (uint32_t)(byte & 63) << shift : 0;
		shift += 6;
	} while (byte & 64 && !c->bad);
	return value;
}

/* The lowest bit is the sign. */
static int64_t next_signed(struct cursor *c)
{
	uint32_t value = next_number(c);

	return value & 1 ? -(int64_t)(value >> 1) : value >> 1;
}

/* Read the rest of an entry. Returns by how many lines it goes on. */
static int64_t line_delta(struct cursor *c, unsigned kind)
{
	int64_t delta = 0;

	if (kind <= SHORT_LAST) {
		cursor_u8(c);
	} else if (kind <= ONE_LINE2) {
		delta = kind - ONE_LINE0;
		cursor_u8(c);
		cursor_u8(c);
	} else if (kind != NONE) {
		delta = next_signed(c);
	}
	for (int i = 0; kind == LONG && i < 3; i++)
		next_number(c);
	return delta;
}

size_t python_lines(const uint8_t *table, size_t size, int32_t first_line, struct exp_line *ret,
		    size_t max)
{
	struct cursor c = { .p = table, .end = table + size };
	int64_t line = first_line;
	uint32_t unit = 0;
	size_t n = 0;

	while (cursor_left(&c) && n < max) {
		unsigned head = cursor_u8(&c), kind = head >> 3 & 15;

		if (!(head & 128))
			break;
		line += line_delta(&c, kind);
		if (c.bad || line <= 0 || line > INT32_MAX)
			break;
		if (kind != NONE && (!n || ret[n - 1].line != line))
			ret[n++] = (struct exp_line){ .offset = unit, .line = line };
		unit += (head & 7) + 1;
	}
	return n;
}
