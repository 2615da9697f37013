/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/jit/batch.h"

#include <string.h>

/* The length of the name in `len` bytes. A character of UTF-8 is not cut in two. */
static size_t name_length(const char *name, size_t len)
{
	len = strnlen(name, len);
	if (len <= JIT_NAME_MAX)
		return len;
	for (len = JIT_NAME_MAX; len > JIT_NAME_MAX - 4; len--) {
		if (((unsigned char)name[len] & 0xc0) != 0x80)
			return len;
	}
	return JIT_NAME_MAX;
}

/* False: there is no room. */
static bool append(struct jit_batch *b, const struct jit_entry *e, const void *name, size_t len)
{
	if (b->n >= b->room || len > b->names_room - b->nnames)
		return false;
	b->entries[b->n] = *e;
	b->entries[b->n].name = b->nnames;
	b->entries[b->n++].name_len = len;
	memcpy(b->names + b->nnames, name, len);
	b->nnames += len;
	return true;
}

bool jit_batch_note(struct jit_batch *b, enum jit_kind kind, uint64_t start, const void *name, size_t len)
{
	return append(b, &(struct jit_entry){ .start = start, .kind = kind }, name, len);
}

bool jit_batch_put(struct jit_batch *b, const void *p, size_t n)
{
	if (n > b->names_room - b->nnames)
		return false;
	memcpy(b->names + b->nnames, p, n);
	b->nnames += n;
	return true;
}

bool jit_batch_close(struct jit_batch *b, enum jit_kind kind, uint64_t start, size_t name)
{
	if (b->n >= b->room) {
		b->nnames = name;
		return false;
	}
	b->entries[b->n++] = (struct jit_entry){ .start = start, .kind = kind, .name = name,
						 .name_len = b->nnames - name };
	return true;
}

bool jit_batch_add(struct jit_batch *b, const struct jit_entry *e, const char *name, size_t len)
{
	len = name_length(name, len);
	if (!len || !jit_code_fits(e->start, e->size))
		return true;
	return append(b, e, name, len);
}

bool jit_entry_is_sound(const struct jit_entry *e, size_t nnames)
{
	return e->kind <= JIT_INTERPRETER && jit_code_fits(e->start, e->size) && e->name_len &&
	       e->name_len <= JIT_NAME_MAX && e->name <= nnames && e->name_len <= nnames - e->name;
}
