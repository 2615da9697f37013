/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines and inlined calls. The machine's own compiler builds tests/fixtures/source with each form
 * of DWARF; some objects are damaged. The compiler may reorder code, so the tests check only what
 * it must not change.
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
#include "analysis/symbols/inline.h"
#include "analysis/symbols/debuginfod.h"
#include "analysis/symbols/lineinfo.h"
#include "analysis/symbols/relocate.h"
#include "analysis/symbols/symtab.h"
#include "tests/fixtures/mutate.h"
#include "tests/fixtures/tempdir.h"

enum {
	LINE_TWICE_CALLS_MIX = 9,
	LINE_HOT_CALLS_TWICE = 17,
	LINE_WARM_CALLS_MIX = 29,
	LINE_WORK = 33,
	LINE_WORK_END = 39,
	LINE_MIX = 4,
	LINE_MIX_END = 8
};

static char *dir;

static int setup(void **state)
{
	dir = tempdir_new();
	return 0;
}

static int teardown(void **state)
{
	tempdir_remove(dir);
	return 0;
}

/* Run a command in the test's directory. SRC in it is replaced by the directory of the sources. */
static void shell(const char *command)
{
	__cleanup(freep) char *here = getcwd(NULL, 0);
	__cleanup(freep) char *line =
		xasprintf("cd '%s' && SRC='%s/tests/fixtures/source' && %s", dir, here, command);

	assert_int_equal(system(line), 0);
}

