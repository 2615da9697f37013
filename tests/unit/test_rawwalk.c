/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walks a raw stack of this program itself. Its functions note their return addresses. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/base/file.h"
#include "loaders/unwind.h"
#include "user/space/procfs.h"
#include "user/space/space.h"
#include "user/unwind/rawwalk.h"
#include "user/unwind/table.h"

enum { SELF = 1, LIBC = 2, DEPTH = 10, CHUNKS = 8 };

static struct {
	struct unwind_maps maps;
	struct space *space;
	size_t total;
} f;

static struct {
	struct er_raw head;
	uint64_t words[ER_RAW_BYTES / 8];
} raw;

static uint64_t returns[DEPTH + 2]; /* the innermost first */
static unsigned nreturns;

/* --- the stack that is walked --- */

/*
 * Copy the stack like BPF. This reads frames of other functions, which a sanitizer would not allow.
 */
static __attribute__((noinline, no_sanitize("address"))) void copy_stack(uint64_t sp)
{
	const volatile uint64_t *from = (const uint64_t *)sp;

	for (size_t i = 0; i < 4096 / 8; i++)
		raw.words[i] = from[i];
}

static __attribute__((noinline)) void take_raw(void)
{
	uint64_t sp;

	returns[nreturns++] = (uintptr_t)__builtin_return_address(0);
	__asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2\n\tmov %%rbx, %3"
			 : "=r"(raw.head.regs[ER_DWARF_RIP]), "=r"(sp), "=m"(raw.head.regs[ER_DWARF_RBP]),
			   "=m"(raw.head.regs[ER_DWARF_RBX]));
	raw.head.regs[ER_DWARF_RSP] = sp;
	raw.head.nbytes = 4096;
	copy_stack(sp);
}

static __attribute__((noinline)) void deeper(int left)
{
	volatile char room[64] = { left };

	if (left)
		deeper(left - 1);
	else
		take_raw();
	returns[nreturns++] = (uintptr_t)__builtin_return_address(0);
	room[1] = room[0];
}

/* --- tables --- */

static bool map_line(void *ctx, const struct maps_line *l)
{
	char self[256] = "";
	bool ours = readlink("/proc/self/exe", self, sizeof(self) - 1) > 0 && !strcmp(self, l->path);

	if (*l->path == '/')
		vec_push(&f.space->maps, (struct mapping){ .start = l->start, .len = l->end - l->start,
							   .pgoff = l->pgoff, .path = "/f",
							   .file = ours ? SELF : LIBC });
	return true;
}

static void put_table(const char *path, uint32_t file)
{
	struct er_unwind_file *to = &f.maps.files[file];
	struct unwind_input in = { 0 };
	struct unwind_table t;
	struct file elf;

	assert_int_equal(file_open_at(AT_FDCWD, path, &elf), 0);
	in.elf = elf.data;
	in.elf_size = elf.size;
	assert_int_equal(unwind_table_build(&in, &t), 0);
	assert_true(t.nwords < CHUNKS * ER_CHUNK_WORDS);
	for (size_t i = 0; i < t.nwords; i++)
		f.maps.chunks[i / ER_CHUNK_WORDS][i % ER_CHUNK_WORDS] = t.words[i];
	*to = t.file;
	to->state = ER_FILE_READY;
	unwind_table_free(&t);
	file_close(&elf);
}

static int begin(void **state)
{
	f.maps.files = calloc(ER_MAX_FILES, sizeof(*f.maps.files));
	for (int i = 0; i < CHUNKS; i++)
		f.maps.chunks[i] = calloc(ER_CHUNK_WORDS, sizeof(uint32_t));
	f.space = space_new(&f.total);
	procfs_code(getpid(), map_line, NULL);
	put_table("/proc/self/exe", SELF);
	deeper(DEPTH - 1);
	return 0;
}

static int end(void **state)
{
	for (int i = 0; i < CHUNKS; i++)
		free(f.maps.chunks[i]);
	free(f.maps.files);
	space_put(f.space);
	return 0;
}

static struct walk walk(bool untabled)
{
	struct walk_source src = { .maps = &f.maps, .space = f.space };
	struct walk ret;

	walk_raw(&src, &raw.head, untabled, &ret);
	return ret;
}

