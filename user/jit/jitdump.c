/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/jit/jitdump.h"

#include <elf.h>
#include <string.h>

#include "user/jit/batch.h"

enum {
	MAGIC = 0x4a695444, /* "JiTD" */
	VERSION = 1,
	CODE_LOAD = 0,      /* a kind of record */
};

#define ARCH_TIMESTAMP 1ULL /* times are of the CPU's counter */

struct header {
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t time_ns, flags;
};

struct record {
	uint32_t kind, size;
	uint64_t time_ns;
};

/* Behind the record's head. The name follows, then the code. */
struct code_load {
	uint32_t pid, tid;
	uint64_t vma, address, size, number;
};

_Static_assert(sizeof(struct header) == JITDUMP_HEADER, "as in the file");

bool jitdump_header(const void *p, size_t n, struct jitdump *ret)
{
	struct header h;

	if (n < sizeof(h))
		return false;
	memcpy(&h, p, sizeof(h));
	*ret = (struct jitdump){ h.size, !(h.flags & ARCH_TIMESTAMP) };
	return h.magic == MAGIC && h.version == VERSION && h.machine == EM_X86_64 &&
	       h.size >= sizeof(h) && h.size <= JITDUMP_RECORD_MAX;
}

/* `n` bytes of the record are in the piece. False: the batch has no room. */
static bool take_code(const struct jitdump *d, const unsigned char *p, size_t n,
		      const struct record *r, uint64_t offset, struct jit_batch *to)
{
	size_t head = sizeof(*r) + sizeof(struct code_load);
	const char *name = (const char *)p + head, *end;
	struct jit_entry e;
	struct code_load l;

	if (r->size < head || n <= head)
		return true;
	memcpy(&l, p + sizeof(*r), sizeof(l));
	end = memchr(name, 0, n - head);
	if (!end || l.size > r->size - head - (end - name) - 1)
		return true;
	e = (struct jit_entry){ .start = l.address, .size = l.size > UINT32_MAX ? 0 : l.size,
				.time_ns = d->dated ? r->time_ns : 0,
				.code_at = offset + head + (end - name) + 1 };
	return jit_batch_add(to, &e, name, end - name);
}

size_t jitdump_parse(const struct jitdump *d, const void *piece, size_t n, size_t full,
		     uint64_t offset, struct jit_batch *to)
{
	const unsigned char *p = piece;
	size_t at = 0;
	struct record r;

	while (n - at >= sizeof(r)) {
		size_t left = n - at;

		memcpy(&r, p + at, sizeof(r));
		if (r.size < sizeof(r) || r.size > JITDUMP_RECORD_MAX)
			break;
		if (r.size > left && (at || n < full))
			break;
		if (r.kind == CODE_LOAD && !take_code(d, p + at, r.size < left ? r.size : left, &r,
						      offset + at, to))
			break;
		at += r.size;
		if (at >= n)
			break;
	}
	return at;
}
