/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that are in no symbol table: PLT entries, and functions of which only call frame
 * information gives the bounds. test_gotable.c has those of stripped Go programs.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/symbols/framestarts.h"
#include "analysis/symbols/symfile.h"
#include "analysis/symbols/symtab.h"

static const struct symtab_opts no_debug = { .debug_root = "" };

/* This program calls libc's memfd_create through a PLT entry, which is in no symbol table. */
static void test_plt(void **state)
{
#ifdef __x86_64__
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct symtab *t = symtab_open(fd, &no_debug, NULL);
	const struct sym *s, *found = NULL;
	size_t n;

	assert_non_null(t);
	s = symtab_syms(t, &n);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(s[i].name, "memfd_create@plt"))
			found = &s[i];
	assert_non_null(found);
	assert_ptr_equal(symtab_find(t, found->addr + found->size - 1), found);
	symtab_free(t);
	close(fd);
#else
	skip();
#endif
}

/* A function that is chosen when the program is loaded (IFUNC) has a PLT entry without a symbol. */
static void test_plt_of_chosen_functions(void **state)
{
#ifdef __x86_64__
	char path[] = "/tmp/er_unit_ifunc_XXXXXX";
	int fd = mkstemp(path);
	__cleanup(freep) char *command = xasprintf(
		"printf 'static int one(int x) { return x; }\nvoid *choose(void) { return one; }\n"
		"__attribute__((visibility(\"hidden\"), ifunc(\"choose\"))) int picked(int x);\n"
		"int work(void) { return picked(1) + 1; }\n' | "
		"gcc -O2 -fPIC -shared -nostdlib -x c -o %s -",
		path);
	const struct sym *s, *found = NULL;
	struct symtab *t;
	size_t n;

	assert_int_equal(system(command), 0);
	close(fd);
	fd = open(path, O_RDONLY | O_CLOEXEC); /* the linker has created a new file */
	t = symtab_open(fd, &no_debug, NULL);
	assert_non_null(t);
	s = symtab_syms(t, &n);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(s[i].name, "choose@plt") || !strcmp(s[i].name, "picked@plt"))
			found = &s[i];
	assert_non_null(found);
	symtab_free(t);
	close(fd);
	unlink(path);
#else
	skip();
#endif
}

/* A memory file with a copy of a file's bytes. */
static int memory_file(const char *p, size_t size)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	assert_int_equal(write(fd, p, size), size);
	return fd;
}

/* --- functions of stripped files --- */

/*
 * `first` and `third` have call frame information, `second` has none. `visible` has a symbol and
 * contains another one. `partly` has a symbol for its first half. The hand-written ranges begin
 * with third, inside it, inside visible, and at an address without code.
 */
static const char stripped_program[] =
	"\t.text\n"
	"first:\t.cfi_startproc\n\t.skip 0x30, 0x90\n\t.cfi_endproc\n"
	"second:\t.skip 0x10, 0x90\n"
	"third:\t.cfi_startproc\n\t.skip 0x40, 0x90\n\t.cfi_endproc\n"
	"\t.globl visible\n\t.type visible, @function\n"
	"visible:\t.cfi_startproc\n\t.skip 0x20, 0x90\n\t.cfi_endproc\n\t.size visible, 0x20\n"
	"\t.globl inner\n\t.type inner, @function\n\t.set inner, visible + 4\n\t.size inner, 4\n"
	"\t.globl partly\n\t.type partly, @function\n"
	"partly:\t.cfi_startproc\n\t.skip 0x20, 0x90\n\t.cfi_endproc\n\t.size partly, 0x10\n"
	"\t.section .debug_frame,\"\"\n"
	"cie:\t.long cie_end - . - 4, -1\n\t.byte 3, 0, 1, 0x78, 16\n\t.balign 4\ncie_end:\n"
	"\t.long 20, cie - cie\n\t.quad 0x900000, 8\n" /* no code */
	"\t.long 20, cie - cie\n\t.quad visible + 0x10, 8\n"
	"\t.long 20, cie - cie\n\t.quad third, 8\n"
	"\t.long 20, cie - cie\n\t.quad third + 0x20, 0x10\n";

