/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks out of code that sljit has generated: at each instruction of a function, and where the
 * memory only looks like sljit's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "user/unwind/walk.h"

enum {
	CODE = 0x50000000,   /* the mapping of generated code */
	BLOCK = 0x40,        /* in it: the block of the function, */
	BLOCK_BYTES = 0x60,
	ENTRY = BLOCK + 16,  /* and the function */
	CODE_BYTES = 0x200,
	STACK = 0x60000000,
	STACK_BYTES = 0x400,
	BP = STACK + 0x300,  /* the frame of the function's caller */
	CALLER = 0x70000000, /* keeps frame pointers */
	OUTER = 0x70001000,  /* has no table yet: the walk ends there */
	LOCALS = 12,         /* words */
	SAVED = 5,
	PART = 40,           /* code that the function calls */
	AFTER_CALL = 24,
	FRAMES = 8,
};

static const unsigned char function[] = {
	0x53, 0x41, 0x57, 0x41, 0x56, 0x41, 0x55, 0x55, /* pushes */
	0x48, 0x89, 0xfb,                               /* 8: mov %rdi,%rbx */
	0x48, 0x83, 0xec, LOCALS * 8,                   /* 11: sub */
	0x48, 0x8b, 0x43, 0x10,                         /* 15: the body */
	0xe8, 0x10, 0x00, 0x00, 0x00,                   /* 19: call the part at 40 */
	0x48, 0x83, 0xc4, LOCALS * 8,                   /* 24: add */
	0x5d, 0x41, 0x5d, 0x41, 0x5e, 0x41, 0x5f, 0x5b, 0xc3, /* 28 */
	0x90, 0x90, 0x90,
	0x8f, 0x04, 0x24,                               /* PART: pop (%rsp) */
	0x48, 0x8b, 0x04, 0x24,                         /* 43: mov (%rsp),%rax */
	0x50, 0xc3,                                     /* 47: push %rax; ret */
};

/* The words between sp and the function's return address at each instruction. */
struct place {
	unsigned off, words;
};

static const struct place places[] = {
	{ 0, 0 },  { 1, 1 },  { 3, 2 },  { 5, 3 },   { 7, 4 },	{ 8, 5 },   { 11, 5 }, { 15, 17 },
	{ 19, 17 }, { 24, 17 }, { 28, 5 }, { 29, 4 }, { 31, 3 }, { 33, 2 }, { 35, 1 }, { 36, 0 },
	{ PART, 18 }, { 43, 17 }, { 47, 17 }, { 48, 18 },
};

static struct {
	unsigned char code[CODE_BYTES], stack[STACK_BYTES];
	bool known;     /* the mapping */
	unsigned moved; /* bytes by which the body lies further on */
} world;

static void put(void *at, uint64_t word)
{
	memcpy(at, &word, sizeof(word));
}

/* A free block, then the function's, up to the end of the chunk. */
static void make_code(void)
{
	memset(&world, 0, sizeof(world));
	memset(world.code, 0xcc, sizeof(world.code));
	put(world.code, 0);
	put(world.code + 32, BLOCK);
	put(world.code + BLOCK, BLOCK_BYTES);
	put(world.code + BLOCK + 8, BLOCK);
	memset(world.code + ENTRY, 0x90, BLOCK_BYTES - 16);
	memcpy(world.code + ENTRY, function, sizeof(function));
	put(world.code + BLOCK + BLOCK_BYTES, 1);
	world.known = true;
}

static void make_stack(const struct place *p)
{
	unsigned char *ra = world.stack + p->words * 8;

	memset(world.stack, 0x11, sizeof(world.stack));
	put(world.stack, CODE + ENTRY + AFTER_CALL + world.moved); /* right at PART only */
	put(ra, CALLER);
	if (p->words >= SAVED)
		put(ra - SAVED * 8, BP);
	put(world.stack + (BP - STACK), 0);
	put(world.stack + (BP - STACK) + 8, OUTER);
}

static bool read_bytes(void *ctx, uint64_t at, uint64_t *value)
{
	*value = 0xe8000000; /* call */
	if (at - CODE < CODE_BYTES - 8)
		memcpy(value, world.code + (at - CODE), 8);
	else if (at - STACK < STACK_BYTES - 8)
		memcpy(value, world.stack + (at - STACK), 8);
	else if (at == CALLER - 8 || at == OUTER - 8)
		return true;
	else
		return false;
	return true;
}

static enum er_end find(void *ctx, uint64_t pc, uint64_t ip, struct unwind_place *ret)
{
	if (pc == OUTER - 1)
		return ER_END_NO_TABLE;
	return pc == CALLER - 1 || pc - CODE < CODE_BYTES ? ER_END_NOT : ER_END_NO_MAPPING;
}

