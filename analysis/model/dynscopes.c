/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/model/dynscopes.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/cursor.h"
#include "analysis/base/file.h"
#include "analysis/experiment/exp_map.h"
#include "analysis/model/model.h"

enum { SCOPES_METHOD = 1, SCOPES_CODE = 2, HEAD_BYTES = 24, DEPTH_MAX = 64 };

/* A record of a function: its data in the file. */
struct record {
	uint64_t vaddr;
	int64_t time_ns;
	const unsigned char *data;
	size_t size;
	const struct source *from;
};

/* A function of the map, to find those at an address. */
struct listed {
	uint64_t vaddr;
	const struct exp_map *map;
};

/* The file of an experiment. */
struct source {
	struct experiment *e;
	struct file file;
	struct map methods; /* id, to the offset of its record's data + 1 */
	struct map read;    /* id, to struct method * */
	VEC(struct listed) functions; /* by vaddr */
};

struct line {
	uint32_t bytecode, line;
};

struct method {
	const char *name, *source;
	struct line *lines; /* by bytecode */
	size_t nlines;
};

struct scope {
	uint32_t outer; /* index + 1; 0: none */
	uint32_t bytecode;
	const struct method *method;
};

struct place {
	uint64_t offset;
	uint32_t scope; /* index + 1; 0: unknown */
};

/* What is known of a function. All 0: nothing. */
struct dyncode {
	struct scope *scopes;
	size_t nscopes;
	VEC(struct place) places; /* by offset */
};

struct dynscopes {
	VEC(struct source *) sources;
	VEC(struct record) records; /* by vaddr */
	struct map codes;           /* id of a function, to struct dyncode * */
};

static void source_free(struct source *f)
{
	map_free(&f->methods);
	map_free(&f->read);
	vec_free(&f->functions);
	file_close(&f->file);
	free(f);
}

static void dyncode_free(struct dyncode *c)
{
	free(c->scopes);
	vec_free(&c->places);
	free(c);
}

void dynscopes_free(struct dynscopes *d)
{
	if (!d)
		return;
	vec_for_each(f, &d->sources)
		source_free(*f);
	map_for_each(slot, &d->codes)
		dyncode_free((struct dyncode *)(uintptr_t)slot->value);
	vec_free(&d->sources);
	vec_free(&d->records);
	map_free(&d->codes);
	free(d);
}

/* --- files --- */

static int by_vaddr(const void *pa, const void *pb)
{
	const struct listed *a = pa, *b = pb;

	return (a->vaddr > b->vaddr) - (a->vaddr < b->vaddr);
}

static int by_place(const void *pa, const void *pb)
{
	const struct record *a = pa, *b = pb;

	return (a->vaddr > b->vaddr) - (a->vaddr < b->vaddr);
}

static void list_functions(struct source *f)
{
	vec_for_each(m, &f->e->maps) {
		if (m->what == EXP_MAP_FUNCTION && m->name)
			vec_push(&f->functions, (struct listed){ m->vaddr, m });
	}
	vec_sort(&f->functions, by_vaddr);
}

static void list_records(struct dynscopes *d, struct source *f)
{
	struct cursor c = { .p = f->file.data, .end = f->file.data + f->file.size, .swap = f->e->swap };

	while (cursor_left(&c) >= HEAD_BYTES) {
		uint32_t type = cursor_u32(&c), size = cursor_u32(&c);
		uint64_t first = cursor_u64(&c), second = cursor_u64(&c);
		const unsigned char *data;
		bool fresh;

		if (size < HEAD_BYTES || !(data = cursor_bytes(&c, size - HEAD_BYTES)))
			return;
		if (type == SCOPES_METHOD) {
			uint64_t *at = map_put(&f->methods, first, &fresh);

			if (fresh)
				*at = data - f->file.data + 1;
		} else if (type == SCOPES_CODE) {
			vec_push(&d->records, (struct record){ .vaddr = second, .time_ns = first, .data = data,
							       .size = size - HEAD_BYTES, .from = f });
		}
	}
}

static void open_source(struct dynscopes *d, struct experiment *e)
{
	__cleanup(freep) char *path = xasprintf("%s/dynscopes", e->path);
	struct file file;
	struct source *f;

	if (file_open_plain_at(AT_FDCWD, path, &file))
		return;
	f = xcalloc(1, sizeof(*f));
	f->e = e;
	f->file = file;
	vec_push(&d->sources, f);
	list_functions(f);
	list_records(d, f);
}

