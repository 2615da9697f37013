/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unwind rules by the table of a stripped Go program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fixtures/go_program.h"
#include "tests/fixtures/unwind/cfi_oracle.h"
#include "user/unwind/knowncode.h"
#include "user/unwind/table.h"
#include "user/unwind/walk.h"

static int build(const struct go_program *p, struct unwind_table *ret)
{
	int fd = go_program(p), err;
	off_t size = lseek(fd, 0, SEEK_END);
	void *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

	assert_ptr_not_equal(file, MAP_FAILED);
	err = unwind_table_build(&(struct unwind_input){ .elf = file, .elf_size = size }, ret);
	munmap(file, size);
	close(fd);
	return err;
}

static void check(const struct unwind_table *t, uint64_t addr, struct er_unwind_rule want)
{
	struct er_unwind_rule have;

	assert_true(cfi_table_rule(t, addr - GO_TEXT + GO_TEXT_OFFSET, &have));
	assert_memory_equal(&have, &want, sizeof(want));
}

static struct er_unwind_rule frame(int bytes)
{
	return (struct er_unwind_rule){ .cfa = ER_CFA_SP, .cfa_off = bytes + 8, .ra_off = -8,
					.bp = bytes ? ER_BP_LOST : ER_BP_SAME };
}

static struct er_unwind_rule kept(enum er_go_switch kind, int at)
{
	return (struct er_unwind_rule){ .cfa = ER_CFA_GO, .reg = kind, .cfa_off = GO_OF_G,
					.bp_off = GO_OF_M | GO_OF_CURG << 16, .cfa_add = at };
}

static void check_rules(const struct go_program *p)
{
	const struct er_unwind_rule nothing = { .cfa = ER_CFA_NO_ENTRY }, other = { .cfa = ER_CFA_BAD };
	struct unwind_table t;
	struct er_unwind_rule r;
	unsigned end = p->indirect ? 0x28 : 0x2b;

	assert_int_equal(build(p, &t), 0);
	check(&t, GO_CODE, frame(0));
	check(&t, GO_CODE + 0x07, frame(0));
	check(&t, GO_CODE + 0x08, frame(24));
	check(&t, GO_CODE + 0x37, frame(24));
	check(&t, GO_CODE + 0x38, frame(0));
	check(&t, GO_WORK, frame(0));
	check(&t, GO_WORK + 0x2f, frame(4096));
	check(&t, GO_EXIT, knowncode_outermost);
	check(&t, GO_MCALL + 0x07, other);
	check(&t, GO_MCALL + 0x08, knowncode_outermost);
	check(&t, GO_MCALL + 0x0a, knowncode_outermost);
	check(&t, GO_MCALL + 0x0b, other);
	check(&t, GO_SYSTEMSTACK + 0x07, other);
	check(&t, GO_SYSTEMSTACK + 0x08, kept(ER_GO_CALLED, GO_OF_SP));
	check(&t, GO_SYSTEMSTACK + end - 1, kept(ER_GO_CALLED, GO_OF_SP));
	check(&t, GO_SYSTEMSTACK + end, other);
	check(&t, GO_MORESTACK + 0x07, other);
	check(&t, GO_MORESTACK + 0x08, kept(ER_GO_GREW, GO_OF_SP));
	check(&t, GO_MORESTACK + 0x10, kept(ER_GO_GREW, GO_OF_SP));
	check(&t, GO_MORESTACK + 0x11, other);
	check(&t, GO_CLOCK, frame(0));
	check(&t, GO_CLOCK + 0x19, frame(24));
	check(&t, GO_CLOCK + 0x1a, kept(ER_GO_CLOCK, GO_OF_CLOCK));
	check(&t, GO_CLOCK + 0x2a, kept(ER_GO_CLOCK, GO_OF_CLOCK));
	check(&t, GO_CLOCK + 0x2b, frame(24));
	check(&t, GO_CLOCK + 0x30, frame(0));
	check(&t, GO_CLOCK + 0x31, kept(ER_GO_CLOCK, GO_OF_CLOCK));
	check(&t, GO_CLOCK + 0x4f, kept(ER_GO_CLOCK, GO_OF_CLOCK));
	check(&t, GO_YIELDS + 0x0e, knowncode_outermost);
	assert_true(cfi_table_rule(&t, GO_SIGRETURN - GO_TEXT + GO_TEXT_OFFSET, &r));
	assert_true(r.flags & ER_RULE_SIGNAL);
	check(&t, GO_END, nothing);
	unwind_table_free(&t);
}

static void test_rules(void **state)
{
	check_rules(&(struct go_program){ .magic = GO_1_18 });
	check_rules(&(struct go_program){ .magic = GO_1_20 });
	check_rules(&(struct go_program){ .magic = GO_1_20, .indirect = true });
}

/* A table whose functions are elsewhere, and tables without flags, are not used: only known bytes. */
static void test_not_used(void **state)
{
	static const struct go_program programs[] = {
		{ .magic = GO_1_20, .moved = true }, { .magic = GO_1_2 }, { .magic = GO_1_16 },
		{ .magic = GO_LATER },
		/* the header does not have the start of Go's code, and that of .text is another one */
		{ .magic = GO_1_20, .pie = true },
	};

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		struct unwind_table t = { 0 };
		struct er_unwind_rule r = { 0 };

		if (!build(&programs[i], &t))
			assert_false(cfi_table_rule(&t, GO_CODE + 8 - GO_TEXT + GO_TEXT_OFFSET, &r) && r.cfa);
		unwind_table_free(&t);
	}
}

