/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks out of code of a Java VM: at each instruction of a method that makes or removes its frame,
 * through the interpreter and stubs, and where the VM's memory is not what it should be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/fixtures/unwind/hotspot_vm.h"
#include "user/unwind/walk.h"

enum {
	STACK = 0x60000000,
	STACK_BYTES = 0x800,
	BP = STACK + 0x700,  /* the frame of the outermost caller but one */
	CALLER = 0x70000000, /* keeps frame pointers */
	OUTER = 0x70001000,  /* has no table yet: the walk ends there */
	NOWHERE = 0x33,
	WORDS = 6,           /* of the method's frame, with the return address */
	LARGE = 40,
	FRAMES = 8,
	AFTER_CALL = 29,
};

#define CODE(block) (HVM_##block + HVM_HEADER)
#define BELOW (HVM_BASE - STACK_BYTES) /* a stack directly below the VM's memory */

static const unsigned char pushes[] = {
	0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff,       /* mov %eax,-0x14000(%rsp) */
	0x55, 0x48, 0x83, 0xec, 0x20,                   /* 7: push %rbp; sub */
	0x41, 0x81, 0x7f, 0x20, 0x01, 0x00, 0x00, 0x00, /* 12: cmpl $1,0x20(%r15) */
	0x48, 0x8b, 0x43, 0x10,                         /* 20: the body */
	0xe8, 0x10, 0x00, 0x00, 0x00,                   /* 24: call */
	0x48, 0x83, 0xc4, 0x20, 0x5d,                   /* 29: add; pop %rbp */
	0x49, 0x3b, 0xa7, 0x40, 0x03, 0x00, 0x00,       /* 34: cmp 0x340(%r15),%rsp */
	0x0f, 0x87, 0x01, 0x00, 0x00, 0x00, 0xc3,       /* 41: ja; ret */
};

static const unsigned char moves[] = {
	0x48, 0x81, 0xec, 0x28, 0x00, 0x00, 0x00,       /* sub */
	0x48, 0x89, 0x6c, 0x24, 0x20,                   /* 7: mov %rbp,0x20(%rsp) */
	0x48, 0x8b, 0x43, 0x10,                         /* 12: the body */
	0x48, 0x83, 0xc4, 0x20, 0x5d,                   /* 16: add; pop %rbp */
	0x49, 0x3b, 0x67, 0x40,                         /* 21: cmp 0x40(%r15),%rsp */
	0x0f, 0x87, 0x01, 0x00, 0x00, 0x00, 0xc3,       /* 25: ja; ret */
};

/* With a frame pointer. */
static const unsigned char keeps[] = {
	0x55, 0x48, 0x8b, 0xec,                         /* push %rbp; mov %rsp,%rbp */
	0x48, 0x83, 0xec, 0x20,                         /* 4: sub */
	0x48, 0x8b, 0x43, 0x10,                         /* 8: the body */
};

static const unsigned char large[] = {
	0x55, 0x48, 0x81, 0xec, 0x30, 0x01, 0x00, 0x00, /* push %rbp; sub */
	0x48, 0x8b, 0x43, 0x10,                         /* 8: the body */
	0x48, 0x81, 0xc4, 0x30, 0x01, 0x00, 0x00, 0x5d, /* 12: add; pop %rbp */
	0x49, 0x3b, 0xa7, 0x40, 0x03, 0x00, 0x00,       /* 20: cmp */
	0x0f, 0x87, 0x01, 0x00, 0x00, 0x00, 0xc3,       /* 27: ja; ret */
};

static const unsigned char compares[] = {
	0x55, 0x48, 0x83, 0xec, 0x20,                   /* push %rbp; sub */
	0x2b, 0xca, 0x51, 0x0f, 0x4e, 0xd0,             /* 5: sub %edx,%ecx; push %rcx; cmovle %eax,%edx */
	0x0f, 0xb6, 0x04, 0x17,                         /* 11: movzbl (%rdi,%rdx,1),%eax */
	0x58, 0x48, 0x8b, 0x43, 0x10,                   /* 15: pop %rax; the body */
};

static const unsigned char searches[] = {
	0x55, 0x48, 0x83, 0xec, 0x20,                   /* push %rbp; sub */
	0x48, 0x8b, 0xcc,                               /* 5: mov %rsp,%rcx */
	0x50, 0x56, 0x57, 0x51,                         /* 8: push %rax; push %rsi; push %rdi; push %rcx */
	0x48, 0x8b, 0xdf,                               /* 12: mov %rdi,%rbx */
	0x48, 0x8b, 0x24, 0x24,                         /* 15: mov (%rsp),%rsp */
};

