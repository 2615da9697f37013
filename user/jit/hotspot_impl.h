/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that read a Java VM's memory: hotspot.c, hotspot_method.c, hotspot_scopes.c. */
#ifndef USER_JIT_HOTSPOT_IMPL_H
#define USER_JIT_HOTSPOT_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/jit/hotspot.h"
#include "user/jit/snapshot.h"

struct jit_batch;

enum {
	HEAPS_MAX = 8,           /* HotSpot has up to three */
	BLOB_NAME_MAX = 128,
	JAVA_BIASED = 20,        /* since then compressed numbers have no byte 0 */
	METHOD_BYTES = 48 << 10, /* of hotspot_method_describe, at most */
};

/* A part of the code cache. Its segment map says for each segment how far back its block begins. */
struct heap {
	uint64_t low, high, map;
	uint64_t end; /* as far as it may grow; 0: unknown */
	unsigned log2;
};

struct cache {
	struct snapshot *s;
	const struct hotspot_layout *l;
	struct heap heaps[HEAPS_MAX];
	size_t n;
};

/* What a block contains. */
struct blob {
	uint64_t at, begin, end; /* code is from begin to end */
	char name[BLOB_NAME_MAX];
};

static inline bool cache_has(const struct cache *c, enum hotspot_member m)
{
	return c->l->offset[m] != HOTSPOT_ABSENT;
}

static inline bool cache_word(const struct cache *c, uint64_t of, enum hotspot_member m, uint64_t *ret)
{
	return snapshot_word(c->s, of + c->l->offset[m], ret);
}

static inline bool cache_number(const struct cache *c, uint64_t of, enum hotspot_member m, size_t width,
				uint64_t *ret)
{
	return snapshot_number(c->s, of + c->l->offset[m], width, ret);
}

/* --- hotspot_method.c --- */

struct method_head {
	uint64_t constant;  /* its ConstMethod */
	uint64_t id;        /* a hash of its address and of its ConstMethod: a later method there has another */
	uint32_t code_size; /* bytes of bytecode; 0: it is native */
};

/* The address of the method that a compiled one was made from. */
bool hotspot_compiled_method(const struct cache *c, const struct blob *b, uint64_t *ret);
/* The length of the method's name, in JIT_NAME_MAX bytes; 0: it is not known. */
size_t hotspot_method_name(const struct cache *c, uint64_t method, char *name);
/* False: it cannot be read. */
bool hotspot_method_head(const struct cache *c, uint64_t method, struct method_head *ret);
/*
 * Name, source and lines as the file dynscopes has them (docs/format.md), in METHOD_BYTES. Returns the
 * length; 0: they cannot be read.
 */
size_t hotspot_method_describe(const struct cache *c, uint64_t method, uint8_t *to);

/* --- hotspot_scopes.c --- */

struct scope_reader;

struct scope_reader *scope_reader_new(const struct cache *c, const struct hotspot_question *q);
void scope_reader_free(struct scope_reader *r);
/*
 * Which methods the compiled method's code comes from: adds a JIT_SCOPES, and a JIT_METHOD for each
 * method that was not told before. Adds nothing if something is missing or contradicts itself.
 */
void scope_reader_add(struct scope_reader *r, const struct blob *b, struct jit_batch *to);

#endif
