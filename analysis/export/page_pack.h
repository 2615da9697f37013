/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packs: the form of data in the page. A pack is a sequence of sections. A section is a tag of four
 * letters, a length (32 bits, little-endian) and bytes. In the page a pack is compressed (gzip) and
 * written as base64 in a <script> element that is not executed. Integers in sections are varints
 * (LEB128); signed integers are zigzag coded first. docs/howto-page.md lists the sections.
 */
#ifndef EXPORT_PAGE_PACK_H
#define EXPORT_PAGE_PACK_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/buf.h"
#include "analysis/base/vec.h"

struct outfile;

/* A zeroed struct is an empty pack. */
struct pack {
	struct buf bytes;
	size_t begin; /* offset of the open section's bytes */
};

/* Begin a section; end the one before with pack_end first. The tag has four letters. */
void pack_begin(struct pack *p, const char *tag);
void pack_end(struct pack *p);

static inline void pack_uint(struct pack *p, uint64_t v)
{
	enum { MOST = 10 };
	char *at;

	if (p->bytes.cap - p->bytes.len <= MOST)
		buf_reserve(&p->bytes, MOST);
	for (at = p->bytes.data + p->bytes.len; v >= 0x80; v >>= 7)
		*at++ = v | 0x80;
	*at++ = v;
	*at = '\0';
	p->bytes.len = at - p->bytes.data;
}

static inline void pack_int(struct pack *p, int64_t v)
{
	pack_uint(p, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

/* Empty the pack and keep its memory. */
void pack_clear(struct pack *p);
void pack_free(struct pack *p);

/* A compressed pack. */
struct packed {
	unsigned char *bytes;
	size_t n;
};

/* Compress a pack. May run in several threads at once. */
struct packed pack_compress(const struct pack *p);
/* The room that it takes in the page, at most. */
size_t packed_room(const struct packed *p);
/*
 * Write it as an element of the page and free it. Returns whether all writes to the file went well
 * so far.
 */
bool packed_put(struct packed *p, const char *kind, struct outfile *out);
void packed_free(struct packed *p);

/* Several packs of one kind. A zeroed vector has none. */
typedef VEC(struct packed) packed_vec;

size_t packs_room(const packed_vec *packs);
/* As packed_put. */
bool packs_put(packed_vec *packs, const char *kind, struct outfile *out);
void packs_free(packed_vec *packs);

/* Append bytes as base64. */
void put_base64(struct buf *b, const unsigned char *p, size_t n);

#endif