/* The words between sp and the return address at an instruction, and whether rbp is the caller's. */
struct place {
	unsigned off, words;
	bool bp;
};

static uint8_t memory[HVM_BYTES];
static unsigned char stack[STACK_BYTES];
static uint64_t stack_at = STACK;
static struct hvm vm;
static struct hvm_answer a;
static enum hvm_version version;

static void put(uint64_t at, uint64_t word)
{
	memcpy(stack + (at - stack_at), &word, sizeof(word));
}

static bool read_bytes(void *ctx, uint64_t at, uint64_t *value)
{
	*value = 0xe8000000; /* call */
	if (at - HVM_BASE <= HVM_BYTES - 8)
		memcpy(value, hvm_at(&vm, at), 8);
	else if (at - stack_at <= STACK_BYTES - 8)
		memcpy(value, stack + (at - stack_at), 8);
	else
		return at == CALLER - 8 || at == OUTER - 8;
	return true;
}

static enum er_end find(void *ctx, uint64_t pc, uint64_t ip, struct unwind_place *ret)
{
	if (pc == OUTER - 1)
		return ER_END_NO_TABLE;
	return pc == CALLER - 1 || pc - HVM_BASE < HVM_BYTES ? ER_END_NOT : ER_END_NO_MAPPING;
}

static bool generated(void *ctx, uint64_t pc)
{
	return pc - HVM_BASE < HVM_BYTES;
}

static struct unwind_walked walk(uint64_t ip, uint64_t sp, uint64_t bp, uint64_t *pcs)
{
	const struct unwind_source source = { .read = read_bytes, .find = find, .generated = generated,
					      .hotspot = a.has_vm ? &a.vm : NULL };

	return unwind_walk(&source, &(struct unwind_leaf){ ip, sp, bp }, pcs, FRAMES);
}

/* A VM whose method has this code. The stack is the caller's. */
static void make(enum hvm_version v, const void *code, size_t n, unsigned words, unsigned complete)
{
	const uint64_t pc = CODE(METHOD);

	version = v;
	hvm_make(&vm, memory, v);
	memset(hvm_at(&vm, pc), 0x90, 256);
	memcpy(hvm_at(&vm, pc), code, n);
	hvm_frame(&vm, HVM_METHOD, v, words, complete);
	hvm_frame(&vm, HVM_INTERPRETER, v, 0, -1);
	memset(&a, 0, sizeof(a));
	assert_int_equal(hvm_ask(&vm, &pc, 1, &a), 0);
	assert_true(a.has_vm);
	memset(stack, 0x11, sizeof(stack));
	stack_at = STACK;
	put(BP, 0);
	put(BP + 8, OUTER);
}

