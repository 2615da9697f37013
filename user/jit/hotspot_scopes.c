/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which methods compiled code comes from. HotSpot describes single places of the code: where a
 * method is called, and where a thread may stop. Such a place has a scope: a method, a bytecode in it,
 * and the scope that it was inlined into. Code between two places has the scope of the later one.
 * HotSpot itself takes the innermost frame of a thread from the next place, too.
 *
 * What contradicts itself is left out, because a wrong caller is worse than none: the code may
 * be replaced while it is read.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/cursor.h"
#include "analysis/base/map.h"
#include "user/jit/batch.h"
#include "user/jit/hotspot_impl.h"
#include "user/jit/javalines.h"
#include "user/jit/leb.h"

enum {
	PLACES_MAX = 8192,       /* of one compiled method */
	SCOPES_MAX = 4096,
	METHODS_MAX = 1024,
	METADATA_MAX = 8192,
	SCOPES_BYTES = 1 << 20,
	DEPTH_MAX = 64,
	SLOTS = 1 << 14,         /* for twice as many scopes, or more */
	SCOPE_BYTES = 16,        /* three numbers of five bytes */
	FIRST_PLACE = -1,        /* the offset that begins the list; one behind the code ends it */
	NOTHING = 0,             /* where a place without a scope has it */
	OUT_BYTES = METHODS_MAX * 8 + (SCOPES_MAX + PLACES_MAX) * 15 + 32,
};

struct extent {
	uint64_t at, end;
};

struct scope {
	uint32_t decode;       /* where it is described */
	uint32_t outer;        /* index + 1 of the scope around it; 0: none */
	uint32_t method, bytecode;
	uint32_t depth;
};

/* Code from `offset` on comes from a scope: its index + 1, or 0. */
struct place {
	uint32_t offset, scope;
};

struct scope_reader {
	const struct cache *c;
	const uint64_t *known;
	struct map told;       /* ids of methods, and addresses of code, that this answer has */
	bool possible;         /* this version says all that is needed */

	/* Of the compiled method: */
	uint64_t method;
	struct extent places_at, data, metadata;
	size_t nscopes, nmethods, nplaces;
	struct scope scopes[SCOPES_MAX];
	struct place places[PLACES_MAX];
	uint64_t addresses[METHODS_MAX];
	struct method_head methods[METHODS_MAX];
	uint32_t slots[SLOTS]; /* hash table: index + 1 of a scope */
	uint16_t method_of[METADATA_MAX]; /* index + 1 among `methods`; 0: not met yet */
	uint8_t out[OUT_BYTES], description[METHOD_BYTES];
};

static bool is_old(const struct cache *c)
{
	return cache_has(c, OLD_SCOPES_DATA) && cache_has(c, OLD_METADATA) && cache_has(c, OLD_DEPENDENCIES);
}

static bool is_new(const struct cache *c)
{
	return cache_has(c, FIXED_DATA) && cache_has(c, FIXED_SIZE) && cache_has(c, SCOPES_DATA) &&
	       cache_has(c, OTHER_DATA) && cache_has(c, OTHER_SIZE) && cache_has(c, RELOCATION_SIZE);
}

static bool is_possible(const struct cache *c)
{
	bool lines = cache_has(c, CONST_WORDS) && cache_has(c, CONST_CODE) && cache_has(c, POOL_SOURCE) &&
		     cache_has(c, SIZE_OF_CONST) && c->l->major &&
		     (cache_has(c, CONST_FLAGS) || cache_has(c, CONST_FLAGS_NEW));

	return lines && (is_old(c) || is_new(c)) && cache_has(c, SCOPES_PCS) && cache_has(c, PC_OFFSET) &&
	       cache_has(c, PC_SCOPE) && cache_has(c, SIZE_OF_PC) && c->l->offset[SIZE_OF_PC] >= 8;
}

struct scope_reader *scope_reader_new(const struct cache *c, const struct hotspot_question *q)
{
	struct scope_reader *r = xcalloc(1, sizeof(*r));

	r->c = c;
	r->known = q->known;
	r->possible = is_possible(c);
	return r;
}

void scope_reader_free(struct scope_reader *r)
{
	map_free(&r->told);
	free(r);
}

/* --- where everything is --- */

static bool distance(const struct cache *c, uint64_t of, enum hotspot_member m, uint64_t *ret)
{
	return cache_number(c, of, m, 4, ret);
}

/* Up to Java 22 all of it is in the block. */
static bool find_old(struct scope_reader *r, uint64_t at)
{
	uint64_t metadata, places, end;
	bool all = distance(r->c, at, OLD_METADATA, &metadata);

	all &= distance(r->c, at, SCOPES_PCS, &places);
	all &= distance(r->c, at, OLD_DEPENDENCIES, &end);
	all &= cache_word(r->c, at, OLD_SCOPES_DATA, &r->data.at);
	r->data.end = at + places;
	r->metadata = (struct extent){ at + metadata, r->data.at };
	r->places_at = (struct extent){ at + places, at + end };
	return all;
}