/* --- walks --- */

enum {
	BLOCK = 0x900000, /* of the thread */
	THREAD_G = 0xa00000,
	M = 0xa10000,
	G = 0xa20000,
	STACK = 0xb00000,   /* of the thread */
	G_STACK = 0x800000, /* of the goroutine: below */
	CALLER = GO_CODE + 0x20,
	WORDS = 16,
};
static const uint64_t call_before = 0xe8000000; /* the word that ends with a call's 5 bytes */

struct word {
	uint64_t at, value;
};

struct world {
	struct unwind_table t;
	struct word words[WORDS];
	bool blockless;
};

static bool read_word(void *ctx, uint64_t at, uint64_t *value)
{
	const struct world *w = ctx;

	for (int i = 0; i < WORDS; i++) {
		if (w->words[i].at == at && at) {
			*value = w->words[i].value;
			return true;
		}
	}
	return false;
}

static enum er_end find(void *ctx, uint64_t pc, uint64_t ip, struct unwind_place *ret)
{
	const struct world *w = ctx;

	ret->file = &w->t.file;
	ret->offset = pc - GO_TEXT + GO_TEXT_OFFSET;
	return ER_END_NOT;
}

static const uint32_t *table_words(void *ctx, uint32_t at, uint32_t n)
{
	const struct world *w = ctx;

	return unwind_table_words(&w->t, at, n);
}

static bool thread_block(void *ctx, uint64_t *value)
{
	const struct world *w = ctx;

	*value = BLOCK;
	return !w->blockless;
}

/* Walk from ip, on the thread's stack. The frames must be `want`, up to a 0. */
static void check_walk(struct world *w, uint64_t ip, const uint64_t *want, enum er_end end)
{
	const struct unwind_source source = { .read = read_word, .find = find, .words = table_words,
					      .thread_block = thread_block, .ctx = w };
	uint64_t frames[8];
	struct unwind_walked got =
		unwind_walk(&source, &(struct unwind_leaf){ .ip = ip, .sp = STACK }, frames, 8);

	for (size_t i = 0; i < got.n; i++)
		assert_int_equal(frames[i], want[i]);
	assert_int_equal(want[got.n], 0);
	assert_int_equal(got.end, end);
}

/*
 * main.main runs on the thread's stack, called at `from`. The runtime kept the goroutine's stack; there
 * main.main has called at CALLER, and goexit is its caller.
 */
static struct world world(uint64_t from)
{
	struct world w = { .words = {
		{ STACK + 24, from },
		{ BLOCK + GO_OF_G, THREAD_G },
		{ THREAD_G + GO_OF_M, M },
		{ M + GO_OF_CURG, G },
		{ G + GO_OF_SP, G_STACK },
		{ CALLER - 8, call_before },
	} };

	assert_int_equal(build(&(struct go_program){ .magic = GO_1_20 }, &w.t), 0);
	return w;
}

/* Set a free word. */
static void set(struct world *w, uint64_t at, uint64_t value)
{
	size_t i = 0;

	while (w->words[i].at && w->words[i].at != at)
		assert_true(++i < WORDS);
	w->words[i] = (struct word){ at, value };
}

static void test_called(void **state)
{
	struct world w = world(GO_SYSTEMSTACK + 0x0a);

	set(&w, G_STACK, CALLER);
	set(&w, G_STACK + 8 + 24, GO_EXIT + 1);
	check_walk(&w, GO_CODE + 0x10,
		   (const uint64_t[]){ GO_CODE + 0x10, GO_SYSTEMSTACK + 0x0a, CALLER, GO_EXIT + 1, 0 },
		   ER_END_PROVEN);
	set(&w, CALLER - 8, 0); /* no call */
	check_walk(&w, GO_CODE + 0x10,
		   (const uint64_t[]){ GO_CODE + 0x10, GO_SYSTEMSTACK + 0x0a, 0 }, ER_END_NO_CFI);
	w.blockless = true;
	check_walk(&w, GO_CODE + 0x10,
		   (const uint64_t[]){ GO_CODE + 0x10, GO_SYSTEMSTACK + 0x0a, 0 }, ER_END_REGISTER);
	unwind_table_free(&w.t);
}

static void test_grew(void **state)
{
	struct world w = world(GO_MORESTACK + 0x11);

	set(&w, G + GO_OF_SP + 8, CALLER);
	set(&w, G_STACK + 24, GO_EXIT + 1);
	check_walk(&w, GO_CODE + 0x10,
		   (const uint64_t[]){ GO_CODE + 0x10, GO_MORESTACK + 0x11, CALLER, GO_EXIT + 1, 0 },
		   ER_END_PROVEN);
	unwind_table_free(&w.t);
}

static void test_clock(void **state)
{
	struct world w = world(GO_CLOCK + 0x20);

	set(&w, M + GO_OF_CLOCK, G_STACK);
	set(&w, G_STACK - 8, CALLER);
	set(&w, G_STACK + 24, GO_EXIT + 1);
	check_walk(&w, GO_CODE + 0x10,
		   (const uint64_t[]){ GO_CODE + 0x10, GO_CLOCK + 0x20, CALLER, GO_EXIT + 1, 0 },
		   ER_END_PROVEN);
	unwind_table_free(&w.t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_not_used),
		cmocka_unit_test(test_called),
		cmocka_unit_test(test_grew),
		cmocka_unit_test(test_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
