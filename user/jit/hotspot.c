/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/jit/hotspot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

#include "analysis/base/map.h"
#include "bpf/hotspot.h"
#include "user/jit/batch.h"
#include "user/jit/hotspot_impl.h"
#include "user/jit/hotspot_layout.h"

enum {
	HOPS_MAX = 4096,         /* in the segment map, of one address */
	LOG2_MIN = 4, LOG2_MAX = 16,
	FREE_SEGMENT = 0xff,
};

/* --- the heaps --- */

static bool take_heap(const struct cache *c, uint64_t at, struct heap *h)
{
	uint64_t log2 = 0;
	uint64_t memory = at + c->l->offset[HEAP_MEMORY];
	bool all = cache_word(c, memory, SPACE_LOW, &h->low);

	all &= cache_word(c, memory, SPACE_HIGH, &h->high);
	all &= cache_word(c, at + c->l->offset[HEAP_SEGMAP], SPACE_LOW, &h->map);
	all &= cache_number(c, at, HEAP_LOG2, 4, &log2);
	h->log2 = log2;
	if (c->l->offset[SPACE_END] != HOTSPOT_ABSENT)
		all &= cache_word(c, memory, SPACE_END, &h->end);
	return all && h->low < h->high && log2 >= LOG2_MIN && log2 <= LOG2_MAX;
}

/* A heap that is not understood is left out. */
static void take_heaps(struct cache *c)
{
	uint64_t array, n, data, at;

	if (!snapshot_word(c->s, c->l->heaps, &array) || !cache_number(c, array, ARRAY_LENGTH, 4, &n) ||
	    !cache_word(c, array, ARRAY_DATA, &data))
		return;
	for (uint64_t i = 0; i < n && i < HEAPS_MAX; i++) {
		if (snapshot_word(c->s, data + i * sizeof(at), &at) &&
		    take_heap(c, at, &c->heaps[c->n]))
			c->n++;
	}
}

/* --- an address --- */

/* The block with the address; 0: none. */
static uint64_t find_block(const struct cache *c, const struct heap *h, uint64_t pc)
{
	uint64_t segment = (pc - h->low) >> h->log2, back;

	for (unsigned i = 0; i < HOPS_MAX; i++) {
		if (!snapshot_number(c->s, h->map + segment, 1, &back))
			return 0;
		if (!back)
			return h->low + (segment << h->log2);
		if (back == FREE_SEGMENT || back > segment)
			return 0;
		segment -= back;
	}
	return 0;
}

/* The length is as wide as the room before the next member. */
static bool take_length(const struct cache *c, uint64_t block, uint64_t *ret)
{
	const uint16_t *offset = c->l->offset;
	size_t width = offset[BLOCK_USED] - offset[BLOCK_LENGTH] == 4 ? 4 : 8;

	return cache_number(c, block, BLOCK_LENGTH, width, ret);
}

static bool take_code(const struct cache *c, struct blob *b)
{
	bool all;

	if (c->l->offset[CODE_BEGIN] != HOTSPOT_ABSENT) {
		all = cache_word(c, b->at, CODE_BEGIN, &b->begin);
		return cache_word(c, b->at, CODE_END, &b->end) && all;
	}
	all = cache_number(c, b->at, CODE_OFFSET, 4, &b->begin);
	all &= cache_number(c, b->at, DATA_OFFSET, 4, &b->end);
	b->begin += b->at;
	b->end += b->at;
	return all;
}

/* The blob whose code has the address. */
static bool find_blob(const struct cache *c, const struct heap *h, uint64_t pc, struct blob *ret)
{
	uint64_t block = find_block(c, h, pc), length, used, name;

	if (!block || !take_length(c, block, &length) || !cache_number(c, block, BLOCK_USED, 1, &used) || !used)
		return false;
	ret->at = block + c->l->offset[SIZE_OF_BLOCK];
	if (!take_code(c, ret) || !cache_word(c, ret->at, BLOB_NAME, &name) ||
	    !snapshot_text(c->s, name, ret->name, sizeof(ret->name)))
		return false;
	return length <= (h->high - block) >> h->log2 && ret->begin > ret->at && ret->begin <= pc &&
	       pc < ret->end && ret->end <= block + (length << h->log2);
}

/* --- names --- */

static bool is_method(const struct blob *b)
{
	return !strcmp(b->name, "nmethod") || !strcmp(b->name, "native nmethod");
}

static void add_blob(const struct cache *c, const struct blob *b, struct jit_batch *to)
{
	struct jit_entry e = { .start = b->begin };
	size_t n = strlen(b->name);
	uint64_t method;
	char name[JIT_NAME_MAX];

	if (b->end - b->begin > JIT_SIZE_MAX)
		return;
	e.size = b->end - b->begin;
	if (!strcmp(b->name, "Interpreter"))
		e.kind = JIT_INTERPRETER;
	if (is_method(b))
		n = hotspot_compiled_method(c, b, &method) ? hotspot_method_name(c, method, name) : 0;
	else
		memcpy(name, b->name, n);
	if (n)
		jit_batch_add(to, &e, name, n);
}

/* Each blob is named once. */
static void add_at(const struct cache *c, uint64_t pc, struct map *named, struct scope_reader *scopes,
		   struct jit_batch *to)
{
	struct blob b;
	bool fresh;

