/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <gelf.h>
#include <lzma.h>
#include <zlib.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/symbols/symfile.h"
#include "analysis/symbols/symtab.h"
#include "tests/fixtures/elf_image.h"

static const struct image_sym syms[] = {
	{ "label", 0x1010, 0, STB_LOCAL, STT_NOTYPE },
	{ "zlocal", 0x1100, 0x20, STB_LOCAL, STT_FUNC },
	{ "inner", 0x1310, 0x10, STB_LOCAL, STT_FUNC },
	{ "innermost", 0x1314, 4, STB_LOCAL, STT_FUNC },
	{ "_foo", 0x1000, 0x40, STB_GLOBAL, STT_FUNC },
	{ "foo", 0x1000, 0x40, STB_WEAK, STT_FUNC },
	{ "afoo@@VERS_2", 0x1000, 0x30, STB_GLOBAL, STT_FUNC },
	{ "alocal", 0x1100, 0x20, STB_GLOBAL, STT_FUNC },
	{ "zlocal.localalias", 0x1100, 0x20, STB_GLOBAL, STT_FUNC },
	{ "sizeless", 0x1200, 0, STB_GLOBAL, STT_FUNC },
	{ "outer", 0x1300, 0x100, STB_GLOBAL, STT_FUNC },
	{ "entry", 0x1380, 0, STB_GLOBAL, STT_FUNC },
	{ "asm_entry", 0x1400, 0, STB_GLOBAL, STT_NOTYPE },
	{ "object", 0x1480, 8, STB_GLOBAL, STT_OBJECT },
	{ "chosen", 0x1500, 0x10, STB_GLOBAL, STT_GNU_IFUNC },
	{ "too_long", 0x1f00, UINT32_MAX, STB_GLOBAL, STT_FUNC },
	{ "etext", 0x2000, 0, STB_GLOBAL, STT_NOTYPE },
	{ "outside", 0x9000, 0x10, STB_GLOBAL, STT_FUNC },
};

static const struct image whole = { .syms = syms,
				    .nsyms = sizeof(syms) / sizeof(*syms),
				    .build_id = "\x12\xab\xff" };
static const struct symtab_opts no_debug = { .debug_root = "" };

static struct symtab *open_image(const struct image *im, const struct symtab_opts *o,
				 struct diag *d)
{
	int fd = elf_image(im);
	struct symtab *t = symtab_open(fd, o, d);

	close(fd);
	return t;
}

static void check(const struct symtab *t, uint64_t addr, const char *name)
{
	const struct sym *s = symtab_find(t, addr);

	if (!name) {
		assert_null(s);
		return;
	}
	assert_non_null(s);
	assert_string_equal(s->name, name);
	assert_true(addr - s->addr < s->size);
}

static void check_names(const struct symtab *t)
{
	const struct sym *s = symtab_find(t, 0x1000);

	check(t, 0xfff, NULL);
	check(t, 0x1000, "foo");
	assert_string_equal(s->aliases, "afoo _foo");
	assert_int_equal(s->size, 0x40);
	check(t, 0x1040, NULL);
	check(t, 0x1110, "alocal"); /* global before local; a compiler's name after plain ones */
	assert_string_equal(symtab_find(t, 0x1110)->aliases, "zlocal.localalias zlocal");
	check(t, 0x1120, NULL);
	check(t, 0x12ff, "sizeless"); /* up to the next */
	check(t, 0x130f, "outer");
	check(t, 0x1310, "inner");
	check(t, 0x1315, "innermost");
	check(t, 0x1318, "inner");
	check(t, 0x1320, "outer");
	check(t, 0x1380, "outer"); /* a label within it */
	check(t, 0x14ff, "asm_entry");
	check(t, 0x1500, "chosen");
	check(t, 0x1510, NULL);
	check(t, 0x1fff, "too_long"); /* cut at the end of its section */
	check(t, 0x2000, NULL);
	check(t, 0x9000, NULL);
	check(t, UINT64_MAX, NULL);
}

