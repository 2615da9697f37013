/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules read from code: of functions written byte by byte, and of all functions of the C library and of
 * libcrypto that have entries. There each rule that was read must be the entry's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/buf.h"
#include "tests/fixtures/unwind/cfi_oracle.h"
#include "user/unwind/asmcode.h"
#include "user/unwind/elftext.h"
#include "user/unwind/table.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void add_text(void *ctx, uint64_t at, const struct er_unwind_rule *rule)
{
	if (rule->cfa == ER_CFA_NO_ENTRY)
		buf_printf(ctx, " %d:none", (int)at);
	else
		buf_printf(ctx, rule->bp ? " %d:%d bp%d" : " %d:%d", (int)at, (int)rule->cfa_off, (int)rule->bp_off);
}

/* `code` in hexadecimal digits; spaces are allowed. Returns the number of bytes. */
static size_t bytes_of(const char *code, unsigned char *ret)
{
	unsigned value;
	size_t n = 0;

	for (; *code; code += 2) {
		while (*code == ' ')
			code++;
		assert_int_equal(sscanf(code, "%2x", &value), 1);
		ret[n++] = value;
	}
	return n;
}

/* The rows are "OFFSET:CFA" or "OFFSET:CFA bp-SLOT"; NULL: the function must be refused. */
static const struct {
	const char *code, *rows;
} functions[] = {
	{ "c3", " 0:8" },
	{ "f30f1efa 89c8 c3", " 0:8" },
	{ "53 5b c3", " 0:8 1:16 2:8" },
	{ "55 5d c3", " 0:8 1:16 bp-16 2:8" },
	{ "4155 55 bd01000000 5d 415d c3", " 0:8 2:16 3:24 bp-24 9:16 11:8" },
	{ "4883ec28 4883c428 c3", " 0:8 4:48 8:8" },
	{ "4881ec28000100 4881c428000100 c3", " 0:8 7:65584 14:8" },
	{ "6a01 6801000000 ff30 9c 9d 4883c418 c3", " 0:8 2:16 7:24 9:32 10:40 11:32 15:8" },
	/* a loop, and a path that does not return; behind it is what no path leads to */
	{ "53 ffc8 75fc 5b c3", " 0:8 1:16 6:8" },
	{ "53 7401 cc 5b c3 90 90", " 0:8 1:16 5:8 6:none" },
	{ "eb02 9090 c3", " 0:8 2:none 4:8" },
	/* other functions: called, and called at the end */
	{ "50 e800010000 58 c3", " 0:8 1:16 7:8" },
	{ "e900010000", " 0:8" },
	{ "50 e900010000", NULL },
	{ "50 e8faffffff 58 c3", " 0:8 1:16 7:8" }, /* itself, from its beginning */
	/* not understood: the code calls a part of itself, jumps somewhere, changes rsp or rbp, is cut, ... */
	{ "e800000000 58 c3", NULL },
	{ "e801000000 c3 c3", NULL },
	{ "ffe0", NULL },
	{ "ff25 00000000", NULL },
	{ "4889e5 c3", NULL },
	{ "4889ec c3", NULL },
	{ "4883e4f0 c3", NULL },
	{ "488d642408 c3", NULL },
	{ "bd01000000 c3", NULL },
	{ "4889c5 c3", NULL },
	{ "0fcd c3", NULL },
	{ "4895 c3", NULL },
	{ "c9 c3", NULL },
	{ "5c c3", NULL },
	{ "94 c3", NULL },
	{ "8f00 c3", NULL },
	{ "50 c3", NULL },
	{ "58 c3", NULL },
	{ "55 58 c3", NULL }, /* rbp is lost */
	{ "55 53 5d 58 c3", NULL }, /* rbx's value is in it */
	{ "90", NULL },
	{ "48", NULL },
	{ "e9", NULL },
	{ "7401 50 c3", NULL }, /* two paths with different frames */
	{ "7a80 c3", " 0:8" },  /* a branch to another function */
	{ "c20800", NULL },
	{ "0f0b", " 0:8" },
	{ "c4e2d3f7e8 c3", NULL }, /* shlx %rbp,... : rbp by VEX.vvvv or by ModRM */
	{ "c4e2d3f6c1 c3", NULL }, /* mulx to rbp: by VEX.vvvv only, */
	{ "c4e2fbf6ea c3", NULL }, /* and by ModRM only */
	{ "55 c4e2fbf6ea 5d c3", " 0:8 1:16 bp-16 7:8" },
};

static void of_bytes(void **state)
{
	for (size_t i = 0; i < COUNT(functions); i++) {
		unsigned char code[64];
		size_t n = bytes_of(functions[i].code, code);
		struct buf rows = { 0 };
		bool ok = asmcode_rules(code, n, add_text, &rows);

		print_message("%s\n", functions[i].code);
		assert_int_equal(ok, functions[i].rows != NULL);
		if (ok)
			assert_string_equal(rows.data, functions[i].rows);
		else
			assert_int_equal(rows.len, 0);
		buf_free(&rows);
	}
}

/* Any bytes: nothing is read or written outside. */
static void of_random_bytes(void **state)
{
	uint32_t x = 1;

	for (int i = 0; i < 20000; i++) {
		size_t n = 1 + i % 200;
		unsigned char *code = malloc(n);
		struct buf rows = { 0 };

		for (size_t k = 0; k < n; k++)
			code[k] = (x = x * 1664525 + 1013904223) >> 24;
		asmcode_rules(code, n, add_text, &rows);
		buf_free(&rows);
		free(code);
	}
	assert_false(asmcode_rules((const unsigned char *)"", 0, add_text, NULL));
}

