/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_pack.h"

#include <libdeflate.h>
#include <stdlib.h>

#include "analysis/base/alloc.h"
#include "analysis/export/outfile.h"

enum { TAG = 4, HEAD = TAG + 4 };

/* Level 6 made the events of a compile 0.7 % smaller than level 4 and took half as long again. */
enum { GZIP_LEVEL = 4 };

#define ELEMENT "\n<script type=\"application/gzip\" data-pack=\"%s\">"
#define ELEMENT_END "</script>"

enum { KIND_MOST = 8 }; /* bytes of a kind's name */

void pack_begin(struct pack *p, const char *tag)
{
	buf_add(&p->bytes, tag, TAG);
	buf_zero(&p->bytes, HEAD - TAG);
	p->begin = p->bytes.len;
}

void pack_end(struct pack *p)
{
	size_t n = p->bytes.len - p->begin;

	for (size_t i = 0; i < HEAD - TAG; i++)
		p->bytes.data[p->begin - (HEAD - TAG) + i] = n >> 8 * i;
}

void put_base64(struct buf *b, const unsigned char *p, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t len = (n + 2) / 3 * 4;
	char *at = buf_zero(b, len);

	for (size_t i = 0; i < n; i += 3, at += 4) {
		size_t rest = n - i;
		uint32_t v = p[i] << 16 | (rest > 1 ? p[i + 1] << 8 : 0) |
			     (rest > 2 ? p[i + 2] : 0);

		at[0] = digits[v >> 18];
		at[1] = digits[v >> 12 & 63];
		at[2] = rest > 1 ? digits[v >> 6 & 63] : '=';
		at[3] = rest > 2 ? digits[v & 63] : '=';
	}
}

struct packed pack_compress(const struct pack *p)
{
	struct packed ret;
	struct libdeflate_compressor *c = libdeflate_alloc_compressor(GZIP_LEVEL);
	size_t room;

	if (!c)
		abort(); /* out of memory */
	room = libdeflate_gzip_compress_bound(c, p->bytes.len);
	ret.bytes = xmalloc(room);
	ret.n = libdeflate_gzip_compress(c, p->bytes.data, p->bytes.len, ret.bytes, room);
	libdeflate_free_compressor(c);
	ret.bytes = xrealloc_array(ret.bytes, ret.n, 1);
	return ret;
}

size_t packed_room(const struct packed *p)
{
	return (p->n + 2) / 3 * 4 + sizeof(ELEMENT) + KIND_MOST + sizeof(ELEMENT_END);
}

bool packed_put(struct packed *p, const char *kind, struct outfile *out)
{
	/* A multiple of 3, so that only the last piece is padded. */
	enum { PIECE = 3 << 16 };

	buf_printf(&out->buf, ELEMENT, kind);
	for (size_t i = 0; i < p->n; i += PIECE) {
		put_base64(&out->buf, p->bytes + i, p->n - i < PIECE ? p->n - i : PIECE);
		outfile_flush(out, PIECE);
	}
	buf_puts(&out->buf, ELEMENT_END);
	packed_free(p);
	return outfile_flush(out, 1 << 16);
}

void packed_free(struct packed *p)
{
	free(p->bytes);
	*p = (struct packed){ 0 };
}

size_t packs_room(const packed_vec *packs)
{
	size_t ret = 0;

	vec_for_each(p, packs)
		ret += packed_room(p);
	return ret;
}

bool packs_put(packed_vec *packs, const char *kind, struct outfile *out)
{
	bool ok = true;

	vec_for_each(p, packs)
		ok = ok && packed_put(p, kind, out);
	packs_free(packs);
	return ok;
}

void packs_free(packed_vec *packs)
{
	vec_for_each(p, packs)
		packed_free(p);
	vec_free(packs);
}

void pack_clear(struct pack *p)
{
	buf_clear(&p->bytes);
}

void pack_free(struct pack *p)
{
	buf_free(&p->bytes);
}
