/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/symbols/gotable.h"

#include <string.h>

#include "analysis/base/cursor.h"

enum {
	FUNCTIONS_MAX = 1 << 20, /* the largest programs have a quarter */
	PATH_LEN_MAX = 4096,
	PCDATA_CALL = 2, /* the number of a function's table of inlined calls */
	FUNCDATA_TREE = 3,
	TEXT_WORD = 2, /* of the header, where functions have relative addresses */
	WORD_SIZE_AT = 7, /* of the header's bytes */
	HEADER_MIN = 16,
};

/*
 * Where things are. Header words are counted after the first eight bytes; 0: the header has no
 * such word. The other numbers are offsets in bytes.
 */
struct go_layout {
	uint32_t magic;
	/* header words */
	unsigned names, units, files, values, functions;
	unsigned word; /* size of a number in the index of functions */
	/* in a function's description */
	unsigned name, stack, file, line, nvalues, unit, more;
	/* in an inlined call; size 0: not read */
	unsigned call_size, call_name, call_caller;
};

static const struct go_layout layouts[] = {
	/* Go 1.2 */
	{ .magic = 0xfffffffb, .word = 8, .name = 8, .stack = 20, .file = 24, .line = 28, .nvalues = 32,
	  .more = 40 },
	/* Go 1.16 */
	{ .magic = 0xfffffffa, .names = 2, .units = 3, .files = 4, .values = 5, .functions = 6,
	  .word = 8, .name = 8, .stack = 20, .file = 24, .line = 28, .nvalues = 32, .unit = 36,
	  .more = 44 },
	/* Go 1.18 */
	{ .magic = 0xfffffff0, .names = 3, .units = 4, .files = 5, .values = 6, .functions = 7,
	  .word = 4, .name = 4, .stack = 16, .file = 20, .line = 24, .nvalues = 28, .unit = 32,
	  .more = 40, .call_size = 20, .call_name = 12, .call_caller = 16 },
	/* Go 1.20 */
	{ .magic = 0xfffffff1, .names = 3, .units = 4, .files = 5, .values = 6, .functions = 7,
	  .word = 4, .name = 4, .stack = 16, .file = 20, .line = 24, .nvalues = 28, .unit = 32,
	  .more = 44, .call_size = 16, .call_name = 4, .call_caller = 8 },
};

/* --- bytes --- */

/* Numbers at an offset from the table's start; 0 outside of it. */
static uint64_t u64_at(const struct gotable *t, uint64_t at)
{
	uint64_t v = 0;

	if (at < t->size && t->size - at >= sizeof(v))
		memcpy(&v, t->p + at, sizeof(v));
	return v;
}

static uint32_t u32_at(const struct gotable *t, uint64_t at)
{
	uint32_t v = 0;

	if (at < t->size && t->size - at >= sizeof(v))
		memcpy(&v, t->p + at, sizeof(v));
	return v;
}

static uint64_t header_word(const struct gotable *t, unsigned i)
{
	return u64_at(t, 8 + 8 * i);
}

/* A string with an end. NULL: it is empty, longer than max, or outside. */
static const char *string_at(const struct gotable *t, uint64_t at, size_t max, size_t *len)
{
	const char *s = (const char *)t->p + at;

	if (at >= t->size)
		return NULL;
	*len = strnlen(s, t->size - at < max + 1 ? t->size - at : max + 1);
	return *len && *len <= max && *len < t->size - at ? s : NULL;
}

/* --- the header --- */

/* Checks two zeros, the smallest step of addresses, and the word size. */
static bool is_header(const struct gotable *t)
{
	return t->size > HEADER_MIN && !t->p[4] && !t->p[5] &&
	       (t->p[6] == 1 || t->p[6] == 2 || t->p[6] == 4) && t->p[WORD_SIZE_AT] == 8;
}

static const struct go_layout *layout_of(const struct gotable *t)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (is_header(t) && u32_at(t, 0) == layouts[i].magic)
			return &layouts[i];
	return NULL;
}

/* The offset that a header word has; the table's own start if the layout has no such word. */
static bool part(const struct gotable *t, unsigned word, uint64_t *ret)
{
	*ret = word ? header_word(t, word) : 0;
	return *ret < t->size;
}