/* A function of this program without an entry, and one that cannot be understood. */
__asm__(".pushsection .text\n"
	".type asm_plain, @function\n"
	"asm_plain: push %rbx\n"
	"	pop %rbx\n"
	"	ret\n"
	".size asm_plain, . - asm_plain\n"
	".p2align 4\n"
	".type asm_odd, @function\n"
	"asm_odd: and $-16, %rsp\n"
	"	ret\n"
	".size asm_odd, . - asm_odd\n"
	".popsection\n");
void asm_plain(void);
void asm_odd(void);

struct comparison {
	const struct unwind_table *t;
	uint64_t begin; /* of the function in the file */
	size_t rows, wrong;
};

/*
 * Whether both say the same. Behind pop %rbp, GCC's entries may go on to name the slot, which is below rsp
 * then and still has the value.
 */
static bool agree(const struct er_unwind_rule *read, const struct er_unwind_rule *entry)
{
	bool popped = read->bp == ER_BP_SAME && entry->bp == ER_BP_CFA && -entry->bp_off > read->cfa_off;

	return read->cfa == entry->cfa && read->cfa_off == entry->cfa_off &&
	       (popped || (read->bp == entry->bp && read->bp_off == entry->bp_off));
}

static void compare_row(void *ctx, uint64_t at, const struct er_unwind_rule *rule)
{
	struct comparison *c = ctx;
	struct er_unwind_rule want;

	if (rule->cfa == ER_CFA_NO_ENTRY)
		return;
	assert_true(cfi_table_rule(c->t, c->begin + at, &want));
	c->rows++;
	if (agree(rule, &want))
		return;
	c->wrong++;
	print_message("offset 0x%llx: CFA %d %d, rbp %d %d; the entry has %d %d, %d %d\n",
		      (unsigned long long)(c->begin + at), rule->cfa, rule->cfa_off, rule->bp, rule->bp_off, want.cfa,
		      want.cfa_off, want.bp, want.bp_off);
}

struct file {
	unsigned char *map;
	size_t size;
	struct elftext elf;
	struct unwind_table t;
};

static struct file file_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct file f = { 0 };
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	f.size = st.st_size;
	f.map = mmap(NULL, f.size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	assert_ptr_not_equal(f.map, MAP_FAILED);
	assert_int_equal(elftext_open(&f.elf, f.map, f.size), 0);
	assert_int_equal(unwind_table_build(&(struct unwind_input){ .elf = f.map, .elf_size = f.size }, &f.t), 0);
	return f;
}

static void file_close(struct file *f)
{
	unwind_table_free(&f->t);
	munmap(f->map, f->size);
}

static void compare_file(const char *path, size_t *nread, size_t *nall)
{
	struct file f = file_open(path);
	struct comparison c = { .t = &f.t };
	struct elftext_functions it = { 0 };
	uint64_t addr, size;

	while (elftext_next_function(&f.elf, &it, &addr, &size)) {
		struct er_unwind_rule first;

		if (!elftext_offset(&f.elf, addr, &c.begin) || !cfi_table_rule(&f.t, c.begin, &first) ||
		    first.cfa != ER_CFA_SP || first.cfa_off != 8 || size > f.size - c.begin)
			continue;
		++*nall;
		*nread += asmcode_rules(f.map + c.begin, size, compare_row, &c);
	}
	print_message("%s: %zu rows\n", path, c.rows);
	assert_int_equal(c.wrong, 0);
	file_close(&f);
}

/* The rule `at` bytes behind this function's beginning, in this program's file. */
static struct er_unwind_rule rule_in(const struct file *f, void (*fn)(void), unsigned at)
{
	uintptr_t base = getauxval(AT_PHDR) - sizeof(Elf64_Ehdr);
	const Elf64_Ehdr *h = (const void *)f->map;
	struct er_unwind_rule ret;
	uint64_t off;

	assert_int_equal(h->e_phoff, sizeof(*h)); /* so the program headers tell where the file is */
	assert_true(elftext_offset(&f->elf, (uintptr_t)fn - base, &off));
	assert_true(cfi_table_rule(&f->t, off + at, &ret));
	return ret;
}

static void of_table(void **state)
{
	struct file f = file_open("/proc/self/exe");

	assert_int_equal(rule_in(&f, asm_plain, 0).cfa_off, 8);
	assert_int_equal(rule_in(&f, asm_plain, 1).cfa_off, 16);
	assert_int_equal(rule_in(&f, asm_plain, 2).cfa_off, 8);
	assert_int_equal(rule_in(&f, asm_odd, 0).cfa, ER_CFA_NO_ENTRY);
	file_close(&f);
}

static void of_files(void **state)
{
	static const char *const paths[] = { "/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
					     "/usr/lib/x86_64-linux-gnu/libelf.so.1", "/usr/lib/x86_64-linux-gnu/libz.so.1" };
	size_t nread = 0, nall = 0;

	for (size_t i = 0; i < COUNT(paths); i++) {
		if (!access(paths[i], R_OK))
			compare_file(paths[i], &nread, &nall);
	}
	print_message("%zu of %zu functions\n", nread, nall);
	if (!nall)
		skip();
	assert_true(nread * 2 > nall);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(of_bytes), cmocka_unit_test(of_random_bytes),
					   cmocka_unit_test(of_table), cmocka_unit_test(of_files) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
