/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/jit_piece.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/base/alloc.h"
#include "user/jit/batch.h"
#include "user/jit/table.h"
#include "user/unwind/worker.h"

#define INTERPRETER "<interpreter>"

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void *copy(const void *p, size_t n)
{
	return n ? memcpy(xmalloc(n), p, n) : NULL;
}

struct jit_piece jit_piece_copy(const struct unwind_names *names, uint64_t from_ns, bool of_memory)
{
	return (struct jit_piece){
		.entries = copy(names->entries, names->n * sizeof(*names->entries)),
		.n = names->n,
		.names = copy(names->names, names->nnames),
		.nnames = names->nnames,
		.from_ns = from_ns,
		.until_ns = now_ns(),
		.of_memory = of_memory,
	};
}

void jit_piece_free(struct jit_piece *p)
{
	free(p->entries);
	free(p->names);
}

/*
 * A file says when it did not have the function yet, and it is in the order of time: what follows a
 * removal was made after it. The memory was asked about single addresses: a function may always have
 * been there, unless another one was.
 */
static uint64_t date_of(const struct jit_piece *p, struct jit_table *table, uint64_t gone_ns,
			const struct jit_function *f)
{
	if (p->of_memory)
		return jit_table_overlaps(table, f) ? p->from_ns : 0;
	return gone_ns && gone_ns >= p->from_ns ? gone_ns + 1 : p->from_ns;
}

/* The entries before a function that describe it; NULL: there are none. */
struct notes {
	const struct jit_entry *lines, *alias;
};

/* False: the entry is no such note, or one that is not sound. */
static bool is_note(const struct jit_piece *p, const struct jit_entry *e, struct notes *ret)
{
	bool note = e->kind == JIT_LINES || e->kind == JIT_ALIAS;

	if (!note || p->of_memory || e->name > p->nnames || e->name_len > p->nnames - e->name)
		return false;
	*(e->kind == JIT_LINES ? &ret->lines : &ret->alias) = e;
	return true;
}

static void take_lines(const struct jit_piece *p, const struct jit_entry *e, struct jit_function *f)
{
	const char *name = p->names + e->name;
	size_t path = strnlen(name, e->name_len), n = (e->name_len - path) / sizeof(*f->lines);

	if (!path || path == e->name_len || path >= PATH_MAX)
		return;
	f->source = xstrndup(name, path);
	f->lines = copy(name + path + 1, n * sizeof(*f->lines));
	f->nlines = n;
}

static struct jit_function function(const struct jit_piece *p, const struct jit_entry *e, const struct notes *notes)
{
	bool pseudo = e->kind == JIT_INTERPRETER;
	struct jit_function f = {
		.start = e->start, .size = e->size, .code_at = e->code_at, .pseudo = pseudo,
		.name = pseudo ? xstrdup(INTERPRETER) : xstrndup(p->names + e->name, e->name_len),
	};

	if (notes->lines && notes->lines->start == e->start)
		take_lines(p, notes->lines, &f);
	if (notes->alias && notes->alias->start == e->start)
		f.alias = xstrndup(p->names + notes->alias->name, notes->alias->name_len);
	return f;
}

/* A time that is yet to come is not believed. */
static struct jit_function removal(const struct jit_piece *p, const struct jit_entry *e)
{
	return (struct jit_function){ .start = e->start, .size = 1, .gone = true,
				      .from_ns = e->time_ns > p->until_ns ? p->until_ns : e->time_ns };
}

size_t jit_piece_functions(const struct jit_piece *p, struct jit_table *table, uint64_t *gone_ns,
			   struct jit_function *ret)
{
	struct notes notes = { 0 };
	bool removed = false;
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct jit_entry *e = &p->entries[i];
		struct jit_function *f = &ret[n];

		if (is_note(p, e, &notes) || !jit_entry_is_sound(e, p->nnames))
			continue;
		if (e->kind == JIT_GONE) {
			*f = removal(p, e);
			*gone_ns = f->from_ns;
			removed = true;
			n++;
			continue;
		}
		*f = function(p, e, &notes);
		notes = (struct notes){ 0 };
		f->from_ns = e->time_ns ? e->time_ns : date_of(p, table, *gone_ns, f);
		if (!removed && jit_table_has(table, f))
			jit_function_free(f);
		else
			n++;
	}
	return n;
}