static struct dynscopes *dynscopes_of(struct session *s)
{
	if (!s->impl->dynscopes) {
		s->impl->dynscopes = xcalloc(1, sizeof(*s->impl->dynscopes));
		vec_for_each(e, &s->experiments)
			open_source(s->impl->dynscopes, *e);
		vec_sort(&s->impl->dynscopes->records, by_place);
	}
	return s->impl->dynscopes;
}

/* --- methods --- */

/* The text up to a NUL, interned; NULL: it is empty or has no end. */
static const char *take_text(struct session *s, struct cursor *c)
{
	const unsigned char *end = memchr(c->p, 0, cursor_left(c));
	const char *text = end ? cursor_bytes(c, end + 1 - c->p) : NULL;

	c->bad |= !end;
	return text && *text ? strtab_intern(&s->names, text) : NULL;
}

/* False: the lines are not sound. */
static bool take_lines(struct session *s, struct cursor *c, struct method *m)
{
	uint64_t n = cursor_uleb(c), bytecode = 0;
	int64_t line = 0;

	if (n > cursor_left(c) / 2)
		return false;
	m->lines = arena_alloc(&s->arena, n * sizeof(*m->lines) + 1);
	for (; m->nlines < n; m->nlines++) {
		bytecode += cursor_uleb(c) & UINT32_MAX;
		line += (int32_t)cursor_sleb(c);
		if (c->bad || bytecode > UINT16_MAX || line <= 0 || line > INT32_MAX)
			return false;
		m->lines[m->nlines] = (struct line){ bytecode, line };
	}
	return true;
}

/* NULL: it is not described. */
static const struct method *read_method(struct session *s, struct source *f, uint64_t id)
{
	const uint64_t *at = map_get(&f->methods, id);
	struct method *m;
	struct cursor c;
	bool fresh;
	uint64_t *known = map_put(&f->read, id, &fresh);

	if (!fresh || !at)
		return (struct method *)(uintptr_t)*known;
	c = (struct cursor){ .p = f->file.data + *at - 1, .end = f->file.data + f->file.size,
			     .swap = f->e->swap };
	m = arena_alloc(&s->arena, sizeof(*m));
	*m = (struct method){ .name = take_text(s, &c) };
	m->source = take_text(s, &c);
	if (!m->name || c.bad || !take_lines(s, &c, m))
		return NULL;
	*known = (uintptr_t)m;
	return m;
}

static uint32_t line_of(const struct scope *at)
{
	uint32_t line = 0;

	for (size_t i = 0; i < at->method->nlines && at->method->lines[i].bytecode <= at->bytecode; i++)
		line = at->method->lines[i].line;
	return line;
}

/* --- functions --- */

static bool take_scope(struct session *s, struct cursor *c, const struct record *r, const unsigned char *ids,
		       uint64_t nmethods, struct dyncode *code)
{
	uint64_t outer = cursor_uleb(c), method = cursor_uleb(c), bytecode = cursor_uleb(c);
	struct cursor id = { .p = ids, .end = ids + nmethods * 8, .swap = c->swap };
	const struct method *m;

	if (c->bad || outer > code->nscopes || method >= nmethods || bytecode > UINT16_MAX)
		return false;
	cursor_bytes(&id, method * 8);
	m = read_method(s, (struct source *)r->from, cursor_u64(&id));
	code->scopes[code->nscopes++] = (struct scope){ outer, bytecode, m };
	return m;
}

static bool take_scopes(struct session *s, struct cursor *c, const struct record *r, struct dyncode *code)
{
	uint64_t nmethods = cursor_uleb(c), n;
	const unsigned char *ids = nmethods <= cursor_left(c) / 8 ? cursor_bytes(c, nmethods * 8) : NULL;

	n = cursor_uleb(c);
	if (!ids || n > cursor_left(c) / 3)
		return false;
	code->scopes = xcalloc(n, sizeof(*code->scopes));
	while (code->nscopes < n) {
		if (!take_scope(s, c, r, ids, nmethods, code))
			return false;
	}
	return true;
}

