/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/protobuf.h"

#include <endian.h>
#include <string.h>

enum { VARINT = 0, FIXED64 = 1, LENGTH = 2, VARINT_MAX = 10 };

static size_t varint(unsigned char to[VARINT_MAX], uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		to[n++] = v | 0x80;
	to[n++] = v;
	return n;
}

static void put_varint(struct buf *b, uint64_t v)
{
	unsigned char bytes[VARINT_MAX];

	buf_add(b, bytes, varint(bytes, v));
}

void pb_uint(struct buf *b, unsigned field, uint64_t value)
{
	put_varint(b, field << 3 | VARINT);
	put_varint(b, value);
}

void pb_fixed64(struct buf *b, unsigned field, uint64_t value)
{
	uint64_t little = htole64(value);

	put_varint(b, field << 3 | FIXED64);
	buf_add(b, &little, sizeof(little));
}

void pb_double(struct buf *b, unsigned field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	pb_fixed64(b, field, bits);
}

void pb_bytes(struct buf *b, unsigned field, const void *p, size_t n)
{
	put_varint(b, field << 3 | LENGTH);
	put_varint(b, n);
	buf_add(b, p, n);
}

void pb_string(struct buf *b, unsigned field, const char *s)
{
	pb_bytes(b, field, s, strlen(s));
}

void pb_message(struct buf *b, unsigned field, struct buf *inner)
{
	pb_bytes(b, field, inner->data, inner->len);
	buf_clear(inner);
}

void pb_packed(struct buf *b, unsigned field, const uint64_t *values, size_t n)
{
	unsigned char bytes[VARINT_MAX];
	size_t len = 0;

	for (size_t i = 0; i < n; i++)
		len += varint(bytes, values[i]);
	put_varint(b, field << 3 | LENGTH);
	put_varint(b, len);
	for (size_t i = 0; i < n; i++)
		put_varint(b, values[i]);
}
