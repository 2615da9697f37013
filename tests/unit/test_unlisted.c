/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that no symbol table has: linkage entries, those of stripped Go programs. */
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
#include "analysis/base/diag.h"
#include "analysis/symbols/symtab.h"

static const struct symtab_opts no_debug = { .debug_root = "" };

/* This program calls memfd_create of libc, through an entry that no symbol table has. */
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

/* A function that another one chooses when the program is loaded has an entry without a symbol. */
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
	fd = open(path, O_RDONLY | O_CLOEXEC); /* the linker made a new one */
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

/* --- Go --- */

static void check_name(const struct symtab *t, const char *name, uint64_t size)
{
	size_t n;
	const struct sym *s = symtab_syms(t, &n), *found = NULL;

	for (size_t i = 0; i < n; i++)
		if (!strcmp(s[i].name, name))
			found = &s[i];
	assert_non_null(found);
	assert_int_equal(found->size, size);
}

static const char go_program[] =
	"\t.text\n\t.skip 64, 0x90\n"
	"\t.section .gopclntab,\"a\"\nT:\t.long 0xfffffff0\n\t.byte 0, 0, 1, 8\n"
	"\t.quad 2, 0, 0, names - T, 0, 0, 0, funcs - T\n"
	"names:\t.byte 0\nn1:\t.asciz \"main.main\"\nn2:\t.asciz \"main.(*T).Read\"\n"
	"funcs:\t.long 0, d1 - funcs, 32, d2 - funcs, 64\n"
	"d1:\t.long 0, n1 - names\nd2:\t.long 32, n2 - names\n";

/* A copy of a file's bytes in memory, open. */
static int memory_file(const char *p, size_t size)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	assert_int_equal(write(fd, p, size), size);
	return fd;
}

/* A stripped Go program has names; where its table is damaged, fewer. */
static void test_go(void **state)
{
	char dir[] = "/tmp/er_unit_go_XXXXXX", elf[64 * 1024];
	__cleanup(freep) char *command = NULL, *path = NULL;
	const char *table;
	struct symtab *t;
	ssize_t size;
	int fd;

	assert_non_null(mkdtemp(dir));
	path = xasprintf("%s/go", dir);
	command = xasprintf("cd %s && cat >go.s <<'END' && gcc -nostdlib -static -Wl,-e0 -s -o go "
			    "go.s\n%sEND\n",
			    dir, go_program);
	assert_int_equal(system(command), 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	size = read(fd, elf, sizeof(elf));
	t = symtab_open(fd, &no_debug, NULL);
	assert_non_null(t);
	assert_string_equal(symtab_source(t), "Go's table");
	check_name(t, "main.main", 32);
	check_name(t, "main.(*T).Read", 32);
	symtab_free(t);
	close(fd);
	table = memmem(elf, size, "\xf0\xff\xff\xff\0\0\1\x08", 8);
	assert_non_null(table);
	for (size_t i = table - elf; i < (size_t)size; i++) {
		struct diag d = { 0 };
		char was = elf[i];

		elf[i] ^= 0xff;
		fd = memory_file(elf, size);
		symtab_free(symtab_open(fd, &no_debug, &d));
		diag_free(&d);
		close(fd);
		elf[i] = was;
	}
	free(command);
	command = xasprintf("rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plt),
		cmocka_unit_test(test_plt_of_chosen_functions),
		cmocka_unit_test(test_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
