/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/codes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "user/jit/javalines.h"
#include "user/jit/javaname.h"
#include "user/record/pythonlines.h"

enum {
	MAX_BYTES = 16 << 20, /* of functions with their names and lines */
	LINES_MAX = 4096,     /* of one function */
	JAVA_NAME_MAX = 1024, /* bytes; a longer name is cut */
};

static const struct {
	const char *name, *unknown;
} languages[ER_CODE_LANGUAGES] = {
	[ER_CODE_PYTHON] = { "python", CODES_UNKNOWN },
	[ER_CODE_JAVA] = { "java", CODES_UNKNOWN_JAVA },
};

static const uint32_t NOT_COME = UINT32_MAX;

struct codes {
	VEC(uint32_t) by_number;          /* index in `functions`, or NOT_COME */
	VEC(struct exp_code *) functions; /* the first are the unknown ones of each language */
	struct map by_hash;             /* to an index in `functions` */
	struct strtab names;
	size_t bytes;
};

static bool is_full(const struct codes *c)
{
	return c->bytes + c->names.bytes >= MAX_BYTES;
}

static uint32_t add(struct codes *c, const struct exp_code *f)
{
	size_t nlines = f->nlines * sizeof(*f->lines);
	struct exp_code *new = xmalloc(sizeof(*new) + nlines);

	*new = *f;
	new->lines = nlines ? memcpy(new + 1, f->lines, nlines) : NULL;
	c->bytes += sizeof(*new) + nlines;
	vec_push(&c->functions, new);
	return c->functions.len - 1;
}

struct codes *codes_new(void)
{
	struct codes *c = xcalloc(1, sizeof(*c));

	for (size_t i = 0; i < ER_CODE_LANGUAGES; i++)
		add(c, &(struct exp_code){ .size = 1, .name = languages[i].unknown,
					     .language = languages[i].name });
	return c;
}

void codes_free(struct codes *c)
{
	if (!c)
		return;
	vec_for_each(f, &c->functions)
		free(*f);
	vec_free(&c->functions);
	vec_free(&c->by_number);
	map_free(&c->by_hash);
	strtab_free(&c->names);
	free(c);
}

/* --- texts --- */

static void put_utf8(struct buf *b, uint32_t ch)
{
	unsigned char s[4] = { ch };
	size_t n = 1;

	if (!ch || ch > 0x10ffff || ch - 0xd800 < 0x800)
		s[0] = '?';
	else if (ch >= 0x10000) {
		memcpy(s, (unsigned char[]){ 0xf0 | ch >> 18, 0x80 | (ch >> 12 & 63),
					     0x80 | (ch >> 6 & 63), 0x80 | (ch & 63) }, n = 4);
	} else if (ch >= 0x800) {
		memcpy(s, (unsigned char[]){ 0xe0 | ch >> 12, 0x80 | (ch >> 6 & 63),
					     0x80 | (ch & 63) }, n = 3);
	} else if (ch >= 0x80) {
		memcpy(s, (unsigned char[]){ 0xc0 | ch >> 6, 0x80 | (ch & 63) }, n = 2);
	}
	buf_add(b, s, n);
}

/* CPython keeps each character in 1, 2 or 4 bytes. */
static char *text_of(const struct er_code_text *t, const uint8_t *bytes, size_t max)
{
	struct buf b = { 0 };

	buf_reserve(&b, t->n);
	for (size_t at = 0; at < (size_t)t->n * t->width && at + t->width <= max; at += t->width) {
		uint32_t ch = 0;

		memcpy(&ch, bytes + at, t->width);
		put_utf8(&b, ch);
	}
	return b.data;
}

/*
 * "handler.py:Server.handle", "json/__init__.py:loads". Names in angle brackets mean something else
 * to readers, so "<frozen importlib>" loses them.
 */
static char *shown_name(const char *path, const char *name)
{
	const char *base = strrchr(path, '/');
	int n;

	base = base ? base + 1 : path;
	if (!strcmp(base, "__init__.py") && base > path + 1) {
		base--;
		while (base > path && base[-1] != '/')
			base--;
	}
	base += *base == '<';
	n = strlen(base);
	n -= n && base[n - 1] == '>';
	return xasprintf("%.*s:%s", n, base, name);
}

/* --- functions --- */

static bool same_lines(const struct exp_code *a, const struct exp_code *b)
{
	return a->nlines == b->nlines &&
	       (!a->nlines || !memcmp(a->lines, b->lines, a->nlines * sizeof(*a->lines)));
}

