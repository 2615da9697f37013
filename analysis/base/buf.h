/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A growing byte buffer for building text and packets. A zeroed struct buf is empty. After
 * every call that appends, data ends with a NUL, which len does not count.
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

/* Make room for n more bytes and the NUL. */
void buf_reserve(struct buf *b, size_t n);
/* Inline, because a report takes millions of calls. */
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
/* Append n zero bytes. Returns where they start, valid until the next call. */
void *buf_zero(struct buf *b, size_t n);
void buf_clear(struct buf *b);
void buf_free(struct buf *b);

/*
 * Append text in a form that is safe on a terminal. Control characters, malformed UTF-8 and
 * characters that are invisible or change the direction of writing (hidden.h) become \xHH, one
 * for each byte. Names come from other people's programs and files, and may be hostile.
 */
void buf_put_printable(struct buf *b, const char *s);

#endif