static void test_names(void **state)
{
	struct diag d = { 0 };
	struct symtab *t = open_image(&whole, &no_debug, &d);

	assert_non_null(t);
	check_names(t);
	assert_string_equal(symtab_build_id(t), "12abff");
	assert_string_equal(symtab_source(t), "symtab");
	symtab_free(t);
	symtab_free(NULL);
	assert_int_equal(d.nerrors + d.nwarnings, 0);
}

static void test_classes(void **state)
{
	static const int classes[] = { ELFCLASS32, ELFCLASS64 };
	static const int orders[] = { ELFDATA2LSB, ELFDATA2MSB };

	for (int i = 0; i < 4; i++) {
		struct image im = whole;
		struct diag d = { 0 };
		struct symtab *t;

		im.class = classes[i / 2];
		im.data = orders[i % 2];
		im.build_id = NULL;
		t = open_image(&im, &no_debug, &d);
		assert_non_null(t);
		check_names(t);
		assert_null(symtab_build_id(t));
		symtab_free(t);
		diag_free(&d);
	}
}

static void test_places(void **state)
{
	struct symtab *t = open_image(&whole, &no_debug, NULL);
	uint64_t start, end;
	bool known;

	assert_non_null(t);
	assert_int_equal(symtab_vaddr(t, IMAGE_OFFSET), IMAGE_TEXT);
	assert_int_equal(symtab_vaddr(t, IMAGE_OFFSET + 0x123), IMAGE_TEXT + 0x123);
	assert_true(symtab_vaddr(t, IMAGE_OFFSET - 1) == (uint64_t)-1);
	assert_true(symtab_vaddr(t, IMAGE_OFFSET + IMAGE_TEXT_SIZE + 16) == (uint64_t)-1);
	assert_false(symtab_gap(t, 0x1000, &start, &end, &known));
	assert_false(symtab_gap(t, 0x8000, &start, &end, &known));
	assert_true(symtab_gap(t, 0x1050, &start, &end, &known));
	assert_int_equal(start, 0x1040);
	assert_int_equal(end, 0x1100);
	assert_true(symtab_gap(t, 0x2004, &start, &end, &known));
	assert_int_equal(start, 0x2000);
	assert_int_equal(end, 0x2010);
	symtab_free(t);
}

static void test_none(void **state)
{
	const struct image empty = { 0 };
	struct symtab *t = open_image(&empty, NULL, NULL);
	uint64_t start, end;
	bool known;
	size_t n;

	assert_non_null(t);
	symtab_syms(t, &n);
	assert_int_equal(n, 0);
	assert_null(symtab_find(t, 0x1000));
	assert_true(symtab_gap(t, 0x1800, &start, &end, &known));
	assert_int_equal(start, 0x1000);
	assert_int_equal(end, 0x2000);
	symtab_free(t);
}

static void test_dynsym(void **state)
{
	struct image im = whole;
	struct symtab *t;

	im.symtab_type = SHT_DYNSYM;
	t = open_image(&im, &no_debug, NULL);
	assert_non_null(t);
	check_names(t);
	assert_string_equal(symtab_source(t), "dynsym");
	symtab_free(t);
}

static void check_refused(const void *p, size_t n)
{
	int fd = memfd_create("refused", MFD_CLOEXEC);
	struct diag d = { 0 };

	assert_int_equal(write(fd, p, n), n);
	assert_null(symtab_open(fd, &no_debug, &d));
	assert_int_equal(d.nerrors, 1);
	diag_free(&d);
	close(fd);
}

static void test_refused(void **state)
{
	check_refused("", 0);
	check_refused("#!/bin/sh\n", 10);
	check_refused("\177ELF", 4);
	check_refused("\177ELF\2\1\1", 7);
	check_refused("!<arch>\n", 8);
	assert_null(symtab_open(-1, &no_debug, NULL));
}

/* --- debug files --- */

static char *fill_dir(const char *name, const struct image *im)
{
	char *dir = xstrdup("/tmp/test_symtab.XXXXXX"), *path;
	int fd = elf_image(im), out;
	char chunk[65536];
	ssize_t n = pread(fd, chunk, sizeof(chunk), 0);

	assert_non_null(mkdtemp(dir));
	for (const char *p = name; (p = strchr(p + 1, '/'));) {
		path = xasprintf("%s/%.*s", dir, (int)(p - name), name);
		assert_int_equal(mkdir(path, 0700), 0);
		free(path);
	}
	path = xasprintf("%s/%s", dir, name);
	out = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_int_equal(write(out, chunk, n), n);
	close(out);
	close(fd);
	free(path);
	return dir;
}