static bool take_places(struct cursor *c, struct dyncode *code)
{
	uint64_t n = cursor_uleb(c), offset = 0;

	if (n > cursor_left(c) / 2)
		return false;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t more = cursor_uleb(c), scope = cursor_uleb(c);

		if (c->bad || more > INT32_MAX || (i && !more) || scope > code->nscopes)
			return false;
		offset += more;
		vec_push(&code->places, (struct place){ offset, scope });
	}
	return true;
}

/* Memory for code is reused. Whether the record is of this function, and of no other one there. */
static bool is_record_of(const struct record *r, const struct func *f)
{
	const struct source *from = r->from;
	bool named = false, another = false;

	for (size_t i = vec_upto(&from->functions, vaddr, f->addr); i > 0; i--) {
		const struct exp_map *m = from->functions.data[i - 1].map;
		bool same;

		if (m->vaddr != f->addr)
			break;
		same = m->size == f->size && !strcmp(m->name, f->mangled);
		named |= same && m->time_ns == r->time_ns;
		another |= !same && m->time_ns == r->time_ns;
	}
	return named && !another;
}

/* The only record of the function; NULL: there is none, or there are others that differ. */
static const struct record *record_of(const struct dynscopes *d, const struct func *f)
{
	const struct record *found = NULL;

	for (size_t i = vec_upto(&d->records, vaddr, f->addr); i > 0; i--) {
		const struct record *r = &d->records.data[i - 1];

		if (r->vaddr != f->addr)
			break;
		if (!is_record_of(r, f))
			continue;
		if (found && (found->size != r->size || memcmp(found->data, r->data, r->size)))
			return NULL;
		found = r;
	}
	return found;
}

static void read_code(struct session *s, const struct record *r, struct dyncode *ret)
{
	struct cursor c = { .p = r->data, .end = r->data + r->size, .swap = r->from->e->swap };

	if (take_scopes(s, &c, r, ret) && take_places(&c, ret))
		return;
	ret->places.len = 0;
}

static const struct dyncode *code_of(struct session *s, const struct func *f)
{
	struct dynscopes *d;
	const struct record *r;
	struct dyncode *code;
	uint64_t *slot;
	bool fresh;

	if (f->flags & (FUNC_PSEUDO | FUNC_INLINED | FUNC_INTERPRETED) || strcmp(f->obj->path, "DYNAMIC_FUNCTIONS"))
		return NULL;
	d = dynscopes_of(s);
	slot = d->records.len ? map_put(&d->codes, f->id, &fresh) : NULL;
	if (!slot)
		return NULL;
	if (!fresh)
		return (struct dyncode *)(uintptr_t)*slot;
	code = xcalloc(1, sizeof(*code));
	*slot = (uintptr_t)code;
	r = record_of(d, f);
	if (r)
		read_code(s, r, code);
	return code;
}

/* --- questions --- */

static uint32_t scope_at(const struct dyncode *c, uint64_t offset)
{
	size_t n = c ? vec_upto(&c->places, offset, offset) : 0;

	return n ? c->places.data[n - 1].scope : 0;
}

size_t dynscopes_at(struct session *s, const struct func *f, uint64_t offset, struct dynscope *ret, size_t max)
{
	const struct dyncode *c = code_of(s, f);
	uint32_t chain[DEPTH_MAX], scope = scope_at(c, offset);
	size_t n = 0;

	for (; scope && n < DEPTH_MAX; scope = c->scopes[scope - 1].outer)
		chain[n++] = scope - 1;
	for (size_t i = 0; i < n && i < max; i++) {
		const struct scope *at = &c->scopes[chain[n - 1 - i]];

		ret[i] = (struct dynscope){ at->method->name, at->method->source, line_of(at) };
	}
	return scope ? 0 : n;
}

const char *dynscopes_source(struct session *s, const struct func *f)
{
	const struct dyncode *c = code_of(s, f);

	for (size_t i = 0; c && c->places.len && i < c->nscopes; i++) {
		if (!c->scopes[i].outer)
			return c->scopes[i].method->source;
	}
	return NULL;
}

uint64_t dynscopes_part(struct session *s, const struct func *f, size_t n)
{
	const struct dyncode *c = code_of(s, f);

	return c && n < c->places.len ? c->places.data[n].offset : UINT64_MAX;
}