static void is_walk(const struct unwind_walked *w, const uint64_t *pcs, enum er_end end, size_t n,
		    const uint64_t *want)
{
	assert_int_equal(w->end, end);
	assert_int_equal(w->n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(pcs[i], want[i]);
}

static void check_places(const struct place *places, size_t n, unsigned frame)
{
	for (size_t i = 0; i < n; i++) {
		const struct place *p = &places[i];
		uint64_t ra = STACK + p->words * 8, ip = CODE(METHOD) + p->off, pcs[FRAMES];
		const uint64_t want[] = { ip, CALLER, OUTER };
		struct unwind_walked w;

		memset(stack, 0x11, 0x600);
		put(ra, CALLER);
		if (p->words && !(p->bp && p->words == frame - 1))
			put(ra - 8, BP);
		w = walk(ip, STACK, p->bp ? BP : NOWHERE, pcs);
		is_walk(&w, pcs, ER_END_NO_TABLE, 3, want);
	}
}

#define CHECK(places, frame) check_places(places, sizeof(places) / sizeof(places[0]), frame)

static void each_instruction(void **state)
{
	static const struct place of_pushes[] = {
		{ 0, 0, true }, { 7, 0, true }, { 8, 1, false }, { 12, 5, false }, { 20, 5, false },
		{ 24, 5, false }, { 29, 5, false },
		{ 33, 1, false }, { 34, 0, true }, { 41, 0, true }, { 47, 0, true },
	};
	static const struct place of_moves[] = {
		{ 0, 0, true }, { 7, 5, true }, { 12, 5, false }, { 16, 5, false }, { 20, 1, false },
		{ 21, 0, true },
		{ 25, 0, true }, { 31, 0, true },
	};
	static const struct place of_large[] = {
		{ 0, 0, true }, { 1, 1, false }, { 8, 39, false }, { 12, 39, false }, { 19, 1, false }, { 20, 0, true },
		{ 27, 0, true }, { 33, 0, true },
	};

	static const struct place of_keeps[] = {
		{ 0, 0, true }, { 1, 1, false }, { 4, 1, false }, { 8, 5, false },
	};

	for (enum hvm_version v = HVM_17; v <= HVM_25; v++) {
		make(v, keeps, sizeof(keeps), WORDS, 8);
		CHECK(of_keeps, WORDS);
		make(v, pushes, sizeof(pushes), WORDS, 20);
		CHECK(of_pushes, WORDS);
		make(v, moves, sizeof(moves), WORDS, 12);
		CHECK(of_moves, WORDS);
		make(v, large, sizeof(large), LARGE, 8);
		CHECK(of_large, LARGE);
	}
}

/* While strings are compared the return address is a word higher. */
static void comparison(void **state)
{
	static const struct place of_compares[] = {
		{ 5, 5, false }, { 7, 5, false }, { 8, 6, false }, { 11, 6, false }, { 15, 6, false }, { 16, 5, false },
	};
	const uint64_t ip = CODE(METHOD) + 11, want[] = { ip };
	struct unwind_walked w;
	uint64_t pcs[FRAMES];

	for (enum hvm_version v = HVM_17; v <= HVM_25; v++) {
		make(v, compares, sizeof(compares), WORDS, 5);
		CHECK(of_compares, WORDS);
	}
	/* The saved rbp is where the return address usually is. What is before it on the stack may look like a call. */
	make(HVM_17, compares, sizeof(compares), WORDS, 5);
	put(STACK + WORDS * 8, CALLER);
	put(STACK + (WORDS - 1) * 8, BP);
	put(BP - 8, 0xe8000000);
	w = walk(ip, STACK, NOWHERE, pcs);
	is_walk(&w, pcs, ER_END_NO_TABLE, 3, (const uint64_t[]){ ip, CALLER, OUTER });
	assert_false(w.guessed);
	make(HVM_17, compares, sizeof(compares), WORDS, 5);
	put(STACK + WORDS * 8, CALLER + 1); /* no call before it */
	w = walk(ip, STACK, NOWHERE, pcs);
	is_walk(&w, pcs, ER_END_NO_CFI, 1, want);
	make(HVM_17, pushes, sizeof(pushes), WORDS, 20); /* compares nothing */
	put(STACK + WORDS * 8, CALLER);
	w = walk(CODE(METHOD) + 20, STACK, NOWHERE, pcs);
	is_walk(&w, pcs, ER_END_NO_CFI, 1, (const uint64_t[]){ CODE(METHOD) + 20 });
}

/* A search keeps rsp on the stack, as it was before the search. It may have copied strings of 16 bytes. */
static void search(void **state)
{
	static const unsigned pushed[] = { 4, 6, 8 };
	const uint64_t ip = CODE(METHOD) + 12, want[] = { ip, CALLER, OUTER };
	struct unwind_walked w;
	uint64_t pcs[FRAMES];

	for (size_t i = 0; i < sizeof(pushed) / sizeof(pushed[0]); i++) {
		uint64_t before = STACK + pushed[i] * 8;

		make(HVM_17, searches, sizeof(searches), WORDS, 5);
		put(STACK, before);
		put(before + (WORDS - 1) * 8, CALLER);
		put(before + (WORDS - 2) * 8, BP);
		w = walk(ip, STACK, NOWHERE, pcs);
		is_walk(&w, pcs, ER_END_NO_TABLE, 3, want);
		put(STACK, before + 8);
		w = walk(ip, STACK, NOWHERE, pcs);
		is_walk(&w, pcs, ER_END_NO_CFI, 1, want);
	}
}

/* The leaf is the method. It returns to `ra', where rbp is BP and rsp is the address that is returned. */
static uint64_t leaf_returns(uint64_t ra, uint64_t bp)
{
	put(STACK + (WORDS - 1) * 8, ra);
	put(STACK + (WORDS - 2) * 8, bp);
	return STACK + WORDS * 8;
}

/* The method, the interpreter, the method again. The interpreter's frame hides arguments. */
static void interpreter(void **state)
{
	enum { FRAME = STACK + 0x100, SENDER = STACK + 0x200 };
	const uint64_t entry = CODE(INTERPRETER) + 5;
	const uint64_t want[] = { CODE(METHOD) + 20, entry, CODE(METHOD) + AFTER_CALL, CALLER, OUTER };
	struct unwind_walked w;
	uint64_t pcs[FRAMES];

	make(HVM_17, pushes, sizeof(pushes), WORDS, 20);
	leaf_returns(entry, FRAME);
	put(FRAME - 8, SENDER);
	put(FRAME, NOWHERE);
	put(FRAME + 8, CODE(METHOD) + AFTER_CALL);
	put(SENDER + (WORDS - 1) * 8, CALLER);
	put(SENDER + (WORDS - 2) * 8, BP);
	w = walk(CODE(METHOD) + 20, STACK, NOWHERE, pcs);
	is_walk(&w, pcs, ER_END_NO_TABLE, 5, want);
	put(FRAME - 8, FRAME); /* it cannot lie inside the frame */
	w = walk(CODE(METHOD) + 20, STACK, NOWHERE, pcs);
	is_walk(&w, pcs, ER_END_NO_CFI, 2, want);
	hvm_name(&vm, HVM_INTERPRETER, version, "something"); /* then a call must precede */
	w = walk(CODE(METHOD) + 20, STACK, NOWHERE, pcs);
	is_walk(&w, pcs, ER_END_NO_CFI, 1, want);
}

/* An interpreted method calls another one by a method handle, which has taken a word off the stack. */
static void method_handle(void **state)
{
	enum { FRAME = STACK + 0x100, OUTER_FRAME = STACK + 0x180, SENDER = STACK + 0x200 };
	const uint64_t entry = CODE(INTERPRETER) + 5, again = CODE(INTERPRETER) + 9;
	const uint64_t want[] = { CODE(METHOD) + 20, entry, again, CODE(METHOD) + AFTER_CALL, CALLER, OUTER };
	struct unwind_walked w;
	uint64_t pcs[FRAMES];

	make(HVM_17, pushes, sizeof(pushes), WORDS, 20);
	leaf_returns(entry, FRAME);
	put(FRAME - 8, FRAME + 8);
	put(FRAME, OUTER_FRAME);
	put(FRAME + 8, again);
	put(OUTER_FRAME - 8, SENDER);
	put(OUTER_FRAME, NOWHERE);
	put(OUTER_FRAME + 8, CODE(METHOD) + AFTER_CALL);
	put(SENDER + (WORDS - 1) * 8, CALLER);
	put(SENDER + (WORDS - 2) * 8, BP);
	w = walk(CODE(METHOD) + 20, STACK, NOWHERE, pcs);
	is_walk(&w, pcs, ER_END_NO_TABLE, 6, want);
}

/*
 * A thread's stack may lie directly below the code: a return address is then as near to the stack pointer as a
 * saved rbp. It is believed in the VM's code only.
 */
static void below_the_code(void **state)
{
	const uint64_t frame = BELOW + 0x100, sender = BELOW + 0x200, bp = BELOW + 0x700;
	const uint64_t ip = CODE(METHOD) + 20, entry = CODE(INTERPRETER) + 5, after = CODE(METHOD) + AFTER_CALL;
	uint64_t pcs[FRAMES];
	struct unwind_walked w;

	for (enum hvm_version v = HVM_17; v <= HVM_25; v++) {
		make(v, pushes, sizeof(pushes), WORDS, 20);
		stack_at = BELOW;
		put(bp, 0);
		put(bp + 8, OUTER);
		put(BELOW + (WORDS - 1) * 8, entry);
		put(BELOW + (WORDS - 2) * 8, frame);
		put(frame - 8, sender);
		put(frame, NOWHERE);
		put(frame + 8, after);
		put(sender + (WORDS - 1) * 8, CALLER);
		put(sender + (WORDS - 2) * 8, bp);
		w = walk(ip, BELOW, NOWHERE, pcs);
		is_walk(&w, pcs, ER_END_NO_TABLE, 5, (const uint64_t[]){ ip, entry, after, CALLER, OUTER });
		put(BELOW + (WORDS - 1) * 8, bp); /* what precedes it looks like a call */
		put(bp - 8, 0xe8000000);
		w = walk(ip, BELOW, NOWHERE, pcs);
		is_walk(&w, pcs, ER_END_NO_CFI, 1, &ip);
	}
}

/* At the leaf the interpreter's frame is decided by its code's bytes, but its caller's rsp is the same. */
static void interpreter_leaf(void **state)
{
	enum { FRAME = STACK + 0x100, SENDER = STACK + 0x200 };
	const uint64_t ip = CODE(INTERPRETER) + 80;
	const uint64_t want[] = { ip, CODE(METHOD) + AFTER_CALL, CALLER, OUTER };
	struct unwind_walked w;
	uint64_t pcs[FRAMES];

	make(HVM_17, pushes, sizeof(pushes), WORDS, 20);
	memset(hvm_at(&vm, CODE(INTERPRETER)), 0x90, 256);
	put(FRAME - 8, SENDER);
	put(FRAME, NOWHERE);
	put(FRAME + 8, CODE(METHOD) + AFTER_CALL);
	put(SENDER + (WORDS - 1) * 8, CALLER);
	put(SENDER + (WORDS - 2) * 8, BP);
	w = walk(ip, STACK, FRAME, pcs);
	is_walk(&w, pcs, ER_END_NO_TABLE, 4, want);
	put(FRAME - 8, 0);
	w = walk(ip, STACK, FRAME, pcs);
	is_walk(&w, pcs, ER_END_NO_CFI, 1, want);
}

/* A stub's frame has a size, too. What calls a native method has a frame pointer. */
static void stubs(void **state)
{
	const uint64_t ra = CODE(STUB) + 9, want[] = { CODE(METHOD) + 20, ra, CALLER, OUTER };
	uint64_t sp, pcs[FRAMES];
	struct unwind_walked w;

	make(HVM_17, pushes, sizeof(pushes), WORDS, 20);
	memcpy(hvm_at(&vm, ra - 5), "\xe8\x00\x00\x00\x00", 5);
	hvm_frame(&vm, HVM_STUB, HVM_17, 4, 9);
	sp = leaf_returns(ra, NOWHERE);
	put(sp + 24, CALLER);
	put(sp + 16, BP);
	w = walk(CODE(METHOD) + 20, STACK, NOWHERE, pcs);
	is_walk(&w, pcs, ER_END_NO_TABLE, 4, want);
	hvm_name(&vm, HVM_STUB, HVM_17, "native nmethod");
	leaf_returns(ra, sp + 64);
	put(sp + 72, CALLER);
	put(sp + 64, BP);
	w = walk(CODE(METHOD) + 20, STACK, NOWHERE, pcs);
	is_walk(&w, pcs, ER_END_NO_TABLE, 4, want);
}

static void jumps(void **state)
{
	const uint64_t ip = CODE(STUB) + 9, want[] = { ip, CALLER, OUTER };
	struct unwind_walked w;
	uint64_t pcs[FRAMES];

	make(HVM_17, pushes, sizeof(pushes), WORDS, 20);
	hvm_name(&vm, HVM_STUB, HVM_17, "vtable chunks");
	put(STACK, CALLER);
	w = walk(ip, STACK, BP, pcs);
	is_walk(&w, pcs, ER_END_NO_TABLE, 3, want);
	hvm_name(&vm, HVM_STUB, HVM_17, "I2C/C2I adapters");
	w = walk(ip, STACK, BP, pcs);
	is_walk(&w, pcs, ER_END_NO_CFI, 1, want);
}

/* The VM replaces the return address of a frame that it wants to give up. */
static void deoptimized(void **state)
{
	const uint64_t handler = CODE(METHOD) + 80;
	const uint64_t want[] = { CODE(METHOD) + 20, handler, CALLER, OUTER };
	uint64_t sp, pcs[FRAMES];
	struct unwind_walked w;

	make(HVM_17, pushes, sizeof(pushes), WORDS, 20);
	sp = leaf_returns(handler, NOWHERE);
	put(sp + (WORDS - 1) * 8, CALLER);
	put(sp + (WORDS - 2) * 8, BP);
	w = walk(CODE(METHOD) + 20, STACK, NOWHERE, pcs);
	is_walk(&w, pcs, ER_END_NO_CFI, 1, want);
	memcpy(hvm_at(&vm, handler), "\xe8\x00\x00\x00\x00", 5);
	w = walk(CODE(METHOD) + 20, STACK, NOWHERE, pcs);
	is_walk(&w, pcs, ER_END_NO_TABLE, 4, want);
	memcpy(hvm_at(&vm, handler), "\x49\xba\x00\x00\x00\x00", 5);
	w = walk(CODE(METHOD) + 20, STACK, NOWHERE, pcs);
	is_walk(&w, pcs, ER_END_NO_TABLE, 4, want);
}

/* --- where the frame cannot be known --- */

static void is_cut(uint64_t off, uint64_t bp)
{
	uint64_t pcs[FRAMES], ip = CODE(METHOD) + off;
	struct unwind_walked w = walk(ip, STACK, bp, pcs);

	is_walk(&w, pcs, ER_END_NO_CFI, 1, &ip);
}

static void unknown(void **state)
{
	make(HVM_17, pushes, sizeof(pushes), WORDS, 20);
	leaf_returns(OUTER + 1, BP); /* follows no call */
	is_cut(20, NOWHERE);
	put(STACK + 8, CALLER);
	is_cut(7 + 14 + 13, NOWHERE); /* `pop' is gone, but the word at rsp is no return address */
	make(HVM_17, pushes, sizeof(pushes), WORDS, 20);
	leaf_returns(CALLER, BP);
	hvm_frame(&vm, HVM_METHOD, HVM_17, WORDS, -1);
	is_cut(20, NOWHERE);
	hvm_frame(&vm, HVM_METHOD, HVM_17, 1, 20);
	is_cut(20, NOWHERE);
	hvm_frame(&vm, HVM_METHOD, HVM_17, ~0U, 20);
	is_cut(20, NOWHERE);
	make(HVM_17, pushes, sizeof(pushes), WORDS, 20);
	*hvm_at(&vm, CODE(METHOD) + 32) = 0x18; /* the epilogue frees another size */
	put(STACK + 8, CALLER);
	put(STACK, BP);
	is_cut(33, NOWHERE);
}

/* What the VM's memory says is not believed. */
static void hostile(void **state)
{
	make(HVM_17, pushes, sizeof(pushes), WORDS, 20);
	leaf_returns(CALLER, BP);
	memset(hvm_at(&vm, vm.segmap), 1, 512); /* the block begins before the heap */
	is_cut(20, NOWHERE);
	memset(hvm_at(&vm, vm.segmap), 0xff, 512);
	is_cut(20, NOWHERE);
	make(HVM_17, pushes, sizeof(pushes), WORDS, 20);
	leaf_returns(CALLER, BP);
	hvm_put(&vm, vm.blob + 32, CODE(METHOD) + 21, 8); /* its code begins later */
	is_cut(20, NOWHERE);
	make(HVM_17, pushes, sizeof(pushes), WORDS, 20);
	leaf_returns(CALLER, BP);
	hvm_put(&vm, vm.blob + 96, 8, 8); /* its name cannot be read */
	is_cut(20, NOWHERE);
}

/* Any bytes may be anywhere: the walk ends. */
static void any_bytes(void **state)
{
	enum { TURNS = 4000, CHANGES = 4 };
	static const unsigned offs[] = { 0, 8, 20, 33, 41 };

	srandom(17);
	for (unsigned turn = 0; turn < TURNS; turn++) {
		uint64_t pcs[FRAMES];
		struct unwind_walked w;

		if (turn % 64 == 0)
			make(turn % 128 ? HVM_17 : HVM_25, pushes, sizeof(pushes), WORDS, 20);
		for (unsigned i = 0; i < CHANGES; i++)
			memory[random() % (random() % 2 ? vm.at : HVM_BYTES)] = random();
		put(STACK + random() % (STACK_BYTES - 8), random() % 2 ? CODE(METHOD) + AFTER_CALL : CALLER);
		w = walk(CODE(METHOD) + offs[turn % 5], STACK, BP, pcs);
		assert_true(w.n && w.n <= FRAMES && w.end != ER_END_NOT && w.end < ER_END_COUNT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_instruction), cmocka_unit_test(comparison), cmocka_unit_test(search),
		cmocka_unit_test(interpreter), cmocka_unit_test(method_handle), cmocka_unit_test(below_the_code),
		cmocka_unit_test(interpreter_leaf), cmocka_unit_test(stubs),
		cmocka_unit_test(jumps),	    cmocka_unit_test(deoptimized),
		cmocka_unit_test(unknown),	    cmocka_unit_test(hostile),
		cmocka_unit_test(any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