static uint64_t frame_of(uint64_t pc)
{
	vec_for_each(m, &f.space->maps)
		if (pc - m->start < m->len)
			return er_frame(m->file, m->pgoff + (pc - m->start));
	return 0;
}

/* --- cases --- */

static void test_callers_are_found(void **state)
{
	struct walk w = walk(false);

	assert_true(w.n > DEPTH + 1);
	assert_true(w.frames[0] == frame_of(raw.head.regs[ER_DWARF_RIP]));
	for (unsigned i = 0; i <= DEPTH; i++)
		assert_true(w.frames[i + 1] == frame_of(returns[i]));
}

static void test_a_table_that_lacks_is_named(void **state)
{
	struct walk w = walk(false);

#ifdef __SANITIZE_ADDRESS__
	skip(); /* with a sanitizer there are other frames between the expected ones */
#endif

	assert_int_equal(w.end, ER_END_NO_TABLE);
	assert_non_null(w.lacking);
	assert_int_equal(w.lacking->file, LIBC);
	f.maps.files[LIBC].state = ER_FILE_EVICTED;
	assert_int_equal(walk(false).end, ER_END_EVICTED);
	f.maps.files[LIBC].state = ER_FILE_UNKNOWN;
}

/* The walk continues as far as it can, and says why it is not proven. */
static void test_without_a_table_by_frame_pointers(void **state)
{
	struct walk w;

	f.maps.files[SELF].state = ER_FILE_PENDING;
	w = walk(true);
	f.maps.files[SELF].state = ER_FILE_READY;
	assert_int_equal(w.end, ER_END_NO_TABLE);
	assert_int_equal(w.lacking->file, SELF);
}

static void test_a_copy_may_be_too_short(void **state)
{
	struct walk w;

	raw.head.nbytes = 512;
	w = walk(false);
	raw.head.nbytes = 4096;
	assert_int_equal(w.end, ER_END_SHORT);
	assert_true(w.n > 1 && w.n < DEPTH);
	assert_true(w.frames[1] == frame_of(returns[0]));
}

/* Either eight bytes are read or none. */
static void test_a_word_that_is_copied_in_part_is_not_read(void **state)
{
	uint64_t nbytes = raw.head.nbytes;
	struct walk w;
	size_t i = 0;

	while (raw.words[i] != returns[0])
		i++;
	raw.head.nbytes = i * 8 + 4;
	w = walk(false);
	raw.head.nbytes = nbytes;
	assert_int_equal(w.end, ER_END_SHORT);
	assert_int_equal(w.n, 1);
}

/* the code everywhere is call *%rax */
static bool only_calls(void *ctx, uint32_t file, uint64_t offset, uint64_t *ret)
{
	*ret = 0xd0ff000000000000;
	return true;
}

static void test_a_stack_deeper_than_frames_are_kept(void **state)
{
	static struct {
		struct er_raw head;
		uint64_t words[2 * 1000];
	} deep;
	struct walk_source src = { .maps = &f.maps, .space = f.space, .code = only_calls };
	uint64_t sp = 0x7000000000, n = sizeof(deep.words) / 8, pc = 0;
	struct walk w;

	vec_for_each(m, &f.space->maps)
		pc = m->file == LIBC ? m->start + 64 : pc;
	for (uint64_t i = 0; i + 3 < n; i += 2) {
		deep.words[i + 2] = sp + (i + 4) * 8;
		deep.words[i + 3] = pc;
	}
	deep.words[0] = 1;
	deep.head.regs[ER_DWARF_RIP] = pc;
	deep.head.regs[ER_DWARF_RSP] = sp;
	deep.head.regs[ER_DWARF_RBP] = sp + 16;
	deep.head.nbytes = sizeof(deep.words);
	f.maps.files[LIBC].state = ER_FILE_NO_CFI;
	walk_raw(&src, &deep.head, false, &w);
	assert_int_equal(w.end, ER_END_DEPTH);
	assert_int_equal(w.n, ER_UNWIND_USUAL);
	setenv("SP_COLLECTOR_STACKBUFSZ", "700", 1);
	walk_raw(&src, &deep.head, false, &w);
	unsetenv("SP_COLLECTOR_STACKBUFSZ");
	f.maps.files[LIBC].state = ER_FILE_UNKNOWN;
	assert_int_equal(w.end, ER_END_DEPTH);
	assert_int_equal(w.n, 700);
}