/* Read the header at p. False: the table does not fit into the rest of its section. */
static bool read_header(struct gotable *t)
{
	const struct go_layout *y = t->layout = layout_of(t);
	uint64_t index_size, end;

	if (!y || !part(t, y->names, &t->names) || !part(t, y->units, &t->units) ||
	    !part(t, y->files, &t->files) || !part(t, y->values, &t->values) ||
	    !part(t, y->functions, &t->functions))
		return false;
	t->quantum = t->p[6];
	t->n = header_word(t, 0);
	t->index = y->functions ? t->functions : 16;
	if (!t->n || t->n > FUNCTIONS_MAX)
		return false;
	index_size = t->n * 2 * y->word + y->word;
	end = t->index + index_size;
	if (end > t->size || t->size - end < t->n * y->more)
		return false;
	if (!y->files) {
		t->files = u32_at(t, end);
		t->nfiles = u32_at(t, t->files);
	}
	return t->files < t->size;
}

enum go_found gotable_open(const void *p, size_t size, struct gotable *ret)
{
	*ret = (struct gotable){ .p = p, .size = size };
	if (is_header(ret) && !layout_of(ret))
		return GO_UNKNOWN;
	if (!read_header(ret))
		return GO_NONE;
	ret->reads_calls = ret->layout->call_size;
	ret->text = ret->reads_calls ? header_word(ret, TEXT_WORD) : 0;
	return GO_FOUND;
}

bool gotable_search(const void *p, size_t size, size_t *at, struct gotable *ret)
{
	const unsigned char *b = p;

	for (*at = 0; size - *at > HEADER_MIN; *at += 8) {
		/* Read nothing else of a word that is no header: files have many, and nearly none has a table. */
		if (b[*at + WORD_SIZE_AT] == 8 && gotable_open(b + *at, size - *at, ret) == GO_FOUND)
			return true;
	}
	return false;
}

/* --- values by address --- */

/*
 * A table of a function's values: pairs of a difference to the last value and the number of bytes
 * that have the new one. `value` is that of the code up to `end`, from the last end on.
 */
struct values {
	struct cursor c;
	uint64_t end;
	int32_t value;
	bool more;
};

static uint32_t varint(struct cursor *c)
{
	uint64_t v = cursor_uleb(c);

	return c->bad ? 0 : v;
}

/* After the last value, or if the table is damaged: -1, for the rest of the function. */
static void next_value(const struct gotable *t, const struct go_function *f, struct values *v, bool first)
{
	uint32_t difference = varint(&v->c);
	uint64_t bytes = (uint64_t)varint(&v->c) * t->quantum;

	v->more = v->more && !v->c.bad && bytes && (difference || first);
	if (!v->more) {
		v->value = -1;
		v->end = f->end;
		return;
	}
	v->value = (uint32_t)v->value + (difference >> 1 ^ -(difference & 1));
	v->end = bytes < f->end - v->end ? v->end + bytes : f->end;
}

/* Begin with the first value of the table whose number is at this offset in the description. */
static struct values first_value(const struct gotable *t, const struct go_function *f, unsigned at)
{
	uint64_t offset = at ? u32_at(t, f->at + at) : 0;
	struct values v = { .end = f->start, .value = -1, .more = offset };

	if (v.more && t->values + offset < t->size)
		v.c = (struct cursor){ .p = t->p + t->values + offset, .end = t->p + t->size };
	next_value(t, f, &v, true);
	return v;
}

static uint32_t first_file(const struct gotable *t, const struct go_function *f)
{
	return first_value(t, f, t->layout->file).value;
}

/* --- functions --- */

bool gotable_function(const struct gotable *t, uint64_t i, struct go_function *ret)
{
	const struct go_layout *y = t->layout;
	uint64_t entry = t->index + i * 2 * y->word;
	bool wide = y->word == 8;

	ret->start = t->text + (wide ? u64_at(t, entry) : u32_at(t, entry));
	ret->end = t->text + (wide ? u64_at(t, entry + 16) : u32_at(t, entry + 8));
	ret->at = t->functions + (wide ? u64_at(t, entry + 8) : u32_at(t, entry + 4));
	if (ret->start >= ret->end || ret->at < t->functions || ret->at >= t->size ||
	    t->size - ret->at < y->more)
		return false;
	ret->name = string_at(t, t->names + u32_at(t, ret->at + y->name), GO_NAME_MAX, &ret->name_len);
	ret->flags = ret->at + y->more - 3 < t->size ? t->p[ret->at + y->more - 3] : 0;
	ret->unit = y->unit ? u32_at(t, ret->at + y->unit) : first_file(t, ret);
	return ret->name;
}

