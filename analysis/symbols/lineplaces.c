/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/symbols/lineplaces.h"

#include <string.h>

#include "analysis/symbols/demangle.h"
#include "analysis/symbols/lineinfo_impl.h"
#include "analysis/symbols/symtab.h"

/* A function, or a copy of an inlined one in it: the code of a line counts once there. */
struct owner {
	uint64_t addr;     /* of the line's code */
	uint64_t function; /* its address */
	const struct inline_call *call;
};

typedef VEC(struct owner) owners;

static bool same_file(const char *path, const char *wanted)
{
	size_t n = strlen(path), k = strlen(wanted);

	return n >= k && !strcmp(path + n - k, wanted) && (n == k || path[n - k - 1] == '/');
}

static int owner_cmp(const void *pa, const void *pb)
{
	const struct owner *a = pa, *b = pb;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->call != b->call)
		return a->call < b->call ? -1 : 1;
	return (a->addr > b->addr) - (a->addr < b->addr);
}

static int address_cmp(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

static void look_at_row(const struct unit *u, size_t i, const struct symtab *t, uint32_t line,
			owners *found, struct line_places *ret)
{
	const struct line_row *r = &u->rows.data[i];
	const struct sym *sym;

	ret->file_known = true;
	/* Of rows with one address the last is used (lineinfo.h). */
	if (i + 1 < u->rows.len && u->rows.data[i + 1].addr == r->addr)
		return;
	if (r->line > line && (!ret->next_line || r->line < ret->next_line))
		ret->next_line = r->line;
	if (r->line != line)
		return;
	sym = symtab_find(t, r->addr);
	vec_push(found, (struct owner){ .addr = r->addr, .function = sym ? sym->addr : 0,
					.call = inline_find(&u->calls, r->addr) });
}

void line_places(struct lineinfo *l, const struct symtab *t, const char *file, uint32_t line,
		 struct line_places *ret)
{
	owners found = { 0 };

	*ret = (struct line_places){ 0 };
	lineinfo_read_all(l);
	vec_for_each (u, &l->units) {
		for (size_t i = 0; i < u->rows.len; i++) {
			const struct line_row *r = &u->rows.data[i];

			if (r->line && same_file(lineinfo_path(l, r->file), file))
				look_at_row(u, i, t, line, &found, ret);
		}
	}
	vec_sort(&found, owner_cmp);
	for (size_t i = 0; i < found.len; i++) {
		const struct owner *o = &found.data[i];

		if (!i || o[-1].function != o->function || o[-1].call != o->call)
			vec_push(&ret->addresses, o->addr);
	}
	vec_free(&found);
	vec_sort(&ret->addresses, address_cmp);
}

static bool callee_named(const struct inline_callee *c, const char *name)
{
	__cleanup(freep) char *whole = NULL, *brief = NULL;

	if ((c->name && !strcmp(c->name, name)) || (c->symbol && !strcmp(c->symbol, name)))
		return true;
	/* Only a name in a namespace or class has to be demangled. */
	if (!c->symbol || !strchr(name, ':'))
		return false;
	whole = demangle(c->symbol, 1);
	brief = demangle(c->symbol, 0);
	return (whole && !strcmp(whole, name)) || (brief && !strcmp(brief, name));
}

size_t inlined_calls(struct lineinfo *l, const char *name)
{
	size_t n = 0;

	lineinfo_read_all(l);
	vec_for_each (u, &l->units) {
		vec_for_each (c, &u->calls.calls)
			n += callee_named(c->callee, name);
	}
	return n;
}
