/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/model/outline.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/model/model.h"
#include "analysis/symbols/demangle.h"
#include "analysis/symbols/symtab.h"

static const uint64_t SEVERAL = 1ULL << 63; /* several symbols of an object have the name */

size_t outlined_from(const char *symbol)
{
	static const char *const marks[] = { ".cold", ".part" };
	size_t found = 0;

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		for (const char *p = symbol; (p = strstr(p, marks[i])); p++) {
			char end = p[strlen(marks[i])];
			size_t at = p - symbol;

			if ((!end || end == '.') && at > found)
				found = at;
		}
	}
	return found;
}

/* --- symbols by name --- */

static void index_name(struct map *names, const char *name, size_t len, size_t i)
{
	bool fresh;
	uint64_t *at = map_put(names, hash_bytes(name, len), &fresh);

	*at = fresh ? i + 1 : *at | SEVERAL;
}

static void index_names(struct loadobj *o, const struct sym *syms, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		index_name(&o->by_name, syms[i].name, strlen(syms[i].name), i);
		for (const char *p = syms[i].aliases; p && *p; p += strspn(p, " ")) {
			index_name(&o->by_name, p, strcspn(p, " "), i);
			p += strcspn(p, " ");
		}
	}
}

static bool is_called(const struct sym *sym, const char *name, size_t len)
{
	if (!strncmp(sym->name, name, len) && !sym->name[len])
		return true;
	for (const char *p = sym->aliases; p && *p; p += strspn(p, " ")) {
		size_t word = strcspn(p, " ");

		if (word == len && !strncmp(p, name, len))
			return true;
		p += word;
	}
	return false;
}

/* Of the symbols with the name, the one in f's compile unit. */
static struct func *of_same_unit(struct session *s, const struct func *f, const struct sym *syms,
				 size_t n, size_t len)
{
	struct func *found = NULL;

	for (size_t i = 0; i < n; i++) {
		struct func *other;

		if (syms[i].elsewhere || !is_called(&syms[i], f->mangled, len))
			continue;
		other = object_symbol_func(s, f->obj, &syms[i]);
		if (!func_same_unit(s, f, other))
			continue;
		if (found)
			return NULL;
		found = other;
	}
	return found;
}

static struct func *find_parent(struct session *s, const struct func *f)
{
	size_t len = outlined_from(f->mangled), n = 0;
	struct loadobj *o = f->obj;
	const struct sym *syms = symtab_syms(o->symtab, &n), *sym;
	const uint64_t *at;

	if (!o->by_name.len)
		index_names(o, syms, n);
	at = map_get(&o->by_name, hash_bytes(f->mangled, len));
	if (!at)
		return NULL;
	if (*at & SEVERAL)
		return of_same_unit(s, f, syms, n, len);
	sym = &syms[*at - 1];
	if (sym->elsewhere || !is_called(sym, f->mangled, len))
		return NULL;
	return object_symbol_func(s, o, sym);
}

struct func *func_parent(struct session *s, const struct func *f)
{
	struct outline *part = f->outline;

	if (!part)
		return NULL;
	if (!part->known) {
		part->known = true;
		part->parent = find_parent(s, f);
	}
	return part->parent;
}

/* --- names --- */

/*
 * The line where the part begins; 0: unknown. If several rows have its first address
 * the first row is used: the last one, which otherwise counts, is often the prologue's.
 */
static uint32_t first_line(struct session *s, const struct func *f)
{
	line_code_vec rows = { 0 };
	struct inlined_at outermost;
	uint32_t line = 0;

	func_lines(s, f, &rows);
	if (rows.len && func_inlined(s, f, rows.data[0].offset, &outermost, 1))
		line = outermost.call.line;
	else if (rows.len)
		line = rows.data[0].src.line;
	vec_free(&rows);
	return line;
}

static const char *make_name(struct session *s, const struct func *f, bool full)
{
	__cleanup(freep) char *symbol = xstrndup(f->mangled, outlined_from(f->mangled));
	__cleanup(freep) char *readable = demangle(symbol, full), *line = NULL, *name = NULL;
	uint32_t first = first_line(s, f);

	if (first)
		line = xasprintf(" from line %u", first);
	name = xasprintf("%s -- outline code%s [%s]", readable ? readable : symbol,
			 line ? line : "", f->mangled);
	return strtab_intern(&s->names, name);
}

const char *func_outline_name(struct session *s, const struct func *f, bool full)
{
	struct outline *part = f->outline;

	if (!part)
		return NULL;
	if (!part->names[full])
		part->names[full] = make_name(s, f, full);
	return part->names[full];
}
