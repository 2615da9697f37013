/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A growing byte buffer for building text and packets. A zeroed struct buf is
 * empty; data is NUL-terminated after every call here, the NUL not counted.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct buf {
	char *data;
	size_t len, cap;
};

/* Room for n more bytes and the NUL. */
void buf_reserve(struct buf *b, size_t n);
/* Here, for a report is made of millions of these. */
static inline void buf_add(struct buf *b, const void *p, size_t n)
{
	if (b->cap - b->len <= n)
		buf_reserve(b, n);
	if (n)
		memcpy(b->data + b->len, p, n);
	b->len += n;
	b->data[b->len] = '\0';
}

void buf_puts(struct buf *b, const char *s);
__attribute__((format(printf, 2, 3))) void buf_printf(struct buf *b, const char *fmt, ...);
/* n zero bytes; returns where they start, valid until the next call. */
void *buf_zero(struct buf *b, size_t n);
void buf_clear(struct buf *b);
void buf_free(struct buf *b);

/*
 * Text that a terminal may see: control characters, malformed UTF-8 and characters that hide
 * or turn the direction of writing (hidden.h) become \xHH, a byte each. Names come from other
 * people's programs and other people's files.
 */
void buf_put_printable(struct buf *b, const char *s);

#endif
