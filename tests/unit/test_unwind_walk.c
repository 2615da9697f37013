/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks over stacks that are written word by word. The code is an image whose pcs are its file
 * offsets. Memory is a list of words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/fixtures/cfi_image.h"
#include "user/unwind/table.h"
#include "user/unwind/walk.h"

enum { SP = 0x7000000, FRAMES = 16, WORDS = 280, TEXT = CFI_IMAGE_TEXT, INT3 = 0xcc };

/* The functions of the image, by their offset in its text. */
enum {
	LEAF = 0x000,     /* CFA rsp+16, rbp at CFA-16 */
	MIDDLE = 0x100,   /* CFA rsp+32 */
	FRAME = 0x180,    /* CFA rbp+16, rbp at CFA-16 */
	START = 0x200,    /* outermost */
	RESTORER = 0x300, /* signal frame */
	VFORK = 0x340,    /* return address in rdi, CFA rsp+0 */
	PLT = 0x400,
	ALIGNED = 0x440,  /* CFA r10+0, rbp at *(rbp+0) */
	INDEX = 0x480,    /* CFA *(rsp + 8 + 8 * r9) + 8 */
	BROKEN = 0x4c0,
	BY_RBX = 0x500,   /* CFA rbx+16; so all rules say where rbx is */
	SAVES_RBX = 0x540, /* CFA rsp+24, rbx at CFA-16 */
	LOSES_RBX = 0x580, /* CFA rsp+16, rbx at a place that no rule can express */
	NO_ENTRY = 0x1000,
};

static const struct cfi_image_fn fns[] = {
	CFI_FN(LEAF, LEAF + 0x20, "\x0e\x10\x86\x02"),
	CFI_FN(MIDDLE, MIDDLE + 0x20, "\x0e\x20"),
	CFI_FN(MIDDLE + 0x20, MIDDLE + 0x40, "\x0e\x40"),
	CFI_FN(FRAME, FRAME + 0x20, "\x0c\x06\x10\x86\x02"),
	CFI_FN(START, START + 0x20, "\x07\x10"),
	{ RESTORER - 1, RESTORER + 9,
	  "\x0f\x04\x77\xa0\x01\x06\x10\x06\x03\x77\xf8\x00\x10\x10\x03\x77\xa8\x01", 18, true },
	CFI_FN(VFORK, VFORK + 0x20, "\x0e\x00\x09\x10\x05"),
	CFI_FN(PLT, PLT + 0x20, "\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"),
	CFI_FN(ALIGNED, ALIGNED + 0x20, "\x0c\x0a\x00\x10\x06\x02\x76\x00"),
	CFI_FN(INDEX, INDEX + 0x20, "\x0f\x0a\x77\x08\x79\x00\x38\x1e\x22\x06\x23\x08"),
	CFI_FN(BROKEN, BROKEN + 0x20, "\x1f"),
	CFI_FN(BY_RBX, BY_RBX + 0x20, "\x0c\x03\x10"),
	CFI_FN(SAVES_RBX, SAVES_RBX + 0x20, "\x0e\x18\x83\x02"),
	CFI_FN(LOSES_RBX, LOSES_RBX + 0x20, "\x0e\x10\x16\x03\x01\x30"),
};

struct word {
	uint64_t at, value;
};

struct world {
	struct buf file;
	struct unwind_table t;
	const struct word *words;
	const uint64_t *regs; /* by DWARF number; NULL: not captured */
	bool generated;       /* all code is in no file */
};

static struct world world;

static int build(void **state)
{
	cfi_image(&world.file, fns, sizeof(fns) / sizeof(fns[0]), INT3);
	return unwind_table_build(&(struct unwind_input){ .elf = world.file.data,
							  .elf_size = world.file.len },
				  &world.t);
}

static int drop(void **state)
{
	unwind_table_free(&world.t);
	buf_free(&world.file);
	return 0;
}

static bool read_word(void *ctx, uint64_t at, uint64_t *value)
{
	for (const struct word *w = world.words; w && w->at; w++) {
		if (w->at == at) {
			*value = w->value;
			return true;
		}
	}
	return false;
}

static enum er_end find(void *ctx, uint64_t pc, uint64_t ip, struct unwind_place *ret)
{
	if (pc >= world.file.len)
		return ER_END_NO_MAPPING;
	ret->file = &world.t.file;
	ret->offset = pc;
	return ER_END_NOT;
}