static void remove_dir(char *dir)
{
	__cleanup(freep) char *cmd = xasprintf("rm -r '%s'", dir);

	assert_int_equal(system(cmd), 0);
	free(dir);
}

static void test_debug_by_build_id(void **state)
{
	const struct image stripped = { .build_id = "\x12\xab\xff" };
	const struct image other = { .build_id = "\x12\xab\xfe" };
	char *dir = fill_dir(".build-id/12/abff.debug", &whole);
	const struct symtab_opts o = { .debug_root = dir };
	struct symtab *t = open_image(&stripped, &o, NULL);
	size_t n;

	assert_non_null(t);
	check_names(t);
	assert_non_null(strstr(symtab_source(t), "abff.debug"));
	symtab_free(t);

	t = open_image(&other, &o, NULL);
	symtab_syms(t, &n);
	assert_int_equal(n, 0);
	symtab_free(t);
	remove_dir(dir);
}

/* An archive may have been made where the debug file was not installed. */
static void test_symbol_file_and_debug_file(void **state)
{
	static const struct image_sym one = { "exported", 0x1f00, 16, STB_GLOBAL, STT_FUNC };
	const struct image stripped = { .build_id = "\x12\xab\xff", .syms = &one, .nsyms = 1,
					.symtab_type = SHT_DYNSYM };
	char *dir = fill_dir(".build-id/12/abff.debug", &whole);
	const struct symtab_opts o = { .debug_root = dir };
	int fd = elf_image(&stripped), archived = memfd_create("archived", MFD_CLOEXEC);
	struct diag d = { 0 };
	struct symtab *t;

	assert_int_equal(symfile_write(fd, archived, &no_debug, &d), 0);
	t = symtab_open(archived, &no_debug, &d);
	check(t, 0x1f00, "exported");
	check(t, 0x1000, NULL);
	symtab_free(t);
	t = symtab_open(archived, &o, &d);
	check_names(t);
	assert_int_equal(d.nmsgs, 0);
	symtab_free(t);
	close(archived);
	close(fd);
	remove_dir(dir);
}

/* A file with the right name but another build id does not belong to the binary. */
static void test_debug_of_another_build(void **state)
{
	const struct image stripped = { .build_id = "\x12\xab\xfe" };
	char *dir = fill_dir(".build-id/12/abfe.debug", &whole);
	const struct symtab_opts o = { .debug_root = dir };
	struct diag d = { 0 };
	struct symtab *t = open_image(&stripped, &o, &d);

	assert_non_null(t);
	check(t, 0x1000, NULL);
	assert_int_equal(d.nwarnings, 1);
	symtab_free(t);
	diag_free(&d);
	remove_dir(dir);
}

static uint32_t image_crc(const struct image *im)
{
	unsigned char chunk[65536];
	int fd = elf_image(im);
	ssize_t n = pread(fd, chunk, sizeof(chunk), 0);

	close(fd);
	return crc32(0, chunk, n);
}

static void test_debuglink(void **state)
{
	struct image debug = whole, stripped = { .debuglink = "x.debug" };
	char *dir = NULL, *path;
	struct symtab_opts o = { .debug_root = "/nonexistent" };
	struct diag d = { 0 };
	struct symtab *t;

	debug.build_id = NULL;
	dir = fill_dir(".debug/x.debug", &debug);
	o.path = path = xasprintf("%s/x", dir);
	stripped.debuglink_crc = image_crc(&debug);
	t = open_image(&stripped, &o, &d);
	assert_non_null(t);
	check_names(t);
	symtab_free(t);
	assert_int_equal(d.nwarnings, 0);

	stripped.debuglink_crc++;
	t = open_image(&stripped, &o, &d);
	check(t, 0x1000, NULL);
	assert_int_equal(d.nwarnings, 1);
	symtab_free(t);

	stripped.debuglink = "../.debug/x.debug"; /* names no path */
	stripped.debuglink_crc--;
	t = open_image(&stripped, &o, NULL);
	check(t, 0x1000, NULL);
	symtab_free(t);
	diag_free(&d);
	free(path);
	remove_dir(dir);
}

