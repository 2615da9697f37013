/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/jit/jitdump.h"

#include <elf.h>
#include <string.h>

#include "user/jit/batch.h"

enum {
	MAGIC = 0x4a695444, /* "JiTD" */
	VERSION = 1,
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

/* One of the debug info; the path of the source follows, with a NUL. */
struct row {
	uint64_t address;
	uint32_t line, column;
};

/* What a function's records before it say. */
struct group {
	size_t begin;               /* where its first record is */
	bool any;
	const unsigned char *lines, *lines_end; /* behind the record's head; NULL: none */
	const unsigned char *alias, *alias_end;
};

/* The path of a row that has the one of the row before. */
#define SAME "\377"

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

/* --- lines --- */

/* Read a row and its path. False: they are not whole. */
static bool take_row(const unsigned char **at, const unsigned char *end, struct row *ret, const char **path)
{
	const unsigned char *p = *at, *nul;

	if ((size_t)(end - p) <= sizeof(*ret))
		return false;
	memcpy(ret, p, sizeof(*ret));
	p += sizeof(*ret);
	nul = memchr(p, 0, end - p);
	if (!nul)
		return false;
	if (strcmp((const char *)p, SAME))
		*path = (const char *)p;
	*at = nul + 1;
	return true;
}

/* Lines of another source than the first one's are unknown lines. False: the row is not sound. */
static bool add_row(const struct row *r, const struct jit_entry *of, bool same, uint32_t *before, struct jit_batch *to)
{
	uint64_t offset = r->address - of->start;
	struct jit_line line = { .offset = offset, .line = same && r->line <= INT32_MAX ? r->line : 0 };

	if (offset > of->size || offset < *before || to->names_room - to->nnames < sizeof(line))
		return false;
	*before = offset;
	memcpy(to->names + to->nnames, &line, sizeof(line));
	to->nnames += sizeof(line);
	return true;
}

/* Write the lines behind the batch's names. False: they do not count. */
static bool put_lines(const struct group *g, const struct jit_entry *of, struct jit_batch *to)
{
	const unsigned char *p = g->lines + 16;
	const char *path = NULL, *source = NULL;
	uint32_t before = 0;
	uint64_t n;
	struct row r;

	if (g->lines_end - g->lines < 16 || memcmp(g->lines, &of->start, 8))
		return false;
	memcpy(&n, g->lines + 8, 8);
	for (uint64_t i = 0; i < n; i++) {
		if (!take_row(&p, g->lines_end, &r, &path) || !path || (!i && r.address != of->start))
			return false;
		if (!source && !jit_batch_put(to, source = path, strlen(path) + 1))
			return false;
		if (!add_row(&r, of, !strcmp(source, path), &before, to))
			return false;
	}
	return n && *source;
}

static void add_lines(const struct group *g, const struct jit_entry *of, struct jit_batch *to)
{
	size_t names = to->nnames;

	if (!g->lines)
		return;
	if (put_lines(g, of, to))
		jit_batch_close(to, JIT_LINES, of->start, names);
	else
		to->nnames = names;
}

static void add_alias(const struct group *g, const struct jit_entry *of, struct jit_batch *to)
{
	size_t n = g->alias ? strnlen((const char *)g->alias, g->alias_end - g->alias) : 0;

	if (n)
		jit_batch_note(to, JIT_ALIAS, of->start, g->alias, n < JIT_NAME_MAX ? n : JIT_NAME_MAX);
}

/* --- records --- */

/* False: the batch has no room for all of it. */
static bool add(const struct group *g, const struct jit_entry *e, const char *name, size_t len, struct jit_batch *to)
{
	size_t n = to->n, nnames = to->nnames;

	if (!len || !jit_code_fits(e->start, e->size))
		return true;
	if (g->any) {
		add_alias(g, e, to);
		add_lines(g, e, to);
	}
	if (jit_batch_add(to, e, name, len))
		return true;
	to->n = n;
	to->nnames = nnames;
	/* Alone, the function will fit. */
	return !n && g->any && jit_batch_add(to, e, name, len);
}

/* `n` bytes of the record are in the piece. False: the batch has no room. */
static bool take_code(const struct jitdump *d, const unsigned char *p, size_t n, const struct record *r,
		      uint64_t offset, const struct group *g, struct jit_batch *to)
{
	size_t head = sizeof(*r) + sizeof(struct code_load), code;
	const char *name = (const char *)p + head, *end;
	struct jit_entry e;
	struct code_load l;

	if (r->size < head || n <= head)
		return true;
	memcpy(&l, p + sizeof(*r), sizeof(l));
	end = memchr(name, 0, n - head);
	if (!end)
		return true;
	code = head + (end - name) + 1;
	e = (struct jit_entry){ .start = l.address, .size = l.size > UINT32_MAX ? 0 : l.size,
				.time_ns = d->dated ? r->time_ns : 0,
				.code_at = l.size <= r->size - code ? offset + code : 0 };
	return add(g, &e, name, end - name, to);
}

/* False: the batch has no room. */
static bool take_gone(const struct jitdump *d, const unsigned char *p, const struct record *r, struct jit_batch *to)
{
	struct jit_entry e = { .size = 1, .time_ns = r->time_ns, .kind = JIT_GONE };

	if (!d->dated || r->size < sizeof(*r) + 8)
		return true;
	memcpy(&e.start, p + sizeof(*r), 8);
	return jit_batch_add(to, &e, "-", 1);
}

/* A whole record that belongs to the next function. */
static void note(struct group *g, size_t at, const unsigned char *p, const struct record *r)
{
	const unsigned char *data = p + sizeof(*r), *end = p + r->size;

	if (!g->any)
		*g = (struct group){ .begin = at, .any = true };
	if (r->kind == JITDUMP_LINES) {
		g->lines = data;
		g->lines_end = end;
	} else {
		g->alias = data;
		g->alias_end = end;
	}
}

static bool is_note(const struct record *r)
{
	return r->kind == JITDUMP_LINES || r->kind == JITDUMP_ALIAS;
}

/* A record that is no note. `n` bytes of it are in the piece. False: the batch has no room. */
static bool take(const struct jitdump *d, const unsigned char *p, size_t n, const struct record *r, uint64_t offset,
		 struct group *g, struct jit_batch *to)
{
	if (r->kind == JITDUMP_LOAD) {
		bool taken = take_code(d, p, n, r, offset, g, to);

		g->any &= !taken;
		return taken;
	}
	return r->kind != JITDUMP_GONE || n < r->size || take_gone(d, p, r, to);
}

size_t jitdump_parse(const struct jitdump *d, const void *piece, size_t n, size_t full,
		     uint64_t offset, struct jit_batch *to)
{
	const unsigned char *p = piece;
	struct group g = { 0 };
	size_t at = 0;
	struct record r;

	while (n - at >= sizeof(r)) {
		size_t left = n - at;

		memcpy(&r, p + at, sizeof(r));
		if (r.size < sizeof(r) || r.size > JITDUMP_RECORD_MAX)
			break;
		if (r.size > left && (at || n < full))
			break;
		if (is_note(&r) && r.size <= left)
			note(&g, at, p + at, &r);
		else if (!take(d, p + at, r.size < left ? r.size : left, &r, offset + at, &g, to))
			break;
		at += r.size;
		if (at >= n)
			break;
	}
	/* Notes wait for their function, but not for ever. */
	return g.any && (g.begin || n < full) ? g.begin : at;
}