static bool find_new(struct scope_reader *r, uint64_t at)
{
	uint64_t fixed, size, places, data, other, other_size, relocations;
	bool all = cache_word(r->c, at, FIXED_DATA, &fixed);

	all &= distance(r->c, at, FIXED_SIZE, &size);
	all &= distance(r->c, at, SCOPES_PCS, &places);
	all &= distance(r->c, at, SCOPES_DATA, &data);
	all &= cache_word(r->c, at, OTHER_DATA, &other);
	all &= distance(r->c, at, OTHER_SIZE, &other_size);
	all &= distance(r->c, at, RELOCATION_SIZE, &relocations);
	r->places_at = (struct extent){ fixed + places, fixed + data };
	r->data = (struct extent){ fixed + data, fixed + size };
	r->metadata = (struct extent){ other + relocations, other + other_size };
	return all;
}

static bool is_sound(const struct extent *e, uint64_t most)
{
	return e->at && e->at <= e->end && e->end - e->at <= most;
}

static void expect(const struct cache *c, const struct extent *e)
{
	snapshot_expect(c->s, e->at, e->end - e->at);
}

static bool find(struct scope_reader *r, const struct blob *b)
{
	if (!hotspot_compiled_method(r->c, b, &r->method) ||
	    !(is_old(r->c) ? find_old(r, b->at) : find_new(r, b->at)) || !is_sound(&r->data, SCOPES_BYTES) ||
	    !is_sound(&r->metadata, METADATA_MAX * 8) ||
	    !is_sound(&r->places_at, (uint64_t)PLACES_MAX * r->c->l->offset[SIZE_OF_PC]))
		return false;
	expect(r->c, &r->places_at);
	expect(r->c, &r->data);
	expect(r->c, &r->metadata);
	return true;
}

/* --- methods --- */

/* The method with an index among the metadata, which counts from 1. False: it is none. */
static bool take_method(struct scope_reader *r, uint32_t index, uint32_t *ret)
{
	uint64_t address, most = (r->metadata.end - r->metadata.at) / 8;
	struct method_head head;

	if (!index || index > most)
		return false;
	if (!r->method_of[index - 1]) {
		if (r->nmethods == METHODS_MAX ||
		    !snapshot_word(r->c->s, r->metadata.at + (index - 1) * 8ULL, &address) ||
		    !hotspot_method_head(r->c, address, &head))
			return false;
		r->addresses[r->nmethods] = address;
		r->methods[r->nmethods] = head;
		r->method_of[index - 1] = ++r->nmethods;
	}
	*ret = r->method_of[index - 1] - 1;
	return true;
}

/* --- scopes --- */

struct described {
	uint32_t outer, method, bytecode;
};

static bool describe(const struct scope_reader *r, uint32_t decode, struct described *ret)
{
	uint64_t left = r->data.end - r->data.at, n;
	unsigned bias = r->c->l->major >= JAVA_BIASED;
	uint8_t bytes[SCOPE_BYTES];
	struct cursor c = { 0 };

	if (decode >= left)
		return false;
	n = left - decode < SCOPE_BYTES ? left - decode : SCOPE_BYTES;
	if (!snapshot_read(r->c->s, r->data.at + decode, bytes, n))
		return false;
	c = (struct cursor){ .p = bytes, .end = bytes + n };
	ret->outer = java_number(&c, bias);
	ret->method = java_number(&c, bias);
	ret->bytecode = java_number(&c, bias);
	return !c.bad;
}

/* The slot of a scope, or a free one. */
static uint32_t *slot_of(struct scope_reader *r, uint32_t decode)
{
	size_t at = hash64(decode) % SLOTS;

	while (r->slots[at] && r->scopes[r->slots[at] - 1].decode != decode)
		at = (at + 1) % SLOTS;
	return &r->slots[at];
}

/*
 * Bytecodes count from 1; 0 is the entry of the method, which belongs to its first line. The outermost
 * method is the one that was compiled.
 */
static bool make_scope(struct scope_reader *r, uint32_t decode, const struct described *d, uint32_t outer)
{
	struct scope s = { .decode = decode, .outer = outer,
			   .bytecode = d->bytecode ? d->bytecode - 1 : 0,
			   .depth = outer ? r->scopes[outer - 1].depth + 1 : 0 };

	if (r->nscopes == SCOPES_MAX || !take_method(r, d->method, &s.method) ||
	    s.bytecode >= r->methods[s.method].code_size || (!outer && r->addresses[s.method] != r->method))
		return false;
	r->scopes[r->nscopes++] = s;
	*slot_of(r, decode) = r->nscopes;
	return true;
}

