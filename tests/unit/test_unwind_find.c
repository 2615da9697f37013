/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Look-ups in tables that are written word by word: full ones, and ones that contradict themselves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "user/unwind/table.h"
#include "user/unwind/walk.h"

struct word {
	uint64_t at, value;
};

enum { SP = 0x7000000, ROWS = ER_BLOCK_ROWS, HAND = 0x3000, HAND_RULES = 3 };

static struct {
	__u32 words[HAND_RULES * ER_RULE_WORDS + 3 + ROWS + 2];
	struct unwind_table t;
} hand;

/* One block at HAND with a row for each byte: rules 1 and 2 alternate; both are rsp + n. */
static struct unwind_table *by_hand(void)
{
	struct er_unwind_rule rules[HAND_RULES] = {
		[1] = { .cfa = ER_CFA_SP, .cfa_off = 16, .ra_off = -8 },
		[2] = { .cfa = ER_CFA_SP, .cfa_off = 32, .ra_off = -8 },
	};
	__u32 *index = hand.words + HAND_RULES * ER_RULE_WORDS, *rows = index + 2;

	memset(&hand, 0, sizeof(hand));
	memcpy(hand.words, rules, sizeof(rules));
	index[1] = ROWS;
	for (__u32 i = 0; i < ROWS; i++)
		rows[i] = (HAND + i) | (1 + i % 2) << 16;
	hand.t = (struct unwind_table){
		.words = hand.words, .nwords = sizeof(hand.words) / 4,
		.file = { .first = HAND, .blocks = 1, .nrows = ROWS, .nrules = HAND_RULES,
			  .index = HAND_RULES * ER_RULE_WORDS, .rows = HAND_RULES * ER_RULE_WORDS + 2 } };
	return &hand.t;
}

static const struct word *words;

static bool read_word(void *ctx, uint64_t at, uint64_t *value)
{
	for (const struct word *w = words; w->at; w++) {
		if (w->at == at) {
			*value = w->value;
			return true;
		}
	}
	return false;
}

static enum er_end find(void *ctx, uint64_t pc, uint64_t ip, struct unwind_place *ret)
{
	ret->file = &hand.t.file;
	ret->offset = pc;
	return ER_END_NOT;
}

static const uint32_t *table_words(void *ctx, uint32_t at, uint32_t n)
{
	return unwind_table_words(&hand.t, at, n);
}

static const struct unwind_source source = { .read = read_word, .find = find, .words = table_words };

/* Walk from a pc in the table. Two words of the stack are known. Returns the caller, or 0. */
static uint64_t caller_by_hand(uint64_t pc, enum er_end *end)
{
	static const struct word stack[] = { { SP + 8, 0x111111 }, { SP + 24, 0x222222 }, { 0, 0 } };
	uint64_t pcs[2] = { 0 };
	struct unwind_walked w;

	words = stack;
	w = unwind_walk(&source, &(struct unwind_leaf){ pc, SP, 0 }, pcs, 2);
	*end = w.end;
	return w.n > 1 ? pcs[1] : 0;
}

static void full_block(void **state)
{
	enum er_end end;

	by_hand();
	for (unsigned i = 0; i < ROWS; i++)
		assert_int_equal(caller_by_hand(HAND + i, &end), i % 2 ? 0x222222 : 0x111111);
}

static void contradictions(void **state)
{
	struct unwind_table *t = by_hand();
	__u32 *index = t->words + t->file.index;
	enum er_end end;

	t->file.nrules = 2; /* a row names rule 2 */
	assert_int_equal(caller_by_hand(HAND + 1, &end), 0);
	assert_int_equal(end, ER_END_BAD_RULE);
	t = by_hand();
	t->file.nrows = index[1] = ROWS + 1; /* more than a block can have */
	assert_int_equal(caller_by_hand(HAND + 1, &end), 0);
	assert_int_equal(end, ER_END_BAD_RULE);
	t = by_hand();
	index[0] = 2;
	index[1] = 1;
	assert_int_equal(caller_by_hand(HAND + 1, &end), 0);
	assert_int_equal(end, ER_END_BAD_RULE);
	t = by_hand();
	t->file.nrows = ROWS - 1; /* fewer than the index counts */
	assert_int_equal(caller_by_hand(HAND + 1, &end), 0);
	assert_int_equal(end, ER_END_BAD_RULE);
	t = by_hand();
	t->nwords = t->file.rows; /* rows after the end of the words */
	assert_int_equal(caller_by_hand(HAND + 1, &end), 0);
	assert_int_equal(end, ER_END_BAD_RULE);
}

/* After the last block, before the first one, and where a subtraction wraps around: no entry. */
static void outside_of_blocks(void **state)
{
	struct unwind_table *t = by_hand();
	enum er_end end;

	assert_int_equal(caller_by_hand(HAND + ER_BLOCK_BYTES, &end), 0);
	assert_int_equal(end, ER_END_FAULT); /* a step by frame pointer reads code */
	assert_int_equal(caller_by_hand(HAND - 1, &end), 0);
	assert_int_equal(end, ER_END_FAULT);
	t->file.first = 0 - (uint64_t)ER_BLOCK_BYTES;
	t->file.blocks = 2;
	assert_int_equal(caller_by_hand(10, &end), 0);
	assert_int_equal(end, ER_END_FAULT);
}

/* *(rsp + n) + k and *(rbp + n) + k */
static void dereferences(void **state)
{
	struct er_unwind_rule rule = { .cfa = ER_CFA_DEREF_SP, .cfa_off = 40, .cfa_add = 16, .ra_off = -8 };
	static const struct word stack[] = { { SP + 40, SP + 0x100 }, { SP + 0x60, SP + 0x200 },
					     { SP + 0x108, 0x111111 }, { SP + 0x208, 0x222222 }, { 0, 0 } };
	const struct unwind_leaf leaf = { HAND, SP, SP + 0x40 };
	struct unwind_table *t = by_hand();
	uint64_t pcs[2];

	words = stack;
	memcpy(t->words + ER_RULE_WORDS, &rule, sizeof(rule));
	assert_int_equal(unwind_walk(&source, &leaf, pcs, 2).n, 2);
	assert_int_equal(pcs[1], 0x111111);
	rule.cfa = ER_CFA_DEREF_FP;
	rule.cfa_off = 32;
	memcpy(t->words + ER_RULE_WORDS, &rule, sizeof(rule));
	assert_int_equal(unwind_walk(&source, &leaf, pcs, 2).n, 2);
	assert_int_equal(pcs[1], 0x222222);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_block), cmocka_unit_test(contradictions),
		cmocka_unit_test(outside_of_blocks), cmocka_unit_test(dereferences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