enum {
	FIRST = 0,
	SECOND = 0x30,
	THIRD = 0x40,
	IN_THIRD = 0x60,
	BEHIND = 0x70,
	VISIBLE = 0x80,
	PARTLY = 0xa0,
	END = 0xc0
};

static void check_range(const struct symtab *t, uint64_t text, uint64_t at, uint64_t from,
			uint64_t to, bool is_known)
{
	uint64_t start, end;
	bool known;

	assert_true(symtab_gap(t, text + at, &start, &end, &known));
	assert_int_equal(start - text, from);
	assert_int_equal(end - text, to);
	assert_int_equal(known, is_known);
}

static void check_unnamed(int fd)
{
	struct symtab *t = symtab_open(fd, &no_debug, NULL);
	const struct elf_region *unnamed;
	const struct sym *visible;
	uint64_t text;
	size_t n;

	assert_non_null(t);
	visible = symtab_syms(t, &n);
	assert_int_equal(n, 3);
	text = visible->addr - VISIBLE;
	assert_null(symtab_find(t, text));
	check_range(t, text, FIRST, FIRST, SECOND, true);
	check_range(t, text, SECOND - 1, FIRST, SECOND, true);
	check_range(t, text, SECOND, SECOND, THIRD, false);
	check_range(t, text, THIRD, THIRD, IN_THIRD, true);
	check_range(t, text, IN_THIRD - 1, THIRD, IN_THIRD, true);
	check_range(t, text, IN_THIRD, IN_THIRD, BEHIND, true);
	check_range(t, text, BEHIND, BEHIND, VISIBLE, false);
	check_range(t, text, PARTLY + 0x10, PARTLY + 0x10, END, true);
	unnamed = symtab_unnamed(t, &n);
	assert_int_equal(n, 4);
	for (size_t i = 1; i < n; i++)
		assert_true(unnamed[i - 1].end <= unnamed[i].start);
	symtab_free(t);
}

/* Without section headers there are no symbols; the table of .eh_frame_hdr has the functions. */
static void check_without_sections(const char *elf, size_t size)
{
	const uint64_t none = 0;
	__cleanup(freep) char *copy = xmalloc(size);
	struct symtab *t;
	const struct elf_region *r;
	size_t n;
	int fd;

	memcpy(copy, elf, size);
	memcpy(copy + 40, &none, 8); /* e_shoff */
	memcpy(copy + 58, &none, 6); /* e_shentsize, e_shnum, e_shstrndx */
	fd = memory_file(copy, size);
	t = symtab_open(fd, &no_debug, NULL);
	assert_non_null(t);
	symtab_syms(t, &n);
	assert_int_equal(n, 0);
	r = symtab_unnamed(t, &n);
	assert_int_equal(n, 4);
	assert_int_equal(r[1].start - r[0].start, THIRD);
	assert_int_equal(r[3].end - r[0].start, END);
	symtab_free(t);
	close(fd);
}

static void test_unnamed(void **state)
{
#ifdef __x86_64__
	char dir[] = "/tmp/er_unit_unnamed_XXXXXX", elf[64 * 1024];
	__cleanup(freep) char *command = NULL, *path = NULL;
	int fd, out = memfd_create("symbols", MFD_CLOEXEC);
	ssize_t size;

	assert_non_null(mkdtemp(dir));
	path = xasprintf("%s/so", dir);
	command = xasprintf("cd %s && cat >so.s <<'END' && gcc -nostdlib -shared -o so so.s && "
			    "objcopy --strip-all --keep-section=.debug_frame so\n"
			    "%sEND\n",
			    dir, stripped_program);
	assert_int_equal(system(command), 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	check_unnamed(fd);
	assert_int_equal(symfile_write(fd, out,
				       &(struct symtab_opts){ .debug_root = "", .path = path },
				       NULL),
			 0);
	check_unnamed(out);
	size = read(fd, elf, sizeof(elf));
	check_without_sections(elf, size);
	close(out);
	close(fd);
	free(command);
	command = xasprintf("rm -r %s", dir);
	assert_int_equal(system(command), 0);
#else
	skip();
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plt),
		cmocka_unit_test(test_plt_of_chosen_functions),
		cmocka_unit_test(test_unnamed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
