/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A method of a Java VM: its Method leads to a ConstMethod, and that to its class's ConstantPool. */
#include <string.h>

#include <linux/types.h>

#include "analysis/base/map.h"
#include "bpf/hotspot.h"
#include "user/jit/batch.h"
#include "user/jit/hotspot_impl.h"
#include "user/jit/javalines.h"
#include "user/jit/javaname.h"
#include "user/jit/leb.h"

enum {
	SYMBOL_MAX = 512,   /* bytes; longer ones are cut */
	TABLE_MAX = 8192,   /* of compressed lines */
	LINES_MAX = 4096,
	PRINT_FIRST = 8, PRINT_BYTES = 40, /* of a ConstMethod: what does not change */
};

struct text {
	char bytes[SYMBOL_MAX];
	struct java_symbol symbol;
};

static bool take_symbol(const struct cache *c, uint64_t at, struct text *t)
{
	uint64_t n;

	if (!cache_number(c, at, SYMBOL_LENGTH, 2, &n))
		return false;
	n = n < SYMBOL_MAX ? n : SYMBOL_MAX;
	t->symbol = (struct java_symbol){ t->bytes, n };
	return n && snapshot_read(c->s, at + c->l->offset[SYMBOL_BODY], t->bytes, n);
}

static bool take_pooled(const struct cache *c, uint64_t pool, uint64_t index, struct text *t)
{
	uint64_t at;

	return snapshot_word(c->s, pool + c->l->offset[SIZE_OF_POOL] + index * sizeof(at), &at) &&
	       take_symbol(c, at, t);
}

/* The symbol whose index in the pool is in a member of the ConstMethod. */
static bool take_named(const struct cache *c, uint64_t constant, uint64_t pool, enum hotspot_member m,
		       struct text *t)
{
	uint64_t index;

	return cache_number(c, constant, m, 2, &index) && take_pooled(c, pool, index, t);
}

static bool take_holder(const struct cache *c, uint64_t pool, struct text *t)
{
	uint64_t klass, name;

	return cache_word(c, pool, POOL_HOLDER, &klass) && cache_word(c, klass, KLASS_NAME, &name) &&
	       take_symbol(c, name, t);
}

/* The name of the source file is empty if the class does not have it. */
static bool take_source(const struct cache *c, uint64_t pool, struct text *t)
{
	uint64_t index;

	t->symbol = (struct java_symbol){ t->bytes, 0 };
	if (!cache_number(c, pool, POOL_SOURCE, 2, &index))
		return false;
	return !index || take_pooled(c, pool, index, t);
}

bool hotspot_compiled_method(const struct cache *c, const struct blob *b, uint64_t *ret)
{
	return cache_word(c, b->at, cache_has(c, OLD_METHOD) ? OLD_METHOD : NMETHOD_METHOD, ret);
}

/* The method's pool, and its name in JIT_NAME_MAX bytes. Returns its length; 0: unknown. */
static size_t name_of(const struct cache *c, uint64_t constant, uint64_t *pool, struct text *class, char *name)
{
	struct text method, signature;
	bool all;

	if (!cache_word(c, constant, CONST_POOL, pool))
		return 0;
	all = take_holder(c, *pool, class);
	all &= take_named(c, constant, *pool, CONST_NAME, &method);
	all &= take_named(c, constant, *pool, CONST_SIGNATURE, &signature);
	return all ? javaname_method(class->symbol, method.symbol, signature.symbol, name, JIT_NAME_MAX) : 0;
}

size_t hotspot_method_name(const struct cache *c, uint64_t method, char *name)
{
	uint64_t constant, pool;
	struct text class;

	return cache_word(c, method, METHOD_CONST, &constant) ? name_of(c, constant, &pool, &class, name) : 0;
}

bool hotspot_method_head(const struct cache *c, uint64_t method, struct method_head *ret)
{
	uint64_t constant, words[PRINT_BYTES / 8], code_size;

	if (!cache_word(c, method, METHOD_CONST, &constant) ||
	    !snapshot_read(c->s, constant + PRINT_FIRST, words, sizeof(words)) ||
	    !cache_number(c, constant, CONST_CODE, 2, &code_size))
		return false;
	*ret = (struct method_head){ .constant = constant, .code_size = code_size };
	ret->id = hash64(method ^ hash64(constant)) ^ hash_bytes(words, sizeof(words));
	return true;
}

/* --- lines --- */

/* Compressed lines are behind the bytecodes. False: they cannot be read. */
static bool take_lines(const struct cache *c, const struct method_head *m, struct java_line *lines, size_t *n)
{
	enum hotspot_member member = cache_has(c, CONST_FLAGS) ? CONST_FLAGS : CONST_FLAGS_NEW;
	uint64_t before = c->l->offset[SIZE_OF_CONST] + (uint64_t)m->code_size, words, flags, left;
	uint8_t table[TABLE_MAX];

	*n = 0;
	if (!cache_number(c, m->constant, member, 2, &flags) ||
	    !cache_number(c, m->constant, CONST_WORDS, 4, &words))
		return false;
	if (!(flags & ER_HOTSPOT_HAS_LINES) || words * 8 <= before)
		return true;
	left = words * 8 - before < TABLE_MAX ? words * 8 - before : TABLE_MAX;
	if (!snapshot_read(c->s, m->constant + before, table, left))
		return false;
	*n = java_lines(table, left, c->l->major >= JAVA_BIASED, lines, LINES_MAX);
	return true;
}

static size_t put_text(uint8_t *to, const char *text)
{
	return stpcpy((char *)to, text) + 1 - (char *)to;
}

size_t hotspot_method_describe(const struct cache *c, uint64_t method, uint8_t *to)
{
	static struct java_line lines[LINES_MAX];
	struct java_line before = { 0 };
	char name[JIT_NAME_MAX], source[JIT_NAME_MAX];
	struct text class, file;
	struct method_head m;
	uint64_t pool;
	size_t n, len;

	if (!hotspot_method_head(c, method, &m) || !name_of(c, m.constant, &pool, &class, name) ||
	    !take_source(c, pool, &file) || !take_lines(c, &m, lines, &n))
		return 0;
	javaname_source(class.symbol, file.symbol, source, sizeof(source));
	len = put_text(to, name);
	len += put_text(to + len, source);
	len += leb_put(to + len, n);
	for (size_t i = 0; i < n; i++) {
		len += leb_put(to + len, lines[i].offset - before.offset);
		len += leb_put_signed(to + len, (int64_t)lines[i].line - before.line);
		before = lines[i];
	}
	return len;
}