/* Names are interned, so equal names have one address. */
static bool same(const struct exp_code *a, const struct exp_code *b)
{
	return a->name == b->name && a->source == b->source && a->size == b->size &&
	       same_lines(a, b);
}

static uint64_t hash_of(const struct exp_code *f)
{
	uint64_t h = hash64((uintptr_t)f->name ^ hash64((uintptr_t)f->source ^ f->size << 48));

	return h ^ hash_bytes(f->lines, f->nlines * sizeof(*f->lines));
}

/* The index of the function; 0: there is no room for a new one. */
static uint32_t intern(struct codes *c, const struct exp_code *f)
{
	uint64_t hash = hash_of(f), *at;
	bool fresh;

	for (;; hash++) {
		at = map_put(&c->by_hash, hash, &fresh);
		if (!fresh && *at && same(c->functions.data[*at], f))
			return *at;
		if (fresh || !*at)
			break;
	}
	if (!is_full(c))
		*at = add(c, f);
	return *at;
}

/* The function with these names; 0: there is no room. */
static uint32_t intern_named(struct codes *c, struct exp_code *f, const char *shown, const char *path)
{
	if (is_full(c) && !(strtab_has(&c->names, shown) && strtab_has(&c->names, path)))
		return 0;
	f->name = strtab_intern(&c->names, shown);
	f->source = *path ? strtab_intern(&c->names, path) : NULL;
	return intern(c, f);
}

static uint32_t python_function(struct codes *c, const struct er_code *code)
{
	struct exp_line lines[LINES_MAX];
	__cleanup(freep) char *path = text_of(&code->path, code->path_bytes, ER_CODE_PATH);
	__cleanup(freep) char *name = text_of(&code->name, code->name_bytes, ER_CODE_NAME);
	__cleanup(freep) char *shown = shown_name(path, name);
	struct exp_code f = { .size = code->units, .lines = lines, .language = languages[ER_CODE_PYTHON].name };

	f.nlines = python_lines(code->table, code->table_size, code->first_line, lines, LINES_MAX);
	return intern_named(c, &f, shown, path);
}

static struct java_symbol symbol_of(const struct er_code_text *t, const uint8_t *bytes)
{
	return (struct java_symbol){ (const char *)bytes, t->n };
}

static uint32_t java_function(struct codes *c, const struct er_code *code)
{
	struct exp_line lines[LINES_MAX];
	struct java_symbol class = symbol_of(&code->path, code->path_bytes);
	struct exp_code f = { .size = code->units, .lines = lines, .language = languages[ER_CODE_JAVA].name };
	struct java_line java[LINES_MAX];
	char shown[JAVA_NAME_MAX], path[JAVA_NAME_MAX];

	javaname_source(class, symbol_of(&code->source, code->source_bytes), path, sizeof(path));
	javaname_method(class, symbol_of(&code->name, code->name_bytes),
			symbol_of(&code->signature, code->signature_bytes), shown, sizeof(shown));
	f.nlines = java_lines(code->table, code->table_size, code->bias, java, LINES_MAX);
	for (size_t i = 0; i < f.nlines; i++)
		lines[i] = (struct exp_line){ java[i].offset, java[i].line };
	return intern_named(c, &f, shown, path);
}

static uint32_t function_of(struct codes *c, const struct er_code *code)
{
	return code->language == ER_CODE_JAVA ? java_function(c, code) : python_function(c, code);
}

bool codes_take(struct codes *c, const struct er_code *code, bool named)
{
	uint32_t index = named ? function_of(c, code) : 0;

	while (c->by_number.len <= code->number)
		vec_push(&c->by_number, NOT_COME);
	c->by_number.data[code->number] = index ? index : code->language;
	return index || !named;
}

static uint32_t number_of(uint64_t frame)
{
	return er_frame_file(frame) - ER_CODE_FILE;
}

bool codes_has(const struct codes *c, uint64_t frame)
{
	uint32_t number = number_of(frame);

	return !number || (number < c->by_number.len && c->by_number.data[number] != NOT_COME);
}

const struct exp_code *codes_find(const struct codes *c, uint64_t frame, uint64_t *ret_frame)
{
	uint32_t number = number_of(frame);
	uint32_t index = number && codes_has(c, frame) ? c->by_number.data[number] : 0;
	const struct exp_code *f = c->functions.data[index];
	uint64_t offset = er_frame_offset(frame);

	*ret_frame = er_frame(ER_CODE_FILE + index, offset < f->size ? offset : f->size - 1);
	return f;
}