/* The index + 1 of the scope that is described there; 0: it is not sound. Outer ones are described before. */
static uint32_t take_scope(struct scope_reader *r, uint32_t decode)
{
	uint32_t chain[DEPTH_MAX], n = 0, outer = 0;
	struct described of[DEPTH_MAX];

	for (; decode != NOTHING && !(outer = *slot_of(r, decode)); n++) {
		if (n == DEPTH_MAX || !describe(r, decode, &of[n]) || of[n].outer >= decode)
			return 0;
		chain[n] = decode;
		decode = of[n].outer;
	}
	if (n && outer && r->scopes[outer - 1].depth + n >= DEPTH_MAX)
		return 0;
	for (; n; n--) {
		if (!make_scope(r, chain[n - 1], &of[n - 1], outer))
			return 0;
		outer = r->nscopes;
	}
	return outer;
}

/* --- places --- */

static bool read_place(const struct scope_reader *r, size_t i, int32_t *offset, uint32_t *decode)
{
	uint64_t at = r->places_at.at + i * r->c->l->offset[SIZE_OF_PC], place, scope;

	if (!cache_number(r->c, at, PC_OFFSET, 4, &place) || !cache_number(r->c, at, PC_SCOPE, 4, &scope))
		return false;
	*offset = (int32_t)place;
	*decode = scope;
	return true;
}

static void add_place(struct scope_reader *r, uint32_t offset, uint32_t scope)
{
	if (!r->nplaces || r->places[r->nplaces - 1].scope != scope)
		r->places[r->nplaces++] = (struct place){ offset, scope };
}

/* Goes on after something missing, so that all of it is noted. */
static bool take_places(struct scope_reader *r, uint64_t size)
{
	size_t n = (r->places_at.end - r->places_at.at) / r->c->l->offset[SIZE_OF_PC];
	int32_t offset, before;
	uint32_t decode, scope;
	bool all = n >= 2;

	if (!all || !read_place(r, 0, &before, &decode) || before != FIRST_PLACE)
		return false;
	for (size_t i = 1; i < n; i++, before = offset) {
		if (!read_place(r, i, &offset, &decode) || offset <= before)
			return false;
		scope = take_scope(r, decode);
		all &= scope || decode == NOTHING;
		add_place(r, before + 1, scope);
	}
	return all && decode == NOTHING && (uint64_t)before >= size;
}

/* --- the answer --- */

static bool is_told(const struct scope_reader *r, uint64_t id)
{
	const uint64_t *slot = hotspot_slot(r->known, id);

	return (slot && *slot) || map_get(&r->told, id);
}

/* Tell about the methods that are not known. False: one of them cannot be read, or there is no room. */
static bool tell_methods(struct scope_reader *r, struct jit_batch *to)
{
	bool all = true;

	for (size_t i = 0; i < r->nmethods; i++) {
		uint64_t id = r->methods[i].id;
		size_t n = is_told(r, id) ? 0 : hotspot_method_describe(r->c, r->addresses[i], r->description);

		if (n && jit_batch_note(to, JIT_METHOD, id, r->description, n))
			map_put(&r->told, id, NULL);
		all &= is_told(r, id);
	}
	return all;
}

static size_t encode(struct scope_reader *r)
{
	uint8_t *p = r->out;
	uint32_t before = 0;

	p += leb_put(p, r->nmethods);
	for (size_t i = 0; i < r->nmethods; i++)
		p = mempcpy(p, &r->methods[i].id, 8);
	p += leb_put(p, r->nscopes);
	for (size_t i = 0; i < r->nscopes; i++) {
		p += leb_put(p, r->scopes[i].outer);
		p += leb_put(p, r->scopes[i].method);
		p += leb_put(p, r->scopes[i].bytecode);
	}
	p += leb_put(p, r->nplaces);
	for (size_t i = 0; i < r->nplaces; i++) {
		p += leb_put(p, r->places[i].offset - before);
		p += leb_put(p, r->places[i].scope);
		before = r->places[i].offset;
	}
	return p - r->out;
}

static void begin(struct scope_reader *r)
{
	r->nscopes = r->nmethods = r->nplaces = 0;
	memset(r->slots, 0, sizeof(r->slots));
	memset(r->method_of, 0, sizeof(r->method_of));
}

void scope_reader_add(struct scope_reader *r, const struct blob *b, struct jit_batch *to)
{
	bool fresh;

	map_put(&r->told, b->begin, &fresh);
	if (!fresh)
		return;
	if (!r->possible || strcmp(b->name, "nmethod")) {
		jit_batch_note(to, JIT_SCOPES, b->begin, "", 0);
		return;
	}
	begin(r);
	if (find(r, b) && take_places(r, b->end - b->begin) && tell_methods(r, to))
		jit_batch_note(to, JIT_SCOPES, b->begin, r->out, encode(r));
}