/* --- lines --- */

/* Where the description has its table of inlined calls; 0: it has none. */
static unsigned calls_at(const struct gotable *t, const struct go_function *f)
{
	const struct go_layout *y = t->layout;

	return t->trees && u32_at(t, f->at + y->nvalues) > PCDATA_CALL ? y->more + 4 * PCDATA_CALL : 0;
}

void gotable_spans(const struct gotable *t, const struct go_function *f, go_spans *ret)
{
	struct values file = first_value(t, f, t->layout->file);
	struct values line = first_value(t, f, t->layout->line);
	struct values call = first_value(t, f, calls_at(t, f));
	uint64_t at = f->start;

	while (at < f->end) {
		vec_push(ret, (struct go_span){ .start = at, .file = file.value, .line = line.value,
						.call = call.value });
		at = file.end < line.end ? file.end : line.end;
		at = call.end < at ? call.end : at;
		if (file.end == at)
			next_value(t, f, &file, false);
		if (line.end == at)
			next_value(t, f, &line, false);
		if (call.end == at)
			next_value(t, f, &call, false);
	}
}

const char *gotable_path(const struct gotable *t, const struct go_function *f, int32_t file)
{
	bool by_number = !t->layout->units;
	uint64_t at;
	size_t len;

	if (file < 0 || (by_number && (uint32_t)file >= t->nfiles))
		return NULL;
	if (by_number)
		return string_at(t, u32_at(t, t->files + 4 * (uint64_t)file), PATH_LEN_MAX, &len);
	at = t->units + 4 * ((uint64_t)f->unit + file);
	if (at >= t->size || u32_at(t, at) == UINT32_MAX)
		return NULL;
	return string_at(t, t->files + u32_at(t, at), PATH_LEN_MAX, &len);
}

void gotable_depths(const struct gotable *t, const struct go_function *f, go_depths *ret)
{
	struct values v = first_value(t, f, t->layout->stack);

	for (uint64_t at = f->start; at < f->end; at = v.end, next_value(t, f, &v, false))
		vec_push(ret, (struct go_depth){ .start = at, .bytes = v.value });
}

/* --- inlined calls --- */

/* The offset of the function's inlined calls among all; UINT32_MAX: it has none. */
static uint32_t tree_of(const struct gotable *t, const struct go_function *f)
{
	const struct go_layout *y = t->layout;
	uint64_t nvalues = u32_at(t, f->at + y->nvalues), ntrees = f->at + y->more - 1;

	if (!y->call_size || ntrees >= t->size || t->p[ntrees] <= FUNCDATA_TREE)
		return UINT32_MAX;
	return u32_at(t, f->at + y->more + 4 * (nvalues + FUNCDATA_TREE));
}

bool gotable_call(const struct gotable *t, const struct go_function *f, int32_t call,
		  struct go_call *ret)
{
	const struct go_layout *y = t->layout;
	uint64_t at = tree_of(t, f);
	struct gotable trees = { .p = t->trees, .size = t->trees_size };
	uint64_t name, caller;
	size_t len;

	if (at == UINT32_MAX || call < 0)
		return false;
	at += (uint64_t)call * y->call_size;
	if (at >= trees.size || trees.size - at < y->call_size)
		return false;
	name = t->names + u32_at(&trees, at + y->call_name);
	caller = u32_at(&trees, at + y->call_caller);
	ret->name = string_at(t, name, GO_NAME_MAX, &len);
	ret->caller = f->start + caller;
	return ret->name && !t->p[name - 1] && caller < f->end - f->start;
}

bool gotable_has_calls(const struct gotable *t, const struct go_function *f)
{
	return tree_of(t, f) != UINT32_MAX;
}
