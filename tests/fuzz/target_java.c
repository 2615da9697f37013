/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks out of code of a Java VM whose memory, code, stack and registers may be anything: the source
 * that BPF runs, compiled for user space. An input has groups of four bytes: an address in the
 * VM's memory or on the stack (three), and what is put there. Its first byte chooses the version;
 * the next eight give the leaf's place and its stack pointer. What is behind them is also read as a
 * method's line table.
 */
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

#include "tests/fixtures/unwind/hotspot_vm.h"
#include "tests/fuzz/report.h"
#include "user/jit/javalines.h"
#include "user/unwind/walk.h"

enum { FRAMES = 64, STACK = 0x60000000, STACK_BYTES = 2048, LINES = 64, HEAD = 9 };

static uint8_t memory[HVM_BYTES];
static uint8_t stack[STACK_BYTES];

static bool read_word(void *ctx, uint64_t at, uint64_t *value)
{
	if (at - HVM_BASE <= HVM_BYTES - 8)
		memcpy(value, memory + (at - HVM_BASE), 8);
	else if (at - STACK <= STACK_BYTES - 8)
		memcpy(value, stack + (at - STACK), 8);
	else
		return false;
	return true;
}

static bool generated(void *ctx, uint64_t pc)
{
	return pc - HVM_BASE < HVM_BYTES;
}

static enum er_end find(void *ctx, uint64_t pc, uint64_t ip, struct unwind_place *ret)
{
	return generated(ctx, pc) ? ER_END_NOT : ER_END_NO_MAPPING;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	report_quietly();
	return 0;
}

/* Return addresses into the code cache, and frame addresses. */
static void fill_stack(void)
{
	for (uint64_t at = 0; at < STACK_BYTES; at += 8) {
		uint64_t word = at & 16 ? STACK + at + 64 : HVM_CODE + HVM_HEADER + at * 37 % 0x9c00;

		memcpy(stack + at, &word, 8);
	}
}

static void change(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i + 4 <= size; i += 4) {
		size_t at = (data[i] | data[i + 1] << 8 | data[i + 2] << 16) % (HVM_BYTES + STACK_BYTES);

		*(at < HVM_BYTES ? memory + at : stack + (at - HVM_BYTES)) = data[i + 3];
	}
}

static void check_lines(const uint8_t *data, size_t size)
{
	struct java_line lines[LINES];

	for (unsigned bias = 0; bias < 2; bias++) {
		size_t n = java_lines(data, size, bias, lines, LINES);

		if (n > LINES)
			abort();
		for (size_t i = 1; i < n; i++)
			if (lines[i].offset <= lines[i - 1].offset || lines[i].line == lines[i - 1].line)
				abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint64_t pc = HVM_METHOD + HVM_HEADER;
	static struct hvm_answer a;
	uint64_t pcs[FRAMES];
	uint32_t place, sp;
	struct hvm vm;

	if (size < HEAD)
		return 0;
	memcpy(&place, data + 1, 4);
	memcpy(&sp, data + 5, 4);
	hvm_make(&vm, memory, *data % 2 ? HVM_25 : HVM_17);
	hvm_frame(&vm, HVM_METHOD, *data % 2 ? HVM_25 : HVM_17, 6, 12);
	memset(&a, 0, sizeof(a));
	hvm_ask(&vm, &pc, 1, &a);
	fill_stack();
	change(data + HEAD, size - HEAD);
	const struct unwind_source s = { .read = read_word, .find = find, .generated = generated,
					 .hotspot = a.has_vm ? &a.vm : NULL };
	const struct unwind_leaf leaf = { HVM_CODE + place % (HVM_BYTES - 0x10000),
					  STACK + sp % STACK_BYTES / 8 * 8, STACK + (sp >> 16) % STACK_BYTES };

	if (unwind_walk(&s, &leaf, pcs, FRAMES).n > FRAMES)
		abort();
	check_lines(data + HEAD, size - HEAD);
	return 0;
}
