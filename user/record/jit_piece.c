/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/jit_piece.h"

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

static struct jit_function function(const struct jit_piece *p, const struct jit_entry *e)
{
	bool pseudo = e->kind == JIT_INTERPRETER;

	return (struct jit_function){
		.start = e->start, .size = e->size, .code_at = e->code_at, .pseudo = pseudo,
		.name = pseudo ? xstrdup(INTERPRETER) : xstrndup(p->names + e->name, e->name_len),
	};
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
	bool removed = false;
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct jit_entry *e = &p->entries[i];
		struct jit_function *f = &ret[n];

		if (!jit_entry_is_sound(e, p->nnames))
			continue;
		if (e->kind == JIT_GONE) {
			*f = removal(p, e);
			*gone_ns = f->from_ns;
			removed = true;
			n++;
			continue;
		}
		*f = function(p, e);
		f->from_ns = e->time_ns ? e->time_ns : date_of(p, table, *gone_ns, f);
		if (!removed && jit_table_has(table, f))
			free(f->name);
		else
			n++;
	}
	return n;
}