static const uint32_t *table_words(void *ctx, uint32_t at, uint32_t n)
{
	return unwind_table_words(&world.t, at, n);
}

static bool leaf_reg(void *ctx, unsigned reg, uint64_t *value)
{
	*value = world.regs ? world.regs[reg] : 0;
	return world.regs;
}

static bool generated(void *ctx, uint64_t pc)
{
	return world.generated;
}

static const struct unwind_source source = { .read = read_word, .find = find, .words = table_words,
					     .reg = leaf_reg, .generated = generated };

/* Walk, and compare with the expected pcs, which end with a 0. */
struct expected {
	enum er_end end;
	uint64_t pcs[FRAMES];
};

static void check(const struct unwind_leaf *leaf, const struct word *words, const uint64_t *regs,
		  const struct expected *want)
{
	uint64_t pcs[FRAMES];
	struct unwind_walked w;
	size_t n = 0;

	world.words = words;
	world.regs = regs;
	w = unwind_walk(&source, leaf, pcs, FRAMES);
	while (n < FRAMES && want->pcs[n])
		n++;
	assert_int_equal(w.end, want->end);
	assert_int_equal(w.n, n);
	assert_memory_equal(pcs, want->pcs, n * sizeof(*pcs));
}

#define CHECK(end, pc, sp_, bp_, regs, words, ...)                                                 \
	check(&(struct unwind_leaf){ TEXT + (pc), sp_, bp_ }, (const struct word[])words, regs,    \
	      &(struct expected){ end, { TEXT + (pc), ##__VA_ARGS__ } })
#define LIST(...) { __VA_ARGS__, { 0, 0 } }

/*
 * If a call is a function's last instruction, its return address is the next function's beginning.
 */
static void callers(void **state)
{
	CHECK(ER_END_PROVEN, LEAF + 4, SP, SP + 0x100, NULL,
	      LIST({ SP, SP + 0x30 }, { SP + 8, TEXT + MIDDLE + 0x20 },
		   { SP + 0x28, TEXT + FRAME + 8 }, { SP + 0x30, 0 }, { SP + 0x38, TEXT + START + 5 }),
	      TEXT + MIDDLE + 0x20, TEXT + FRAME + 8, TEXT + START + 5);
	/* the leaf itself is at its exact pc */
	CHECK(ER_END_PROVEN, MIDDLE + 0x20, SP, 0, NULL, LIST({ SP + 0x38, TEXT + START + 5 }),
	      TEXT + START + 5);
}

static void plt(void **state)
{
	CHECK(ER_END_PROVEN, PLT + 10, SP, 0, NULL,
	      LIST({ SP, TEXT + START + 5 }, { SP + 8, TEXT + MIDDLE }), TEXT + START + 5);
	CHECK(ER_END_PROVEN, PLT + 11, SP, 0, NULL,
	      LIST({ SP, TEXT + MIDDLE }, { SP + 8, TEXT + START + 5 }), TEXT + START + 5);
}

/*
 * Registers are known at the leaf, and in a frame that a signal interrupted, from the signal frame.
 */
static void registers(void **state)
{
	uint64_t regs[16] = { [3] = SP + 0x20, [5] = TEXT + START + 5, [9] = 2, [10] = SP + 0x40 };
	static const uint64_t none[16] = { 0 };

	CHECK(ER_END_PROVEN, VFORK + 4, SP, 0, regs, LIST({ SP, 0 }), TEXT + START + 5);
	CHECK(ER_END_REGISTER, VFORK + 4, SP, 0, NULL, LIST({ SP, 0 }));
	CHECK(ER_END_PROVEN, INDEX + 4, SP, 0, regs,
	      LIST({ SP + 8 + 16, SP + 0x50 }, { SP + 0x50, TEXT + START + 5 }), TEXT + START + 5);
	CHECK(ER_END_REGISTER, LEAF + 4, SP, 0, regs, LIST({ SP, 0 }, { SP + 8, TEXT + INDEX + 5 }),
	      TEXT + INDEX + 5);
	/* a handler on another stack; r10 at 40 + 16, rbp at 120, rsp at 160, rip at 168 */
	CHECK(ER_END_PROVEN, MIDDLE + 4, SP, 0, none,
	      LIST({ SP + 24, TEXT + RESTORER }, { SP + 32 + 56, SP - 0x40 }, { SP + 32 + 120, SP - 0x60 },
		   { SP + 32 + 160, SP - 0x80 }, { SP + 32 + 168, TEXT + ALIGNED },
		   { SP - 0x60, 1 }, { SP - 0x48, TEXT + START + 5 }),
	      TEXT + RESTORER, TEXT + ALIGNED, TEXT + START + 5);
}

/* rbp is read from a slot inside the frame; otherwise it is unchanged. */
static void realigned(void **state)
{
	uint64_t regs[16] = { [10] = SP + 0x40 };
	const struct word words[] = LIST({ SP + 0x38, TEXT + FRAME + 8 }, { SP + 0x20, SP + 0x80 },
					 { SP + 0x80, 0 }, { SP + 0x88, TEXT + START + 5 });
	const struct expected want = { ER_END_PROVEN, { TEXT + ALIGNED + 4, TEXT + FRAME + 8,
							TEXT + START + 5 } };

	check(&(struct unwind_leaf){ TEXT + ALIGNED + 4, SP, SP + 0x20 }, words, regs, &want);
	check(&(struct unwind_leaf){ TEXT + ALIGNED + 4, SP + 0x30, SP + 0x80 }, words, regs, &want);
}

/* The dynamic loader's lazy binding: a frame found by rbx, which a callee saved, kept or lost. */
static void by_rbx(void **state)
{
	uint64_t regs[16] = { [3] = SP + 0x50 };

	CHECK(ER_END_PROVEN, SAVES_RBX + 4, SP, 0, regs,
	      LIST({ SP + 8, SP + 0x60 }, { SP + 16, TEXT + BY_RBX + 5 },
		   { SP + 0x60 + 8, TEXT + START + 5 }), TEXT + BY_RBX + 5, TEXT + START + 5);
	CHECK(ER_END_PROVEN, MIDDLE + 4, SP, 0, regs,
	      LIST({ SP + 24, TEXT + BY_RBX + 5 }, { SP + 0x50 + 8, TEXT + START + 5 }),
	      TEXT + BY_RBX + 5, TEXT + START + 5);
	CHECK(ER_END_REGISTER, LOSES_RBX + 4, SP, 0, regs,
	      LIST({ SP + 8, TEXT + BY_RBX + 5 }, { SP + 0x50 + 8, TEXT + START + 5 }), TEXT + BY_RBX + 5);
}

static void ends(void **state)
{
	struct word deep[WORDS] = { 0 };
	uint64_t pcs[FRAMES];
	struct unwind_walked w;

	CHECK(ER_END_RA_ZERO, MIDDLE + 4, SP, 0, NULL, LIST({ SP + 24, 0 }));
	CHECK(ER_END_FAULT, MIDDLE + 4, SP, 0, NULL, LIST({ SP + 16, 1 }));
	CHECK(ER_END_FAULT, LEAF + 4, SP, 0, NULL, LIST({ SP + 8, TEXT + MIDDLE + 5 }));
	CHECK(ER_END_BAD_RULE, BROKEN + 4, SP, 0, NULL, LIST({ SP, 1 }));
	/* a return address outside all mappings is not a frame */
	CHECK(ER_END_NO_MAPPING, MIDDLE + 4, SP, 0, NULL, LIST({ SP + 24, 0x7fff00001000 }));
	/* the leaf's frame may end at sp, a caller's frame may not; no frame may end below sp */
	CHECK(ER_END_NOT_RISING, FRAME + 4, SP, SP - 0x20, NULL, LIST({ SP, 1 }));
	CHECK(ER_END_NOT_RISING, LEAF + 4, SP, 0, NULL, LIST({ SP, SP }, { SP + 8, TEXT + FRAME + 5 }),
	      TEXT + FRAME + 5);
	for (int i = 0; i < WORDS - 1; i++)
		deep[i] = (struct word){ SP + 24 + i * 32, TEXT + MIDDLE + 5 };
	world.words = deep;
	w = unwind_walk(&source, &(struct unwind_leaf){ TEXT + MIDDLE + 5, SP, 0 }, pcs, FRAMES);
	assert_int_equal(w.end, ER_END_DEPTH);
	assert_int_equal(w.n, FRAMES);
}

/* --- code without entries --- */

#define CALL 0xe8000000 /* in a word whose last 5 bytes are the call's */

/* `call rel32` that ends at `ra` and goes to `to`, as the 8 bytes before ra. */
static uint64_t call_to(uint64_t ra, uint64_t to)
{
	return (uint64_t)(uint32_t)(to - ra) << 32 | CALL;
}

enum {
	PC = TEXT + NO_ENTRY + 0x80,
	/* return addresses: if the frame is made, if rbp is pushed, and at sp */
	RA_MADE = TEXT + START + 5,
	RA_PUSHED = TEXT + START + 6,
	RA_SP = TEXT + START + 7,
	FAR_OFF = PC - 0x1000,
	BEGIN = PC - 0x20,
};

/* The meaning of the word at sp. */
enum at_sp { OTHER, RBP, CALLED, CALLED_FAR, CALLED_INDIRECT };

struct leaf_case {
	const char *before, *at; /* code up to ip, and from ip on; NOP around it */
	enum at_sp sp;
	uint64_t ra; /* 0: the walk must end */
};

#define MOV "\x48\x89\xe5" /* mov %rsp,%rbp */
#define PUSH "\x55" MOV
#define POP "\x5d"
#define LEAVE "\xc9"

/* 96 bytes that give no information. */
#define FAR "................................................................................................"
#define FAR5 FAR FAR FAR FAR FAR

static const struct leaf_case leaf_cases[] = {
	{ "", "\x55", CALLED_INDIRECT, RA_SP },		    /* push %rbp */
	{ "", "\xf3\x0f\x1e\xfa", CALLED_INDIRECT, RA_SP }, /* endbr64 */
	{ MOV, "\xc3", CALLED_INDIRECT, RA_SP },	    /* ret */
	{ MOV, "\xf3\xc3", CALLED_INDIRECT, RA_SP },
	{ MOV, "\xc2\x08", CALLED_INDIRECT, RA_SP },
	{ "", "\xff\x25", CALLED_INDIRECT, RA_SP }, /* jmp *mem: a PLT entry */
	{ "", "\xf2\xff\x25", CALLED_INDIRECT, RA_SP },
	{ "\x55", MOV, RBP, RA_PUSHED },
	{ "\x55", "\x48\x8b\xec", RBP, RA_PUSHED },
	{ "\x55", MOV, OTHER, RA_PUSHED },
	/* a jump after code that restores rbp calls another function */
	{ MOV POP, "\xe9", CALLED_INDIRECT, RA_SP },
	{ MOV LEAVE, "\xeb", CALLED_INDIRECT, RA_SP },
	{ MOV LEAVE, "\xff\xe0", CALLED_INDIRECT, RA_SP },
	{ MOV "\x41\x5d", "\xe9", CALLED, 0 }, /* pop %r13 does not restore rbp */
	{ MOV LEAVE, "\x49\x8d\x65\xf0", OTHER, 0 }, /* a realigned frame is being left */
	{ MOV LEAVE "\x49\x8d\x62\xf8", "\x41\x5d", OTHER, 0 },
	/* inside a function the word at sp decides */
	{ MOV, "\x89", OTHER, RA_MADE },
	{ "", "\x89", OTHER, RA_MADE },
	{ "", "\x89\xc8" MOV, OTHER, 0 },	/* the prologue comes yet */
	{ "", "\x89\xc8\xc3" MOV, OTHER, RA_MADE }, /* this belongs to the next function */
	{ MOV, "\x89", CALLED, RA_MADE },
	{ "\x48\x8b\xec", "\x89", CALLED, RA_MADE },
	{ "", "\x89", CALLED, RA_SP },
	{ MOV POP, "\x89", CALLED, 0 },
	{ MOV LEAVE, "\x89", CALLED, 0 },
	{ MOV POP MOV, "\x89", CALLED, RA_MADE },
	{ "", "\x89", CALLED_FAR, 0 },
	{ MOV, "\x89", CALLED_FAR, RA_MADE },
	{ "", "\x89", CALLED_INDIRECT, 0 },
	{ MOV, "\x89", CALLED_INDIRECT, RA_MADE },
	{ "\x55", "\x89\xc8" MOV, RBP, RA_PUSHED },
	{ MOV, "\x89", RBP, RA_MADE },
	/* a remnant: the prologue is far, or nothing says where it is */
	{ PUSH FAR, "\x89", RBP, RA_MADE },
	{ PUSH FAR, "\x89\xc8" MOV, RBP, RA_PUSHED },
	{ "\x55", "\x89", RBP, 0 },
	{ PUSH POP "\xc3" FAR, "\x89", RBP, 0 },
	{ PUSH "\xcc\xcc...............\x55", "\x89" MOV, RBP, RA_PUSHED },
	{ "", "\x89\xff\xe7" MOV, OTHER, RA_MADE }, /* jmp *%rdi: the next function's prologue */
	{ "", "\x89\x0f\x0b" MOV, OTHER, RA_MADE }, /* ud2 */
	{ "", "\x89\xff\xd7" MOV, OTHER, 0 }, /* call *%rdi */
	/*
	 * a prologue before the function's beginning, 0x20 bytes or more away, is another
	 * function's
	 */
	{ MOV "................................", "\x89", CALLED, RA_SP },
	{ MOV "............................", "\x89", CALLED, RA_MADE },
	/*
	 * the function's beginning is not known: the last pattern decides, up to 2048 bytes from ip
	 */
	{ PUSH FAR, "\x89", CALLED_INDIRECT, RA_MADE },
	{ "\x55\x48\x8b\xec" FAR, "\x89", CALLED_INDIRECT, RA_MADE },
	{ MOV FAR, "\x89", CALLED_INDIRECT, 0 },
	{ PUSH FAR, "\x89", CALLED_FAR, RA_MADE },
	{ PUSH "\xcc\xcc" FAR, "\x89", CALLED_INDIRECT, RA_SP },
	{ PUSH "\xf4\xf4" FAR, "\x89", CALLED_INDIRECT, RA_SP },
	{ PUSH "\xcc" FAR, "\x89", CALLED_INDIRECT, RA_MADE },
	/* functions are aligned, and 0xcccccccd is a number */
	{ PUSH "\xcc\xcc." FAR, "\x89", CALLED_INDIRECT, RA_MADE },
	{ PUSH "\xcd\xcc\xcc\xcc" FAR, "\x89", CALLED_INDIRECT, RA_MADE },
	{ PUSH POP "\xe9...." FAR, "\x89", CALLED_INDIRECT, RA_SP },
	{ PUSH POP "\xe9....." FAR, "\x89", CALLED_INDIRECT, RA_MADE },
	{ PUSH "\xe8....\xcc" FAR, "\x89", CALLED_INDIRECT, RA_SP },
	{ PUSH "\xe8.....\xcc" FAR, "\x89", CALLED_INDIRECT, RA_MADE },
	/* a function that begins shortly before ip, behind another one's end */
	{ PUSH POP "\xc3\xcc\xcc................", "\x89", CALLED_INDIRECT, RA_SP },
	{ PUSH POP "\xe9....................", "\x89", CALLED_INDIRECT, RA_SP },
	{ PUSH POP "\xc3\xcc\xcc" PUSH "............", "\x89", CALLED_INDIRECT, RA_MADE },
	{ PUSH POP "\xc3................", "\x89", CALLED_INDIRECT, 0 },
	{ PUSH POP "\xc3" FAR, "\x89", CALLED_INDIRECT, 0 },
	{ PUSH LEAVE "\xc3" FAR, "\x89", CALLED_INDIRECT, 0 },
	{ PUSH POP "\xc2" FAR, "\x89", CALLED_INDIRECT, 0 },
	{ PUSH FAR5, "\x89", CALLED_INDIRECT, RA_MADE },
	{ PUSH "............................." FAR5, "\x89", CALLED_INDIRECT, RA_MADE }, /* across 512 bytes */
	{ PUSH "..............................." FAR5, "\x89", CALLED_INDIRECT, RA_MADE },
	{ PUSH FAR5 FAR5, "\x89", CALLED_INDIRECT, RA_MADE },
	{ PUSH "\xcc\xcc" FAR5 FAR5, "\x89", CALLED_INDIRECT, RA_SP },
	{ PUSH POP "\xc3" FAR5 FAR5, "\x89", CALLED_INDIRECT, 0 },
	{ PUSH FAR5 FAR5 "\xcc\xcc" FAR5, "\x89", CALLED_INDIRECT, RA_SP },
	{ PUSH FAR5 FAR5 FAR5 FAR5 FAR, "\x89", CALLED_INDIRECT, RA_MADE },
	{ PUSH FAR5 FAR5 FAR5 FAR5 FAR "................................", "\x89", CALLED_INDIRECT, 0 },
};

/* In code without a file a return does not end a function. */
static const struct leaf_case generated_cases[] = {
	{ PUSH POP "\xc3" FAR, "\x89", CALLED_INDIRECT, RA_MADE },
	{ PUSH POP "\xc3\xcc\xcc" FAR, "\x89", CALLED_INDIRECT, RA_SP },
};

static void leaf_case(const struct leaf_case *c)
{
	static const uint64_t at_sp[] = { 1, SP + 0x40, RA_SP, RA_SP, RA_SP };
	enum { BEFORE = 2112 };
	unsigned char code[BEFORE + 64];
	struct word words[WORDS] = {
		{ SP, at_sp[c->sp] }, { SP + 8, RA_PUSHED }, { SP + 0x40, 0 }, { SP + 0x48, RA_MADE },
		{ RA_MADE - 8, call_to(RA_MADE, BEGIN) }, { RA_PUSHED - 8, call_to(RA_PUSHED, BEGIN) },
		{ RA_SP - 8, call_to(RA_SP, c->sp == CALLED_FAR ? FAR_OFF : BEGIN) },
	};
	struct expected want = { c->ra ? ER_END_PROVEN : ER_END_NO_CFI, { PC, c->ra } };

	if (c->sp == CALLED_INDIRECT)
		words[6].value = 0xd0ff000000000000; /* call *%rax */
	memset(code, 0x90, sizeof(code));
	assert_true(strlen(c->before) <= BEFORE);
	memcpy(code + BEFORE - strlen(c->before), c->before, strlen(c->before));
	memcpy(code + BEFORE, c->at, strlen(c->at));
	for (size_t i = 0; i < sizeof(code) / 8; i++) {
		words[7 + i].at = PC - BEFORE + i * 8;
		memcpy(&words[7 + i].value, code + i * 8, 8);
	}
	check(&(struct unwind_leaf){ PC, SP, SP + 0x40 }, words, NULL, &want);
}

static void leaf_frames(void **state)
{
	for (size_t i = 0; i < sizeof(leaf_cases) / sizeof(leaf_cases[0]); i++) {
		print_message("%zu ", i);
		leaf_case(&leaf_cases[i]);
	}
	world.generated = true;
	for (size_t i = 0; i < sizeof(generated_cases) / sizeof(generated_cases[0]); i++)
		leaf_case(&generated_cases[i]);
	world.generated = false;
	print_message("\n");
}

/* The code before a return address: each form of a call, and other instructions. */
static void calls(void **state)
{
	static const struct { const char *code; bool is; } cases[] = {
		{ "\x90\x90\x90\xe8\x01\x02\x03\x04", true },	{ "\x90\x90\x90\x90\x90\x90\xff\xd0", true },
		{ "\x90\x90\x90\x90\x90\x41\xff\xd4", true },	{ "\x90\x90\x90\x90\x90\xff\x50\x08", true },
		{ "\x90\x90\x90\x90\xff\x54\x24\x08", true },	{ "\x90\x90\xff\x15\x01\x02\x03\x04", true },
		{ "\x90\xff\x94\x24\x01\x02\x03\x04", true },	{ "\x90\x90\x90\xe9\x01\x02\x03\x04", false },
		{ "\x90\x90\x90\x90\x90\x90\xff\xe0", false },	{ "\x90\x90\x90\x90\x90\x90\x90\x90", false },
		{ "\x90\x90\x90\xff\x10\x90\x90\x90", false },	{ "\xff\x10\x90\x90\x90\x90\x90\x90", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct word words[] = { { PC, 0x89 }, { PC - 8, 0 }, { SP, 1 }, { SP + 0x40, 0 },
					{ SP + 0x48, RA_MADE }, { RA_MADE - 8, 0 }, { 0, 0 } };

		memcpy(&words[5].value, cases[i].code, 8);
		check(&(struct unwind_leaf){ PC, SP, SP + 0x40 }, words, NULL,
		      &(struct expected){ cases[i].is ? ER_END_PROVEN : ER_END_NO_CFI,
					  { PC, cases[i].is ? RA_MADE : 0 } });
	}
}

/* Java's interpreter returns to generated code that no call precedes. */
static void interpreted_frames(void **state)
{
	const struct word words[] = { { PC, 0x89 }, { PC - 8, 0 }, { SP, 1 }, { SP + 0x40, 0 },
				      { SP + 0x48, RA_MADE }, { RA_MADE - 8, 0 }, { 0, 0 } };

	for (int i = 0; i < 2; i++) {
		world.generated = i;
		check(&(struct unwind_leaf){ PC, SP, SP + 0x40 }, words, NULL,
		      &(struct expected){ i ? ER_END_PROVEN : ER_END_NO_CFI, { PC, i ? RA_MADE : 0 } });
	}
	world.generated = false;
}

/* The first frame of a chain is checked; the others are found by the rbp that it saved. */
static void frame_pointers(void **state)
{
	enum { NEXT = TEXT + NO_ENTRY + 0x90 };
	const struct word chain[] = {
		{ PC, 0x89 }, { PC - 8, 0 }, { SP, 1 }, { SP + 0x40, SP + 0x60 }, { SP + 0x48, NEXT },
		{ NEXT - 8, call_to(NEXT, PC) }, { SP + 0x60, 0 }, { SP + 0x68, RA_MADE }, { 0, 0 } };
	static const struct { uint64_t bp; enum er_end end; } bad[] = {
		{ 0, ER_END_FP_ZERO }, { SP - 8, ER_END_NO_CFI }, { SP + 0x41, ER_END_NO_CFI },
		{ SP + (2 << 20), ER_END_NO_CFI }, { SP + 0x100, ER_END_FAULT },
	};

	check(&(struct unwind_leaf){ PC, SP, SP + 0x40 }, chain, NULL,
	      &(struct expected){ ER_END_PROVEN, { PC, NEXT, RA_MADE } });
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check(&(struct unwind_leaf){ PC, SP, bad[i].bp }, chain, NULL,
		      &(struct expected){ bad[i].end, { PC } });
	/* the code is not known either */
	check(&(struct unwind_leaf){ PC, SP, SP + 0x40 }, chain + 1, NULL,
	      &(struct expected){ ER_END_FAULT, { PC } });
}

/* Where rbp is the caller's, its frame is not proven yet. A return address of 0 ends a chain. */
static void frame_pointers_of_callers(void **state)
{
	enum { NEXT = TEXT + NO_ENTRY + 0x90 };
	struct word words[] = { { PC, 0x55 }, { PC - 8, 0 }, { SP, NEXT }, { NEXT - 8, call_to(NEXT, PC) },
				{ SP + 0x40, SP + 0x60 }, { SP + 0x48, RA_MADE }, { RA_MADE - 8, 0x9090 },
				{ 0, 0 }, { 0, 0 } };
	struct unwind_walked w;
	uint64_t pcs[FRAMES];

	check(&(struct unwind_leaf){ PC, SP, SP + 0x40 }, words, NULL,
	      &(struct expected){ ER_END_NO_CFI, { PC, NEXT } });
	words[6].value = call_to(RA_MADE, PC);
	check(&(struct unwind_leaf){ PC, SP, SP + 0x40 }, words, NULL,
	      &(struct expected){ ER_END_PROVEN, { PC, NEXT, RA_MADE } });
	words[5].value = TEXT + MIDDLE + 4; /* the caller of this frame is found by a rule */
	words[6] = (struct word){ TEXT + MIDDLE - 4, call_to(TEXT + MIDDLE + 4, PC) };
	words[7] = (struct word){ SP + 0x50 + 24, RA_MADE };
	w = unwind_walk(&source, &(struct unwind_leaf){ PC, SP, SP + 0x40 }, pcs, FRAMES);
	assert_int_equal(w.end, ER_END_PROVEN);
	assert_int_equal(w.n, 4);
	assert_true(w.frame_pointers);
	words[5].value = 0;
	check(&(struct unwind_leaf){ PC, SP, SP + 0x40 }, words, NULL,
	      &(struct expected){ ER_END_RA_ZERO, { PC, NEXT } });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers),   cmocka_unit_test(plt),	cmocka_unit_test(registers),
		cmocka_unit_test(realigned), cmocka_unit_test(by_rbx), cmocka_unit_test(ends),
		cmocka_unit_test(leaf_frames), cmocka_unit_test(calls),
		cmocka_unit_test(interpreted_frames),
		cmocka_unit_test(frame_pointers), cmocka_unit_test(frame_pointers_of_callers),
	};

	return cmocka_run_group_tests(tests, build, drop);
}
