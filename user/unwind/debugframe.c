/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/unwind/debugframe.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "analysis/base/alloc.h"

/* Replace the compressed bytes of f->section by the uncompressed ones. */
static bool inflate_section(struct debugframe *f)
{
	struct ehframe_section *s = &f->section;
	Elf64_Chdr h;
	uLongf size;

	if (s->size < sizeof(h))
		return false;
	memcpy(&h, s->data, sizeof(h));
	if (h.ch_type != ELFCOMPRESS_ZLIB || !h.ch_size || h.ch_size > DEBUGFRAME_MAX)
		return false;
	size = h.ch_size;
	f->room = xmalloc(size);
	if (uncompress(f->room, &size, s->data + sizeof(h), s->size - sizeof(h)) != Z_OK ||
	    size != h.ch_size) {
		debugframe_close(f);
		return false;
	}
	s->data = f->room;
	s->size = size;
	return true;
}

bool debugframe_open(struct debugframe *f, const struct elftext *e)
{
	bool compressed;

	*f = (struct debugframe){ 0 };
	return elftext_debugframe(e, &f->section, &compressed) &&
	       (!compressed || inflate_section(f));
}

void debugframe_close(struct debugframe *f)
{
	free(f->room);
	f->room = NULL;
}