static void test_a_return_address_that_is_nowhere_is_no_frame(void **state)
{
	uint64_t *slot = NULL;
	struct walk w;

	for (size_t i = 0; i < raw.head.nbytes / 8 && !slot; i++)
		if (raw.words[i] == returns[1])
			slot = &raw.words[i];
	assert_non_null(slot);
	*slot = 0x1234;
	w = walk(false);
	*slot = returns[1];
	assert_int_equal(w.end, ER_END_NO_MAPPING);
	assert_int_equal(w.n, 2);
}

/*
 * A leaf in generated code, whose bytes before and at the pc are given. Its caller is generated
 * code that was not copied. That code's caller returns to 0.
 */
enum { GENERATED_CALLER = 0x3000 };

static const uint64_t generated_code = 0x600000000000;

static struct walk walk_generated(const char *before, const char *at, bool called, bool copied)
{
	static struct {
		struct er_raw head;
		uint64_t words[32];
	} g;
	struct walk_source src = { .maps = &f.maps, .space = f.space };
	uint64_t sp = 0x7000000000, pc = generated_code + 0x1000;
	struct walk ret;

	memset(&g, 0, sizeof(g));
	memset(g.head.code, 0x90, sizeof(g.head.code));
	memcpy(g.head.code + ER_RAW_CODE_BACK - strlen(before), before, strlen(before));
	memcpy(g.head.code + ER_RAW_CODE_BACK, at, strlen(at));
	g.head.code_at = copied ? pc - ER_RAW_CODE_BACK : 0;
	g.words[0] = called ? generated_code + GENERATED_CALLER : 1;
	g.words[8] = sp + 16 * 8; /* the leaf's frame */
	g.words[9] = generated_code + GENERATED_CALLER + 1;
	g.words[17] = 0;
	g.head.regs[ER_DWARF_RIP] = pc;
	g.head.regs[ER_DWARF_RSP] = sp;
	g.head.regs[ER_DWARF_RBP] = sp + 8 * 8;
	g.head.nbytes = sizeof(g.words);
	f.space->generated.len = 0;
	vec_push(&f.space->generated, (struct generated){ generated_code, pc + 0x10000 });
	walk_raw(&src, &g.head, false, &ret);
	f.space->generated.len = 0;
	return ret;
}

static void test_generated_code_by_its_copied_bytes(void **state)
{
	static const char push[] = "\x55\x48\x89\xe5", padding[] = "\xcc\xcc................";
	struct walk w = walk_generated(push, "\x89", false, true);

	assert_int_equal(w.end, ER_END_RA_ZERO);
	assert_int_equal(w.n, 2);
	assert_true(w.frames[0] == generated_code + 0x1000);
	assert_true(w.frames[1] == generated_code + GENERATED_CALLER + 1);
	assert_true(w.guessed);
	/* the word at sp is in generated code: the return address, unless the frame is made */
	w = walk_generated(padding, "\x89", true, true);
	assert_int_equal(w.n, 3);
	assert_true(w.frames[1] == generated_code + GENERATED_CALLER);
	w = walk_generated(push, "\x89", true, true);
	assert_int_equal(w.n, 2);
	w = walk_generated("", "\x89", true, true);
	assert_int_equal(w.end, ER_END_NO_CFI);
	w = walk_generated(push, "\x89", false, false);
	assert_int_equal(w.end, ER_END_FAULT);
	assert_int_equal(w.n, 1);
	assert_false(w.guessed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_callers_are_found),
		cmocka_unit_test(test_a_table_that_lacks_is_named),
		cmocka_unit_test(test_without_a_table_by_frame_pointers),
		cmocka_unit_test(test_a_copy_may_be_too_short),
		cmocka_unit_test(test_a_word_that_is_copied_in_part_is_not_read),
		cmocka_unit_test(test_a_stack_deeper_than_frames_are_kept),
		cmocka_unit_test(test_a_return_address_that_is_nowhere_is_no_frame),
		cmocka_unit_test(test_generated_code_by_its_copied_bytes),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