static size_t compress_xz(const void *p, size_t n, void *out, size_t max)
{
	size_t at = 0;

	assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, p, n, out, &at, max),
			 LZMA_OK);
	return at;
}

static void test_debugdata(void **state)
{
	static char chunk[65536], packed[65536], zeros[32 << 20];
	int fd = elf_image(&whole);
	ssize_t n = pread(fd, chunk, sizeof(chunk), 0);
	struct image im = { .debugdata = packed };
	struct diag d = { 0 };
	struct symtab *t;

	close(fd);
	im.debugdata_size = compress_xz(chunk, n, packed, sizeof(packed));
	t = open_image(&im, &no_debug, &d);
	assert_non_null(t);
	check_names(t);
	assert_string_equal(symtab_source(t), ".gnu_debugdata");
	symtab_free(t);
	assert_int_equal(d.nwarnings, 0);

	/* A decompression bomb, and a damaged one. */
	im.debugdata_size = compress_xz(zeros, sizeof(zeros), packed, sizeof(packed));
	symtab_free(open_image(&im, &no_debug, &d));
	assert_int_equal(d.nwarnings, 1);
	im.debugdata_size /= 2;
	symtab_free(open_image(&im, &no_debug, &d));
	assert_int_equal(d.nwarnings, 2);
	diag_free(&d);
}

/* --- hostile files --- */

static void use(int fd)
{
	struct symtab *t = symtab_open(fd, &no_debug, NULL);
	uint64_t start, end;
	bool known;

	for (uint64_t a = 0xff0; t && a < 0x2040; a += 0x10) {
		const struct sym *s = symtab_find(t, a);

		if (s)
			assert_true(strlen(s->name) > 0 && a - s->addr < s->size);
		symtab_gap(t, a, &start, &end, &known);
		symtab_vaddr(t, a);
	}
	symtab_free(t);
}

static void test_flipped_bytes(void **state)
{
	static const unsigned char values[] = { 0, 1, 0x7f, 0x80, 0xff };
	static unsigned char chunk[65536];
	int fd = elf_image(&whole);
	ssize_t n = pread(fd, chunk, sizeof(chunk), 0);

	/*
	 * Damage the headers and all bytes after the code. The zeros in between have no structure.
	 */
	for (ssize_t i = 0; i < n; i = i == IMAGE_OFFSET ? IMAGE_OFFSET + IMAGE_TEXT_SIZE : i + 1)
		for (size_t v = 0; v < sizeof(values); v++) {
			assert_int_equal(pwrite(fd, &values[v], 1, i), 1);
			use(fd);
			assert_int_equal(pwrite(fd, &chunk[i], 1, i), 1);
		}
	close(fd);
}

static void test_cut_short(void **state)
{
	int fd = elf_image(&whole);
	off_t size = lseek(fd, 0, SEEK_END);

	while (size > 0) {
		size -= size > 0x1300 ? 7 : 101;
		assert_int_equal(ftruncate(fd, size > 0 ? size : 0), 0);
		use(fd);
	}
	close(fd);
}

/* 2,000 nested functions: a lookup gives up instead of visiting them all. */
static void test_nested(void **state)
{
	enum { N = 2000 };
	static struct image_sym nest[N];
	struct image im = { .syms = nest, .nsyms = N };
	struct symtab *t;

	for (int i = 0; i < N; i++)
		nest[i] = (struct image_sym){ "f", 0x1000 + i, 4096 - 2 * i, STB_GLOBAL, STT_FUNC };
	t = open_image(&im, &no_debug, NULL);
	assert_non_null(t);
	check(t, 0x1000 + N - 1, "f");
	check(t, 0x1ffe, NULL);
	symtab_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_dynsym),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_debug_by_build_id),
		cmocka_unit_test(test_symbol_file_and_debug_file),
		cmocka_unit_test(test_debug_of_another_build),
		cmocka_unit_test(test_debuglink),
		cmocka_unit_test(test_debugdata),
		cmocka_unit_test(test_flipped_bytes),
		cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_nested),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
