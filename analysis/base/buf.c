/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/hidden.h"

void buf_reserve(struct buf *b, size_t n)
{
	size_t want = b->len + n + 1;

	if (want <= b->cap)
		return;
	b->cap = b->cap * 2 > want ? b->cap * 2 : want + 64;
	b->data = xrealloc_array(b->data, b->cap, 1);
}

void buf_puts(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	buf_reserve(b, 0);
	va_start(ap, fmt);
	n = vsnprintf(b->data + b->len, b->cap - b->len, fmt, ap);
	va_end(ap);
	if (n < 0) {
		b->data[b->len] = '\0';
		return;
	}
	if ((size_t)n >= b->cap - b->len) {
		buf_reserve(b, n);
		va_start(ap, fmt);
		vsnprintf(b->data + b->len, n + 1, fmt, ap);
		va_end(ap);
	}
	b->len += n;
}

void *buf_zero(struct buf *b, size_t n)
{
	void *p;

	buf_reserve(b, n);
	p = memset(b->data + b->len, 0, n + 1);
	b->len += n;
	return p;
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	if (b->data)
		b->data[0] = '\0';
}

void buf_free(struct buf *b)
{
	free(b->data);
	*b = (struct buf){ 0 };
}

/*
 * The length in bytes of the well-formed, printable UTF-8 sequence at s, or 0. RFC 3629,
 * section 4.
 */
static int utf8_len(const unsigned char *s)
{
	unsigned lo = 0x80, hi = 0xbf;
	int n;

	if (s[0] >= 0x20 && s[0] < 0x7f)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		n = 2;
	else if (s[0] >= 0xe0 && s[0] <= 0xef)
		n = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		n = 4;
	else
		return 0;
	switch (s[0]) {
	case 0xc2: lo = 0xa0; break; /* U+0080 to U+009F are control characters */
	case 0xe0: lo = 0xa0; break;
	case 0xed: hi = 0x9f; break;
	case 0xf0: lo = 0x90; break;
	case 0xf4: hi = 0x8f; break;
	}
	if (s[1] < lo || s[1] > hi)
		return 0;
	for (int i = 2; i < n; i++) {
		if (s[i] < 0x80 || s[i] > 0xbf)
			return 0;
	}
	return n;
}

/* The code point of a well-formed sequence of n bytes. */
static uint32_t code_point(const unsigned char *s, int n)
{
	uint32_t c = n == 1 ? s[0] : s[0] & (0xff >> (n + 1));

	for (int i = 1; i < n; i++)
		c = c << 6 | (s[i] & 0x3f);
	return c;
}

void buf_put_printable(struct buf *b, const char *str)
{
	const unsigned char *s = (const unsigned char *)str;

	for (;;) {
		size_t plain = 0;
		int n;

		/* Nearly all text is plain ASCII: append it in one piece. */
		while (s[plain] >= ' ' && s[plain] < 0x7f)
			plain++;
		buf_add(b, s, plain);
		s += plain;
		if (!*s)
			break;
		n = utf8_len(s);
		if (n && !is_hidden(code_point(s, n))) {
			buf_add(b, s, n);
			s += n;
			continue;
		}
		for (int end = n ? n : 1; end; end--)
			buf_printf(b, "\\x%02x", *s++);
	}
}
