/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a hostile file can make readers of symbols do is limited: memory, and time for checksums. */
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
#include <gelf.h>
#include <zlib.h>

#include "analysis/base/alloc.h"
#include "analysis/symbols/symtab.h"
#include "tests/fixtures/elf_image.h"
#include "tests/fixtures/tempdir.h"

static const struct symtab_opts no_debug = { .debug_root = "" };

enum { MB = 1 << 20, CHUNK = 4096, MANY = (4 << 20) + 1 };

static const struct image_sym one = { "first", 0x1000, 16, STB_GLOBAL, STT_FUNC };

/* Let the file's table of symbols be elsewhere and this large. Returns its first header. */
static Elf64_Shdr move_table(int fd, off_t at, size_t size)
{
	Elf64_Ehdr eh;
	Elf64_Shdr sh = { 0 };

	assert_int_equal(pread(fd, &eh, sizeof(eh), 0), sizeof(eh));
	for (int i = 0; i < eh.e_shnum; i++) {
		off_t header = eh.e_shoff + i * sizeof(sh);
		Elf64_Shdr was;

		assert_int_equal(pread(fd, &sh, sizeof(sh), header), sizeof(sh));
		if (sh.sh_type != SHT_SYMTAB)
			continue;
		was = sh;
		sh.sh_offset = at;
		sh.sh_size = size;
		assert_int_equal(pwrite(fd, &sh, sizeof(sh), header), sizeof(sh));
		assert_int_equal(ftruncate(fd, at + size), 0);
		return was;
	}
	fail_msg("no table");
	return sh;
}

/* A hole that claims to be symbols would be read into memory. */
static void test_sparse(void **state)
{
	int fd = elf_image(&(struct image){ .syms = &one, .nsyms = 1 });

	move_table(fd, 4 * MB, 768UL * MB);
	assert_null(symtab_open(fd, &no_debug, NULL));
	close(fd);
}

/* One symbol too many: the last is left out. */
static void test_many(void **state)
{
	/* A long name makes the table of names large enough for so many. */
	__cleanup(freep) char *x = xcalloc(1, 3 * MB);
	const struct image_sym few[] = { { "first", 0x1000, 16, STB_GLOBAL, STT_FUNC },
					 { "last", 0x1800, 16, STB_GLOBAL, STT_FUNC },
					 { memset(x, 'x', 3 * MB - 1), 0, 8, STB_GLOBAL, STT_OBJECT } };
	const struct image im = { .syms = few, .nsyms = 3 };
	Elf64_Sym read[3], *table = calloc(CHUNK, sizeof(*table));
	int fd = elf_image(&im);
	Elf64_Shdr was = move_table(fd, 4 * MB, (MANY + 1UL) * sizeof(*read));
	struct symtab *t;

	assert_int_equal(pread(fd, read, sizeof(read), was.sh_offset), sizeof(read));
	for (size_t i = 0; i < CHUNK; i++)
		table[i] = read[1];
	for (size_t i = 1; i < MANY; i += CHUNK)
		pwrite(fd, table, CHUNK * sizeof(*table), 4 * MB + i * sizeof(*table));
	pwrite(fd, &read[2], sizeof(*read), 4 * MB + (off_t)MANY * sizeof(*read));
	t = symtab_open(fd, &no_debug, NULL);
	assert_non_null(t);
	assert_string_equal(symtab_find(t, 0x1000)->name, "first");
	assert_null(symtab_find(t, 0x1800));
	symtab_free(t);
	free(table);
	close(fd);
}

/* Checksums of debug files: once 4 GB were read, no more are computed. */
static void test_checksums(void **state)
{
	const char *dir = *state;
	struct image im = { .syms = &one, .nsyms = 1 }, stripped = { .debuglink = "x.debug" };
	__cleanup(freep) char *path = xasprintf("%s/x", dir), *file = xasprintf("%s.debug", path);
	const struct symtab_opts o = { .debug_root = "/nonexistent", .path = path };
	char bytes[65536];
	int fd = elf_image(&im), binary;
	ssize_t n = pread(fd, bytes, sizeof(bytes), 0);
	struct symtab *t;

	tempdir_write(dir, "x.debug", bytes, n);
	stripped.debuglink_crc = crc32(0, (unsigned char *)bytes, n);
	binary = elf_image(&stripped);
	t = symtab_open(binary, &o, NULL);
	assert_non_null(symtab_find(t, 0x1000));
	symtab_free(t);
	assert_int_equal(truncate(file, 1000L * MB), 0);
	for (int i = 0; i < 5; i++)
		symtab_free(symtab_open(binary, &o, NULL));
	assert_int_equal(truncate(file, n), 0);
	t = symtab_open(binary, &o, NULL);
	assert_null(symtab_find(t, 0x1000));
	symtab_free(t);
	close(binary);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sparse),
		cmocka_unit_test(test_many),
		TEMPDIR_CASE(test_checksums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
