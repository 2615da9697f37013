/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <gelf.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/symbols/archive.h"
#include "analysis/symbols/symtab.h"
#include "tests/fixtures/elf_image.h"

static const struct image_sym syms[] = {
	{ "zlocal", 0x1100, 0x20, STB_LOCAL, STT_FUNC },
	{ "helper", 0x1200, 0x20, STB_LOCAL, STT_FUNC },
	{ "_foo", 0x1000, 0x40, STB_GLOBAL, STT_FUNC },
	{ "foo", 0x1000, 0x40, STB_GLOBAL, STT_FUNC },
	{ "alocal", 0x1100, 0x20, STB_GLOBAL, STT_FUNC },
	{ "sizeless", 0x1300, 0, STB_GLOBAL, STT_FUNC },
	{ "fini", 0x2000, 0x10, STB_GLOBAL, STT_FUNC },
};
static const struct image whole = { .syms = syms,
				    .nsyms = sizeof(syms) / sizeof(*syms),
				    .build_id = "\x12\xab\xff\x01" };
static const struct symtab_opts no_debug = { .debug_root = "" };
static const char path[] = "/opt/app/bin/work";

static char dir[64];
static int expdir;

static int setup(void **state)
{
	strcpy(dir, "/tmp/test_archive.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	expdir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return expdir < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	__cleanup(freep) char *cmd = xasprintf("rm -r '%s'", dir);

	close(expdir);
	return system(cmd);
}

static void check_name(const char *of, const char *want)
{
	char *got = archive_name(of);

	assert_string_equal(got, want);
	free(got);
}

/* The hashes are those that gprofng 2.40 gives these files. */
static void test_names(void **state)
{
	char longest[300], want[300], *got;

	check_name("/usr/lib/x86_64-linux-gnu/libc.so.6", "libc.so.6_dnWuQRcLhw9");
	check_name("/tmp/symx/al", "al__QySozVlHc8");
	got = archive_name("work");
	check_name("./work", got);
	free(got);

	memset(longest, 'a', sizeof(longest));
	memcpy(longest, "/tmp/symx/", 10);
	longest[10 + 243] = '\0';
	got = archive_name(longest);
	assert_int_equal(strlen(got), 255);
	assert_string_equal(got + 243, "__QySozVlHc8");
	free(got);
	longest[10 + 243] = 'a';
	longest[10 + 244] = '\0';
	memset(want, 'a', 231);
	strcpy(want + 231, "__QySozVlHc8_3DuQizYiGf3");
	check_name(longest, want);
}

static int put(int archives, int fd, enum archive_mode mode, enum archive_old old)
{
	const struct archive_order o = { .mode = mode, .old = old };

	return archive_put(archives, fd, path, &o, NULL);
}

static int mode_of(const char *name)
{
	struct stat st;

	assert_int_equal(fstatat(expdir, name, &st, AT_SYMLINK_NOFOLLOW), 0);
	return st.st_mode & 07777;
}

static void check_same_symbols(int a, int b)
{
	struct symtab *ta = symtab_open(a, &no_debug, NULL), *tb = symtab_open(b, &no_debug, NULL);
	const struct sym *sa, *sb;
	size_t na, nb;

	assert_non_null(ta);
	assert_non_null(tb);
	sa = symtab_syms(ta, &na);
	sb = symtab_syms(tb, &nb);
	assert_int_equal(na, nb);
	for (size_t i = 0; i < na; i++) {
		assert_string_equal(sa[i].name, sb[i].name);
		assert_int_equal(sa[i].addr, sb[i].addr);
		assert_int_equal(sa[i].size, sb[i].size);
		assert_int_equal(!sa[i].aliases, !sb[i].aliases);
		if (sa[i].aliases)
			assert_string_equal(sa[i].aliases, sb[i].aliases);
	}
	if (symtab_build_id(ta))
		assert_string_equal(symtab_build_id(ta), symtab_build_id(tb));
	assert_int_equal(symtab_vaddr(tb, IMAGE_OFFSET + 4), symtab_vaddr(ta, IMAGE_OFFSET + 4));
	symtab_free(ta);
	symtab_free(tb);
}

static void test_symbols(void **state)
{
	static const int classes[] = { ELFCLASS32, ELFCLASS64 };
	static const int orders[] = { ELFDATA2LSB, ELFDATA2MSB };

	for (int i = 0; i < 4; i++) {
		struct image im = whole;
		char name[] = "/bin/0";
		struct stat full, slim;
		int fd, got;

		im.class = classes[i / 2];
		im.data = orders[i % 2];
		im.build_id = im.data == ELFDATA2LSB ? whole.build_id : NULL;
		name[5] += i;
		fd = elf_image(&im);
		assert_int_equal(archive_add(expdir, fd, name, ARCHIVE_SYMBOLS, NULL), 0);
		got = archive_open(expdir, name);
		assert_true(got >= 0);
		check_same_symbols(fd, got);
		assert_int_equal(fstat(fd, &full) | fstat(got, &slim), 0);
		assert_true(slim.st_size < full.st_size / 2);
		close(fd);
		close(got);
	}
}

/*
 * Names that only a debug file or .gnu_debugdata has are archived, too: here, for a file with a
 * dynsym.
 */
static void test_symbols_of_stripped(void **state)
{
	struct image im = whole;
	int fd, got;

	im.symtab_type = SHT_DYNSYM;
	fd = elf_image(&im);
	assert_int_equal(archive_add(expdir, fd, path, ARCHIVE_SYMBOLS, NULL), 0);
	got = archive_open(expdir, path);
	check_same_symbols(fd, got);
	close(fd);
	close(got);
}

static void test_copy(void **state)
{
	__cleanup(freep) char *name = archive_name(path);
	__cleanup(freep) char *in = xasprintf("archives/%s", name);
	int fd = elf_image(&whole), got;
	char a[65536], b[65536];
	ssize_t n;

	assert_int_equal(archive_add(expdir, fd, path, ARCHIVE_COPY, NULL), 0);
	got = archive_open(expdir, path);
	assert_true(got >= 0);
	n = pread(fd, a, sizeof(a), 0);
	assert_true(n > 0);
	assert_int_equal(pread(got, b, sizeof(b), 0), n);
	assert_memory_equal(a, b, n);
	assert_int_equal(mode_of("archives"), 0700);
	assert_int_equal(mode_of(in), 0600);
	close(fd);
	close(got);
}

static void test_kept(void **state)
{
	const struct image empty = { 0 };
	int first = elf_image(&whole), second = elf_image(&empty), got;

	assert_int_equal(archive_add(expdir, first, path, ARCHIVE_COPY, NULL), 0);
	assert_int_equal(archive_add(expdir, second, path, ARCHIVE_COPY, NULL), 0);
	got = archive_open(expdir, path);
	check_same_symbols(first, got);
	close(first);
	close(second);
	close(got);
}

static size_t entries(void)
{
	__cleanup(freep) char *cmd = xasprintf("exit $(ls -A '%s/archives' | wc -l)", dir);

	return WEXITSTATUS(system(cmd));
}

static void test_refused(void **state)
{
	int script = memfd_create("script", MFD_CLOEXEC), fd = elf_image(&whole), p[2];
	struct diag d = { 0 };

	assert_int_equal(archive_open(expdir, path), -ENOENT);
	assert_int_equal(write(script, "#!/bin/sh\n", 10), 10);
	assert_true(archive_add(expdir, script, path, ARCHIVE_SYMBOLS, &d) < 0);
	assert_int_equal(pipe(p), 0);
	assert_int_equal(archive_add(expdir, p[0], path, ARCHIVE_COPY, &d), -EINVAL);
	assert_int_equal(d.nerrors, 2);
	assert_int_equal(entries(), 0);
	assert_int_equal(archive_open(expdir, path), -ENOENT);

	/* archives/ is a link to another directory. */
	assert_int_equal(unlinkat(expdir, "archives", AT_REMOVEDIR), 0);
	assert_int_equal(symlinkat("/tmp", expdir, "archives"), 0);
	assert_true(archive_add(expdir, fd, path, ARCHIVE_COPY, &d) < 0);
	assert_true(archive_open(expdir, path) < 0);
	diag_free(&d);
	close(script);
	close(fd);
	close(p[0]);
	close(p[1]);
}

static void test_planted(void **state)
{
	__cleanup(freep) char *name = archive_name(path);
	__cleanup(freep) char *in = xasprintf("archives/%s", name);

	assert_int_equal(mkdirat(expdir, "archives", 0700), 0);
	assert_int_equal(symlinkat("/bin/true", expdir, in), 0);
	assert_int_equal(archive_open(expdir, path), -ELOOP);
	assert_int_equal(unlinkat(expdir, in, 0), 0);
	assert_int_equal(mkfifoat(expdir, in, 0600), 0);
	assert_int_equal(archive_open(expdir, path), -EINVAL);
}

/* A link that archive_link made is followed; another link in its place is not. */
static void test_common(void **state)
{
	__cleanup(freep) char *name = archive_name(path);
	__cleanup(freep) char *common = xasprintf("%s/common", dir);
	__cleanup(freep) char *file = xasprintf("%s/%s", common, name);
	int at, archives = archive_dir(expdir, NULL), fd = elf_image(&whole), got;

	assert_true(archives >= 0);
	assert_int_equal(mkdir(common, 0700), 0);
	at = open(common, O_RDONLY | O_DIRECTORY);
	assert_int_equal(put(at, fd, ARCHIVE_COPY, ARCHIVE_KEEP), 0);
	assert_int_equal(archive_link(archives, common, path, NULL), 0);
	got = archive_open(expdir, path);
	assert_true(got >= 0);
	close(got);
	assert_int_equal(archive_link(archives, common, path, NULL), 0);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(archive_open(expdir, path), -ENOENT);
	assert_int_equal(symlink("/bin/true", file), 0);
	assert_int_equal(archive_open(expdir, path), -ELOOP);
	close(at);
	close(archives);
	close(fd);
}

/* A copy replaces a symbol file; only force replaces a copy. */
static void test_upgrade(void **state)
{
	int archives = archive_dir(expdir, NULL), fd = elf_image(&whole);
	__cleanup(freep) char *name = archive_name(path);
	struct stat st, slim, copy;

	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(ftruncate(fd, st.st_size + 100000), 0);
	assert_int_equal(put(archives, fd, ARCHIVE_SYMBOLS, ARCHIVE_KEEP), 0);
	assert_int_equal(put(archives, fd, ARCHIVE_COPY, ARCHIVE_KEEP), 0);
	assert_int_equal(fstatat(archives, name, &slim, 0), 0);
	assert_true(slim.st_size < st.st_size + 100000);
	assert_int_equal(put(archives, fd, ARCHIVE_COPY, ARCHIVE_UPGRADE), 0);
	assert_int_equal(fstatat(archives, name, &copy, 0), 0);
	assert_int_equal(copy.st_size, st.st_size + 100000);
	assert_int_equal(put(archives, fd, ARCHIVE_SYMBOLS, ARCHIVE_UPGRADE), 0);
	assert_int_equal(fstatat(archives, name, &copy, 0), 0);
	assert_int_equal(copy.st_size, st.st_size + 100000);
	assert_int_equal(put(archives, fd, ARCHIVE_SYMBOLS, ARCHIVE_REPLACE), 0);
	assert_int_equal(fstatat(archives, name, &copy, 0), 0);
	assert_int_equal(copy.st_size, slim.st_size);
	close(archives);
	close(fd);
}

/* A failed write leaves no file. A file size limit simulates a full disk. */
static void test_full(void **state)
{
	struct rlimit was, tiny = { .rlim_cur = 512 };
	int fd = elf_image(&whole), copy, slim;
	struct diag d = { 0 };

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	tiny.rlim_max = was.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tiny), 0);
	copy = archive_add(expdir, fd, path, ARCHIVE_COPY, &d);
	slim = archive_add(expdir, fd, path, ARCHIVE_SYMBOLS, &d);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_int_equal(copy, -EFBIG);
	assert_int_equal(slim, -EFBIG);
	assert_int_equal(d.nerrors, 2);
	assert_int_equal(entries(), 0);
	diag_free(&d);
	close(fd);
}