	for (size_t i = 0; i < c->n; i++) {
		const struct heap *h = &c->heaps[i];

		if (pc >= h->low && pc < h->high && find_blob(c, h, pc, &b)) {
			map_put(named, b.begin, &fresh);
			if (fresh)
				add_blob(c, &b, to);
			if (scopes)
				scope_reader_add(scopes, &b, to);
			return;
		}
	}
}

/* --- frames --- */

/* What the interpreter's methods need; all 0: this version does not have it. */
static struct er_hotspot_method method_of(const struct cache *c)
{
	const uint16_t *offset = c->l->offset;
	enum hotspot_member flags = cache_has(c, CONST_FLAGS) ? CONST_FLAGS : CONST_FLAGS_NEW;

	if (!cache_has(c, CONST_WORDS) || !cache_has(c, flags) || !cache_has(c, CONST_CODE) ||
	    !cache_has(c, POOL_SOURCE) ||
	    !cache_has(c, SIZE_OF_CONST) || !c->l->major)
		return (struct er_hotspot_method){ 0 };
	return (struct er_hotspot_method){
		.constant = offset[METHOD_CONST], .const_bytes = offset[SIZE_OF_CONST],
		.pool = offset[CONST_POOL], .const_words = offset[CONST_WORDS],
		.flags = offset[flags], .code_size = offset[CONST_CODE],
		.name = offset[CONST_NAME], .signature = offset[CONST_SIGNATURE],
		.pool_bytes = offset[SIZE_OF_POOL], .holder = offset[POOL_HOLDER],
		.source = offset[POOL_SOURCE], .klass_name = offset[KLASS_NAME],
		.length = offset[SYMBOL_LENGTH], .body = offset[SYMBOL_BODY],
		.bias = c->l->major >= JAVA_BIASED };
}

/* From Java 23 on blobs have distances in place of addresses, and shorter numbers. */
static void add_vm(const struct cache *c, struct jit_batch *to)
{
	const uint16_t *offset = c->l->offset;
	bool addresses = cache_has(c, CODE_BEGIN);
	struct er_hotspot vm = {
		.blob = offset[SIZE_OF_BLOCK], .name = offset[BLOB_NAME],
		.begin = addresses ? offset[CODE_BEGIN] : 0, .end = addresses ? offset[CODE_END] : 0,
		.begin_off = addresses ? 0 : offset[CODE_OFFSET],
		.end_off = addresses ? 0 : offset[DATA_OFFSET],
		.frame_size = offset[FRAME_SIZE], .frame_complete = offset[FRAME_COMPLETE],
		.complete_bytes = addresses ? 4 : 2,
		.method = method_of(c),
	};

	if (!c->n || c->n > ER_HOTSPOT_HEAPS || !cache_has(c, FRAME_SIZE) || !cache_has(c, FRAME_COMPLETE))
		return;
	for (size_t i = 0; i < c->n; i++) {
		const struct heap *h = &c->heaps[i];

		if (h->end < h->high)
			return;
		vm.heaps[i] = (struct er_hotspot_heap){ .low = h->low, .high = h->end, .map = h->map,
							.log2 = h->log2 };
	}
	jit_batch_note(to, JIT_VM, 0, (const char *)&vm, sizeof(vm));
}

bool hotspot_vm_take(const char *name, size_t n, struct er_hotspot *ret)
{
	if (n != sizeof(*ret))
		return false;
	memcpy(ret, name, n);
	return true;
}

/* --- a question --- */

bool hotspot_layout_take(const char *name, size_t n, struct hotspot_layout *ret)
{
	if (n != sizeof(*ret))
		return false;
	memcpy(ret, name, n);
	return true;
}

static int answer(struct snapshot *s, const struct hotspot_question *q, struct jit_batch *to)
{
	struct hotspot_layout found = q->layout;
	struct cache c = { .s = s, .l = &found };
	struct scope_reader *scopes;
	struct map named = { 0 };

	if (!found.known) {
		if (!hotspot_layout_find(s, q->library, &found))
			return s->lacking ? 0 : -ENOTSUP;
		jit_batch_note(to, JIT_LAYOUT, 0, (const char *)&found, sizeof(found));
	}
	take_heaps(&c);
	if (!s->lacking)
		add_vm(&c, to);
	scopes = scope_reader_new(&c, q);
	for (uint32_t i = 0; i < q->npcs; i++)
		add_at(&c, q->pcs[i], &named, q->scopes[i] ? scopes : NULL, to);
	scope_reader_free(scopes);
	map_free(&named);
	return 0;
}

int hotspot_parse(const void *file, size_t n, struct jit_batch *to)
{
	const struct hotspot_question *q = file;
	size_t units = n > sizeof(*q) ? n - sizeof(*q) : 0;
	struct snapshot *s;
	int err;

	if (n < sizeof(*q) || q->npcs > HOTSPOT_PCS || units % sizeof(struct memory_unit))
		return -EBADMSG;
	s = snapshot_new((const struct memory_unit *)(q + 1), units / sizeof(struct memory_unit));
	if (!s)
		return -EBADMSG;
	err = answer(s, q, to);
	for (size_t i = 0; !err && i < s->nwanted; i++)
		jit_batch_note(to, JIT_WANTED, s->wanted[i], "", 0);
	free(s);
	return err;
}