static bool generated(void *ctx, uint64_t pc)
{
	return pc - CODE < CODE_BYTES;
}

static bool mapping(void *ctx, uint64_t pc, uint64_t range[2])
{
	range[0] = CODE;
	range[1] = CODE + CODE_BYTES;
	return world.known;
}

static const struct unwind_source source = { .read = read_bytes, .find = find,
					     .generated = generated, .mapping = mapping };

static struct unwind_walked walk(const struct place *p, uint64_t *pcs)
{
	const struct unwind_leaf leaf = { .ip = CODE + ENTRY + p->off, .sp = STACK,
					  .bp = p->words < SAVED ? BP : 0x33 };

	make_stack(p);
	return unwind_walk(&source, &leaf, pcs, FRAMES);
}

static void check_all(void)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct place p = places[i];
		uint64_t pcs[FRAMES];
		struct unwind_walked w;
		size_t n = 0;

		p.off += p.off > 11 ? world.moved : 0;
		w = walk(&p, pcs);
		assert_int_equal(w.end, ER_END_NO_TABLE);
		assert_int_equal(pcs[n++], CODE + ENTRY + p.off);
		if (places[i].off == PART)
			assert_int_equal(pcs[n++], CODE + ENTRY + AFTER_CALL + world.moved);
		assert_int_equal(pcs[n++], CALLER);
		assert_int_equal(pcs[n++], OUTER);
		assert_int_equal(w.n, n);
	}
}

static void each_instruction(void **state)
{
	make_code();
	check_all();
	memcpy(world.code + ENTRY + 8, "\x48\x8b\xdf", 3);
	check_all();
}

static void large_frame(void **state)
{
	static const unsigned char sub[] = { 0x48, 0x81, 0xec, LOCALS * 8, 0, 0, 0 };

	make_code();
	memmove(world.code + ENTRY + 18, world.code + ENTRY + 15, sizeof(function) - 15);
	memcpy(world.code + ENTRY + 11, sub, sizeof(sub));
	world.moved = sizeof(sub) - 4;
	check_all();
}

/* Another chunk, which ends at the first block's place, may come before. */
static void chunks(void **state)
{
	make_code();
	put(world.code + 32, BLOCK - 16);
	put(world.code + BLOCK - 16, 1);
	check_all();
}

static void assert_unknown(const struct place *p)
{
	uint64_t pcs[FRAMES];
	struct unwind_walked w = walk(p, pcs);

	assert_int_equal(w.end, ER_END_NO_CFI);
	assert_int_equal(w.n, 1);
}

/* What differs in one byte is not sljit's. */
static void other_code(void **state)
{
	const struct place body = { 15, 17 };

	for (size_t i = 0; i < 14; i++) {
		make_code();
		world.code[ENTRY + i] ^= 0x40;
		assert_unknown(&body);
	}
	make_code();
	world.known = false;
	assert_unknown(&body);
	make_code();
	put(world.code + BLOCK, 0); /* a free block */
	put(world.code + BLOCK + 32, BLOCK_BYTES);
	assert_unknown(&body);
	for (uint64_t size = 8; size < 32; size += 8) { /* the function is in no block */
		make_code();
		put(world.code + BLOCK, size);
		assert_unknown(&body);
	}
	make_code();
	put(world.code + BLOCK, CODE_BYTES); /* longer than the mapping */
	assert_unknown(&body);
	make_code();
	put(world.code + BLOCK, BLOCK_BYTES + 1);
	assert_unknown(&body);
}

static void return_address_after_no_call(void **state)
{
	struct unwind_leaf leaf = { CODE + ENTRY + 15, STACK, 0x33 };
	uint64_t pcs[FRAMES];
	struct unwind_walked w;

	make_code();
	make_stack(&(struct place){ 15, 17 });
	put(world.stack + 17 * 8, CODE + ENTRY + 16);
	w = unwind_walk(&source, &leaf, pcs, FRAMES);
	assert_int_equal(w.end, ER_END_NO_CFI);
	put(world.stack + 17 * 8, 0);
	w = unwind_walk(&source, &leaf, pcs, FRAMES);
	assert_int_equal(w.end, ER_END_RA_ZERO);
	leaf.sp = STACK + STACK_BYTES;
	w = unwind_walk(&source, &leaf, pcs, FRAMES);
	assert_int_equal(w.end, ER_END_FAULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_instruction),
		cmocka_unit_test(large_frame),
		cmocka_unit_test(chunks),
		cmocka_unit_test(other_code),
		cmocka_unit_test(return_address_after_no_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