/* Writing a symbol file survives any damaged byte of the original. */
static void test_flipped_bytes(void **state)
{
	static const unsigned char values[] = { 0, 0x7f, 0xff };
	static unsigned char chunk[65536];
	int fd = elf_image(&whole);
	ssize_t n = pread(fd, chunk, sizeof(chunk), 0);

	for (ssize_t i = 0; i < n; i = i == IMAGE_OFFSET ? IMAGE_OFFSET + IMAGE_TEXT_SIZE : i + 1)
		for (size_t v = 0; v < sizeof(values); v++) {
			__cleanup(freep) char *name = archive_name(path);
			__cleanup(freep) char *in = xasprintf("archives/%s", name);

			assert_int_equal(pwrite(fd, &values[v], 1, i), 1);
			if (!archive_add(expdir, fd, path, ARCHIVE_SYMBOLS, NULL))
				assert_int_equal(unlinkat(expdir, in, 0), 0);
			assert_int_equal(pwrite(fd, &chunk[i], 1, i), 1);
		}
	assert_int_equal(entries(), 0);
	close(fd);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		TEST(test_symbols),
		TEST(test_symbols_of_stripped),
		TEST(test_copy),
		TEST(test_kept),
		TEST(test_refused),
		TEST(test_planted),
		TEST(test_common),
		TEST(test_upgrade),
		TEST(test_full),
		TEST(test_flipped_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
