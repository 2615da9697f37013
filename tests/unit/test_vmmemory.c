/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walks copied stacks with code of a Java VM, whose description is read in the process when the walk needs it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "loaders/unwind.h"
#include "tests/fixtures/unwind/hotspot_vm.h"
#include "user/space/space.h"
#include "user/unwind/rawwalk.h"
#include "user/unwind/vmmemory.h"

enum {
	STACK = 0x60000000,
	WORDS = 6,  /* of the method's frame, with the return address */
	COMPLETE = 12,
	NOBODY = 5000000, /* no process */
};

#define METHOD (HVM_METHOD + HVM_HEADER)
#define INSIDE (METHOD + 20)
#define RETURNS (METHOD + 29)

static const unsigned char code[] = {
	0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff,       /* mov %eax,-0x14000(%rsp) */
	0x55, 0x48, 0x83, 0xec, 0x20,                   /* 7: push %rbp; sub */
	0x48, 0x8b, 0x43, 0x10, 0x90, 0x90, 0x90, 0x90, /* 12: the body */
	0x48, 0x8b, 0x43, 0x10,                         /* 20 */
	0xe8, 0x10, 0x00, 0x00, 0x00,                   /* 24: call */
	0x48, 0x83, 0xc4, 0x20, 0x5d, 0xc3,             /* 29: add; pop %rbp; ret */
};

static struct hvm vm;
static struct hvm_answer a;
static struct unwind_maps tables;
static struct space *space;

static int begin(void **state)
{
	static size_t total;
	const uint64_t pc = METHOD;
	void *at = mmap((void *)HVM_BASE, HVM_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	assert_ptr_equal(at, (void *)HVM_BASE);
	hvm_make(&vm, at, HVM_17);
	memset(hvm_at(&vm, METHOD), 0x90, 256);
	memcpy(hvm_at(&vm, METHOD), code, sizeof(code));
	hvm_frame(&vm, HVM_METHOD, HVM_17, WORDS, COMPLETE);
	assert_int_equal(hvm_ask(&vm, &pc, 1, &a), 0);
	assert_true(a.has_vm);
	space = space_new(&total);
	vec_push(&space->generated, (struct generated){ HVM_CODE, HVM_BASE + HVM_BYTES });
	return 0;
}

static int end(void **state)
{
	space_put(space);
	return munmap((void *)HVM_BASE, HVM_BYTES);
}

/*
 * A stack of two frames of the method, whose caller is nowhere. Its frame pointer seems to hold and leads past
 * the first caller.
 */
static struct walk walk(uint64_t ip, struct vm_memory *memory)
{
	static struct {
		struct er_raw head;
		uint64_t words[4 * WORDS];
	} raw;
	struct walk_source src = { .maps = &tables, .space = space, .vm = memory };
	struct walk ret;

	memset(&raw, 0, sizeof(raw));
	memset(raw.words, 0x11, sizeof(raw.words));
	raw.head.regs[ER_DWARF_RIP] = ip;
	raw.head.regs[ER_DWARF_RSP] = STACK;
	raw.head.regs[ER_DWARF_RBP] = STACK + (2 * WORDS - 2) * 8;
	raw.head.nbytes = sizeof(raw.words);
	raw.words[WORDS - 1] = RETURNS;
	raw.words[2 * WORDS - 2] = 0;
	raw.words[2 * WORDS - 1] = RETURNS + 0x100;
	raw.words[3 * WORDS - 1] = 0;
	memcpy(hvm_at(&vm, RETURNS + 0x100 - 5), code + 24, 5);
	walk_raw(&src, &raw.head, false, &ret);
	return ret;
}

static void test_frames_have_the_sizes_that_the_vm_says(void **state)
{
	struct vm_memory *m = vm_memory_new(getpid(), HVM_BASE, &a.vm);
	struct walk w = walk(INSIDE, m);

	assert_int_equal(w.end, ER_END_RA_ZERO);
	assert_int_equal(w.n, 3);
	assert_true(w.frames[0] == INSIDE && w.frames[1] == RETURNS && w.frames[2] == RETURNS + 0x100);
	assert_true(w.wants_vm);
	assert_false(w.guessed);
	vm_memory_free(m);
}

/* A VM that cannot be read, and code that the VM does not know any more. */
static void test_guesses_are_marked(void **state)
{
	struct vm_memory *m = vm_memory_new(NOBODY, HVM_BASE, &a.vm);
	struct walk w = walk(INSIDE, m);

	assert_true(w.wants_vm && w.guessed);
	vm_memory_free(m);
	m = vm_memory_new(getpid(), HVM_BASE, &a.vm);
	memset(hvm_at(&vm, HVM_FREE + HVM_HEADER), 0x90, 64);
	w = walk(HVM_FREE + HVM_HEADER + 32, m);
	assert_true(w.n >= 2 && w.guessed);
	vm_memory_free(m);
}

static void test_only_what_describes_the_vm_is_read(void **state)
{
	struct vm_memory *m = vm_memory_new(getpid(), HVM_BASE, &a.vm);
	uint64_t word, before;

	assert_true(vm_memory_has(m, HVM_METHOD) && vm_memory_has(m, a.vm.heaps[0].map) && vm_memory_has(m, HVM_BASE));
	assert_false(vm_memory_has(m, STACK) || vm_memory_has(m, (uintptr_t)&word) || vm_memory_has(m, HVM_BASE - 8));
	assert_true(vm_memory_read(m, METHOD + 3, &word)); /* in two units, if the header ends one */
	assert_memory_equal(&word, code + 3, sizeof(word));
	assert_true(vm_memory_read(m, HVM_CODE + 1020, &before));
	assert_memory_equal(&before, hvm_at(&vm, HVM_CODE + 1020), sizeof(before));
	hvm_put(&vm, HVM_CODE + 1020, ~before, 8);
	assert_true(vm_memory_read(m, HVM_CODE + 1020, &word)); /* as it was */
	assert_int_equal(word, before);
	hvm_put(&vm, HVM_CODE + 1020, before, 8);
	vm_memory_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames_have_the_sizes_that_the_vm_says),
		cmocka_unit_test(test_guesses_are_marked),
		cmocka_unit_test(test_only_what_describes_the_vm_is_read),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