static int open_in(const char *file, char **path)
{
	int fd;

	*path = xasprintf("%s/%s", dir, file);
	fd = open(*path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

struct object {
	char *path;
	struct diag diag;
	struct symtab *syms;
	struct lineinfo *lines;
};

static void object_open(struct object *o, const char *file, const char *root)
{
	struct symtab_opts opts = { .debug_root = root, .ask = debuginfod_open };
	__cleanup(closep) int fd = -1;

	*o = (struct object){ 0 };
	fd = open_in(file, &o->path);
	opts.path = o->path;
	o->syms = symtab_open(fd, &opts, &o->diag);
	o->lines = lineinfo_open(fd, &opts, &o->diag);
}

static void object_close(struct object *o)
{
	lineinfo_free(o->lines);
	symtab_free(o->syms);
	diag_free(&o->diag);
	free(o->path);
}

static const struct sym *sym_of(const struct object *o, const char *name)
{
	size_t n;
	const struct sym *s = symtab_syms(o->syms, &n);

	for (size_t i = 0; i < n; i++) {
		if (!strcmp(s[i].name, name))
			return &s[i];
	}
	fail_msg("no symbol %s", name);
	return NULL;
}

static const char *base_of(const struct object *o, uint32_t file)
{
	const char *path = lineinfo_path(o->lines, file), *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Counts the bytes of the function that have this chain of inlined calls, outermost first. */
static unsigned bytes_with(struct object *o, const char *func, const char *chain)
{
	const struct sym *s = sym_of(o, func);
	unsigned n = 0;

	for (uint64_t at = s->addr; at < s->addr + s->size; at++) {
		struct inlined calls[8];
		size_t depth = lineinfo_inlined(o->lines, at, calls, 8);
		struct buf b = { 0 };

		buf_puts(&b, "");
		assert_true(depth <= 8);
		for (size_t i = 0; i < depth; i++)
			buf_printf(&b, "%s%s@%s:%u", i ? ">" : "",
				   calls[i].name ? calls[i].name : "?", base_of(o, calls[i].file),
				   calls[i].line);
		n += !strcmp(b.data, chain);
		buf_free(&b);
	}
	return n;
}

static void check_lines_of_work(struct object *o)
{
	const struct sym *work = sym_of(o, "work");
	struct line_at at;
	size_t n;

	for (uint64_t a = work->addr; a < work->addr + work->size; a++) {
		assert_true(lineinfo_find(o->lines, a, &at));
		assert_string_equal(base_of(o, at.file), "work.c");
		assert_true(at.line >= LINE_WORK && at.line <= LINE_WORK_END);
		assert_true(at.start <= a && a < at.end);
	}
	lineinfo_rows(o->lines, work->addr, work->addr + work->size, &n);
	assert_true(n >= 3);
	assert_string_equal(base_of(o, lineinfo_unit_file(o->lines, work->addr)), "work.c");
	assert_false(lineinfo_find(o->lines, 0x7fffffff0000, &at));
	assert_false(lineinfo_find(o->lines, UINT64_MAX, &at));
	assert_string_equal(lineinfo_path(o->lines, LINE_FILE_NONE), "");
}

static void check_mix_is_elsewhere(struct object *o)
{
	const struct sym *hot = sym_of(o, "hot");
	unsigned in_mix = 0;
	struct line_at at;

	for (uint64_t a = hot->addr; a < hot->addr + hot->size; a++) {
		if (!lineinfo_find(o->lines, a, &at) || strcmp(base_of(o, at.file), "mix.h"))
			continue;
		assert_true(at.line >= LINE_MIX - 1 && at.line <= LINE_MIX_END);
		in_mix++;
	}
	assert_true(in_mix > 0);
}

static void check_object(struct object *o)
{
	assert_non_null(o->lines);
	assert_int_equal(o->diag.nmsgs, 0);
	check_lines_of_work(o);
	check_mix_is_elsewhere(o);
	assert_true(bytes_with(o, "hot", "twice@work.c:17>mix@work.c:9") > 0);
	assert_true(bytes_with(o, "hot", "") > 0);
	assert_true(bytes_with(o, "warm", "mix@work.c:29") > 0);
	assert_int_equal(bytes_with(o, "work", ""), sym_of(o, "work")->size);
}

static void check_file(const char *file, const char *root)
{
	struct object o;

	object_open(&o, file, root);
	check_object(&o);
	object_close(&o);
}

#define COMPILE "gcc -O2 -fPIC -shared -nostdlib -fno-ipa-icf"

static void dwarf_of_every_version_is_read(void **state)
{
	static const char *const forms[] = { "-gdwarf-2",
					     "-gdwarf-3",
					     "-gdwarf-4",
					     "-gdwarf-5",
					     "-gdwarf-4 -gz",
					     "-gdwarf-5 -gz=zlib-gnu",
					     "-gdwarf-5 -ffunction-sections" };

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		__cleanup(freep) char *command =
			xasprintf(COMPILE " %s -o work.so \"$SRC/work.c\"", forms[i]);

		shell(command);
		check_file("work.so", "");
	}
}

/* A function inside one that is inlined everywhere: it is enclosed only by a template. */
static void functions_within_functions_have_their_inlined_calls(void **state)
{
	struct object o;

	shell("{ echo 'static inline __attribute__((always_inline)) int twice(int x)'; "
	      "echo '{ return x * 7 + (x >> 3); }'; "
	      "echo 'static inline __attribute__((always_inline)) int outer(int n)'; "
	      "echo '{ __attribute__((noinline)) int inner(int k)'; "
	      "echo '{ return twice(k) ^ k; }'; "
	      "echo 'return inner(n) + inner(n + 1); }'; "
	      "echo 'int work(int n) { return outer(n); }'; } >nest.c; " COMPILE
	      " -g -o nest.so nest.c");
	object_open(&o, "nest.so", "");
	assert_true(bytes_with(&o, "inner.0", "twice@nest.c:5") > 0);
	assert_true(bytes_with(&o, "work", "outer@nest.c:7") > 0);
	object_close(&o);
}

static void debug_file_is_found_by_link_and_by_id(void **state)
{
	__cleanup(freep) char *root = xasprintf("%s/root", dir);

	shell(COMPILE " -g -o apart.so \"$SRC/work.c\" -Wl,--build-id=0x12abff00 && "
		      "objcopy --only-keep-debug apart.so apart.debug && "
		      "objcopy --strip-debug --add-gnu-debuglink=apart.debug apart.so");
	check_file("apart.so", root);
	shell("mkdir -p root/.build-id/12 && mv apart.debug root/.build-id/12/abff00.debug");
	check_file("apart.so", root);
}

/* A server in a directory; nothing uses the network. */
static void debuginfod_is_asked_when_it_is_configured(void **state)
{
	__cleanup(freep) char *root = xasprintf("%s/root", dir);
	__cleanup(freep) char *url = xasprintf("file://%s/server", dir);
	__cleanup(freep) char *cache = xasprintf("%s/cache", dir);
	struct object o;

	shell(COMPILE " -g -o served.so \"$SRC/work.c\" -Wl,--build-id=0x12abff01 && "
		      "mkdir -p root server/buildid/12abff01 && "
		      "objcopy --only-keep-debug served.so server/buildid/12abff01/debuginfo && "
		      "objcopy --strip-debug served.so");
	object_open(&o, "served.so", root);
	assert_null(o.lines);
	object_close(&o);
	setenv("DEBUGINFOD_URLS", url, 1);
	setenv("DEBUGINFOD_CACHE_PATH", cache, 1);
	object_open(&o, "served.so", root);
	if (o.diag.nwarnings == 1 && strstr(o.diag.msgs[0].text, "install libdebuginfod1"))
		assert_null(o.lines);
	else
		check_object(&o);
	object_close(&o);
	unsetenv("DEBUGINFOD_URLS");
}

/* dwz moves what two debug files have in common to a third, as Debian does for a whole package. */
static void dwz_file_is_read(void **state)
{
	struct object o;

	shell(COMPILE " -gdwarf-4 -o one.so \"$SRC/work.c\" -Wl,--build-id=0x110001 && " COMPILE
		      " -gdwarf-4 -DTWO -o two.so \"$SRC/work.c\" -Wl,--build-id=0x110002 && "
		      "dwz -m shared.dwz -M shared.dwz one.so two.so");
	check_file("one.so", "");
	shell("rm shared.dwz");
	object_open(&o, "one.so", "");
	assert_non_null(o.lines);
	assert_int_equal(o.diag.nwarnings, 1);
	assert_non_null(strstr(o.diag.msgs[0].text, "'shared.dwz' is missing"));
	check_lines_of_work(&o);
	object_close(&o);
	shell("mkfifo shared.dwz");
	object_open(&o, "one.so", "");
	assert_null(o.lines);
	assert_non_null(strstr(o.diag.msgs[0].text, "not a regular file"));
	object_close(&o);
}

static void split_files_are_told_of(void **state)
{
	struct object o;

	shell(COMPILE " -gdwarf-5 -gsplit-dwarf -o split.so \"$SRC/work.c\"");
	object_open(&o, "split.so", "");
	assert_non_null(o.lines);
	check_lines_of_work(&o);
	assert_int_equal(bytes_with(&o, "hot", ""), sym_of(&o, "hot")->size);
	assert_int_equal(o.diag.nwarnings, 1);
	assert_non_null(strstr(o.diag.msgs[0].text, "-gsplit-dwarf"));
	object_close(&o);
}

static void object_without_dwarf_is_no_error(void **state)
{
	struct object o;

	shell(COMPILE " -o plain.so \"$SRC/work.c\"");
	object_open(&o, "plain.so", "");
	assert_null(o.lines);
	assert_int_equal(o.diag.nmsgs, 0);
	object_close(&o);
}

/* A few bytes that claim to be a gigabyte. */
static void unbelievable_sizes_are_refused(void **state)
{
	struct object o;
	size_t size;
	char *data;
	const uint64_t claim = 1ULL << 30;
	/*
	 * ELFCOMPRESS_ZLIB, reserved, the size. The first such header, that of .debug_info, is
	 * enough.
	 */
	static const char header[] = "\1\0\0\0\0\0\0\0";
	char *at;

	shell(COMPILE " -gdwarf-4 -gz=zlib -o big.so \"$SRC/work.c\"");
	data = tempdir_read(dir, "big.so", &size);
	for (at = data; at + 24 < data + size; at++) {
		uint64_t was, align;

		memcpy(&was, at + 8, 8);
		memcpy(&align, at + 16, 8);
		if (!memcmp(at, header, 8) && was > 64 && was < 65536 && align == 1 &&
		    (unsigned char)at[24] == 0x78)
			memcpy(at + 8, &claim, 8);
	}
	tempdir_write(dir, "big.so", data, size);
	free(data);
	object_open(&o, "big.so", "");
	assert_null(o.lines);
	assert_int_equal(o.diag.nwarnings, 1);
	assert_non_null(strstr(o.diag.msgs[0].text, "size is implausible"));
	object_close(&o);
}

static void ask_everything(struct lineinfo *l)
{
	struct inlined calls[4];
	struct line_at at;
	size_t n;

	lineinfo_read_all(l);
	for (uint64_t a = 0; a < 0x3000; a += 7) {
		n = lineinfo_inlined(l, a, calls, 4);
		for (size_t i = 0; i < n && i < 4; i++)
			lineinfo_path(l, calls[i].file);
		if (lineinfo_find(l, a, &at))
			assert_true(at.start <= a && a < at.end &&
				    strlen(lineinfo_path(l, at.file)) < 65536);
		lineinfo_rows(l, a, a + 100, &n);
	}
}

static void damaged_files_are_read_without_harm(void **state)
{
	struct random random = { 4711 };
	struct symtab_opts opts = { .debug_root = "" };
	size_t size;
	char *data;

	shell(COMPILE " -gdwarf-5 -o fuzz5.so \"$SRC/work.c\"");
	data = tempdir_read(dir, "fuzz5.so", &size);
	for (int i = 0; i < 1000; i++) {
		struct diag d = { 0 };
		struct buf b = { 0 };
		int fd = memfd_create("fuzz", MFD_CLOEXEC);
		struct lineinfo *l;

		buf_add(&b, data, size);
		/* Damage after the headers, in the sections. test_symtab damages the rest. */
		for (size_t k = random_below(&random, 8) + 1; k > 0; k--)
			b.data[0x1000 + random_below(&random, size - 0x1000)] =
				random_next(&random);
		assert_int_equal(write(fd, b.data, b.len), b.len);
		l = lineinfo_open(fd, &opts, &d);
		if (l)
			ask_everything(l);
		lineinfo_free(l);
		diag_free(&d);
		buf_free(&b);
		close(fd);
	}
	free(data);
}

static void damaged_object_files_are_relocated_without_harm(void **state)
{
	struct random random = { 815 };
	struct symtab_opts opts = { .debug_root = "" };
	size_t size;
	char *data;

	shell("gcc -O2 -c -gdwarf-5 -ffunction-sections -o fuzz.o \"$SRC/work.c\"");
	data = tempdir_read(dir, "fuzz.o", &size);
	for (int i = 0; i < 1000; i++) {
		struct diag d = { 0 };
		struct buf b = { 0 };
		int fd = memfd_create("fuzz", MFD_CLOEXEC), linked;
		struct lineinfo *l;

		buf_add(&b, data, size);
		for (size_t k = i ? random_below(&random, 8) : 0; k > 0; k--)
			b.data[random_below(&random, size)] = random_next(&random);
		if (i % 2) /* among the section headers */
			b.data[size - 1 - random_below(&random, 40 * 64)] = random_next(&random);
		assert_int_equal(write(fd, b.data, b.len), b.len);
		linked = relocate_open(fd);
		l = linked < 0 ? NULL : lineinfo_open(linked, &opts, &d);
		if (l)
			ask_everything(l);
		assert_true(i || (l && linked >= 0));
		lineinfo_free(l);
		diag_free(&d);
		buf_free(&b);
		if (linked >= 0)
			close(linked);
		close(fd);
	}
	free(data);
}

/* --- the index of intervals --- */

static const char *innermost(const struct inline_index *x, uint64_t addr)
{
	const struct inline_call *c = inline_find(x, addr);

	return c ? c->callee->name : "-";
}

static void intervals_are_cut_where_calls_begin_and_end(void **state)
{
	struct inline_index x = { 0 };
	static const struct inline_callee callees[] = { { .name = "a" }, { .name = "b" },
							{ .name = "c" }, { .name = "d" },
							{ .name = "e" } };
	uint32_t a = inline_add(&x, 0, &callees[0], 1, 10);
	uint32_t b = inline_add(&x, a, &callees[1], 1, 20);
	uint32_t c = inline_add(&x, b, &callees[2], 1, 30);
	uint32_t d = inline_add(&x, a, &callees[3], 1, 40);
	uint32_t e = inline_add(&x, 0, &callees[4], 1, 50);

	inline_add_range(&x, c, 120, 130);
	inline_add_range(&x, a, 100, 200);
	inline_add_range(&x, b, 110, 140);
	inline_add_range(&x, b, 100, 105); /* two ranges; one begins together with its caller */
	inline_add_range(&x, d, 140, 999); /* cut, because it extends beyond its caller */
	inline_add_range(&x, e, 200, 210);
	inline_add_range(&x, e, 300, 300); /* nothing */
	inline_finish(&x);
	assert_string_equal(innermost(&x, 99), "-");
	assert_string_equal(innermost(&x, 100), "b");
	assert_string_equal(innermost(&x, 104), "b");
	assert_string_equal(innermost(&x, 105), "a");
	assert_string_equal(innermost(&x, 119), "b");
	assert_string_equal(innermost(&x, 120), "c");
	assert_string_equal(innermost(&x, 130), "b");
	assert_string_equal(innermost(&x, 140), "d");
	assert_string_equal(innermost(&x, 199), "d");
	assert_string_equal(innermost(&x, 200), "e");
	assert_string_equal(innermost(&x, 210), "-");
	assert_string_equal(innermost(&x, 998), "-");
	assert_int_equal(inline_find(&x, 125)->depth, 3);
	inline_free(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dwarf_of_every_version_is_read),
		cmocka_unit_test(functions_within_functions_have_their_inlined_calls),
		cmocka_unit_test(debug_file_is_found_by_link_and_by_id),
		cmocka_unit_test(debuginfod_is_asked_when_it_is_configured),
		cmocka_unit_test(dwz_file_is_read),
		cmocka_unit_test(split_files_are_told_of),
		cmocka_unit_test(object_without_dwarf_is_no_error),
		cmocka_unit_test(unbelievable_sizes_are_refused),
		cmocka_unit_test(damaged_files_are_read_without_harm),
		cmocka_unit_test(damaged_object_files_are_relocated_without_harm),
		cmocka_unit_test(intervals_are_cut_where_calls_begin_and_end),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
