/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An ELF file, which is also its own debug file: its unwind table, and walks by it. */
#include "tests/fuzz/target.h"

#include <stdlib.h>

#include "tests/fuzz/report.h"
#include "user/unwind/table.h"
#include "user/unwind/walk.h"

enum { FRAMES = 64, STACK = 0x7000, WORDS = 64 };

static volatile uint64_t sink;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	report_quietly();
	return 0;
}

/* A stack whose words are return addresses into the file, and frame addresses. */
static bool read_word(void *ctx, uint64_t at, uint64_t *value)
{
	if (at < STACK || at >= STACK + WORDS * 8)
		return false;
	*value = at & 16 ? at + 8 : at * 31 % 0x8000;
	return true;
}

static enum er_end find(void *ctx, uint64_t pc, uint64_t ip, struct unwind_place *ret)
{
	ret->file = &((const struct unwind_table *)ctx)->file;
	ret->offset = pc;
	return ER_END_NOT;
}

static const uint32_t *table_words(void *ctx, uint32_t at, uint32_t n)
{
	return unwind_table_words(ctx, at, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct unwind_input in = { data, size, data, size };
	struct unwind_table t;

	if (unwind_table_build(&in, &t))
		return 0;
	if (t.file.index + t.file.blocks + 1 != t.file.rows || t.file.rows + t.file.nrows != t.nwords)
		abort();
	for (uint64_t at = 0; at < 0x8000; at += 0x100) {
		const struct unwind_source s = { .read = read_word, .find = find, .words = table_words,
						 .ctx = &t };
		const struct unwind_leaf leaf = { t.file.first + at, STACK, STACK + 64 };
		uint64_t pcs[FRAMES];

		sink += unwind_walk(&s, &leaf, pcs, FRAMES).n;
	}
	unwind_table_free(&t);
	return 0;
}
