/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/base/diag.h"
#include "analysis/symbols/kallsyms.h"

static const char text[] = "ffffffff81000000 T _text\n"
			   "ffffffff81000000 T _stext\n"
			   "ffffffff81000000 T startup\n"
			   "ffffffff81000040 t zlocal\n"
			   "ffffffff81000040 T afoo\n"
			   "ffffffff81000040 W _foo\n"
			   "ffffffff81000100 t foo.isra.0\n"
			   "ffffffff81000200 T __sched_text_start\n"
			   "ffffffff81000240 T schedule\n"
			   "ffffffff81000300 T __sched_text_end\n"
			   "ffffffff81000400 T last\n"
			   "ffffffff81008400 T _etext\n"
			   "ffffffff81200000 D data\n"
			   "ffffffffc0200100 t ext4_b\t[ext4]\n"
			   "ffffffffc0200000 t ext4_a\t[ext4]\n"
			   "ffffffffc0205010 t xfs_a\t[xfs]\n"
			   "ffffffffc0205020 d xfs_data\t[xfs]\n"
			   "ffffffffc0401000 t ftrace_trampoline\t[__builtin__ftrace]\n"
			   "ffffffffc0601100 t bpf_prog_1\t[bpf]\n"
			   "ffffffffc0604000 t bpf_prog_2\t[bpf]\n"
			   "fffffffff0000000 t $x\t[ext4]\n";

static struct kallsyms *load(const char *s, struct diag *d)
{
	int fd = memfd_create("kallsyms", MFD_CLOEXEC);
	struct kallsyms *k;

	assert_int_equal(write(fd, s, strlen(s)), strlen(s));
	lseek(fd, 0, SEEK_SET);
	k = kallsyms_read(fd, "test", d);
	close(fd);
	return k;
}

static void check(const struct kallsyms *k, uint64_t addr, const char *module, const char *name)
{
	const struct ksym *s = kallsyms_find(k, addr);

	if (!name) {
		assert_null(s);
		return;
	}
	assert_non_null(s);
	assert_string_equal(s->name, name);
	assert_string_equal(s->module, module);
	assert_true(addr - s->addr < s->size);
}

static void test_find(void **state)
{
	struct diag d = { 0 };
	struct kallsyms *k = load(text, &d);

	assert_non_null(k);
	check(k, 0, NULL, NULL);
	check(k, 0xffffffff80ffffff, NULL, NULL);
	check(k, 0xffffffff81000000, "vmlinux", "startup");
	check(k, 0xffffffff8100003f, "vmlinux", "startup");
	check(k, 0xffffffff81000040, "vmlinux", "afoo"); /* global, and the last of these */
	check(k, 0xffffffff81000150, "vmlinux", "foo.isra.0");
	check(k, 0xffffffff81000210, NULL, NULL); /* between a mark and a function */
	check(k, 0xffffffff81000240, "vmlinux", "schedule");
	check(k, 0xffffffff81000300, NULL, NULL);
	check(k, 0xffffffff810083ff, "vmlinux", "last"); /* longer than a page, up to the mark */
	check(k, 0xffffffff81008400, NULL, NULL);
	check(k, 0xffffffff81200000, NULL, NULL);
	kallsyms_free(k);
	diag_free(&d);
}

static void test_gaps(void **state)
{
	struct diag d = { 0 };
	struct kallsyms *k = load(text, &d);

	assert_non_null(k);
	check(k, 0xffffffffc0200000, "ext4", "ext4_a");
	check(k, 0xffffffffc0200fff, "ext4",
	      "ext4_b"); /* the last of a module: to its page's end */
	check(k, 0xffffffffc0201000, NULL, NULL);
	check(k, 0xffffffffc0205010, "xfs", "xfs_a");
	check(k, 0xffffffffc0205020, NULL, NULL); /* data ends it */
	check(k, 0xffffffffc0401fff, "__builtin__ftrace", "ftrace_trampoline");
	check(k, 0xffffffffc0402000, NULL, NULL);
	check(k, 0xffffffffc0603fff, "bpf", "bpf_prog_1");
	check(k, 0xffffffffc0604000 + 0xffff, "bpf", "bpf_prog_2");
	check(k, 0xffffffffc0604000 + 0x10000, NULL, NULL);
	check(k, 0xfffffffff0000000, NULL, NULL); /* a mapping symbol */
	check(k, UINT64_MAX, NULL, NULL);
	kallsyms_free(k);
	diag_free(&d);
}

static void test_sizes_given(void **state)
{
	struct diag d = { 0 };
	struct kallsyms *k = load("ffffffff81000000 20 t a\n"
				  "ffffffff81000040 9999 T b·isra·0\n"
				  "ffffffff81000080 d t c [ext4]\n",
				  &d);

	assert_non_null(k);
	check(k, 0xffffffff8100001f, "vmlinux", "a");
	check(k, 0xffffffff81000020, NULL, NULL);
	check(k, 0xffffffff8100007f, "vmlinux", "b·isra·0");
	check(k, 0xffffffff8100008c, "ext4", "c");
	check(k, 0xffffffff8100008d, NULL, NULL);
	kallsyms_free(k);
	diag_free(&d);
}

static void check_aliases(const struct kallsyms *k, uint64_t addr, const char *name,
			  const char *expected)
{
	char *aliases = kallsyms_aliases(k, addr, name);

	if (expected)
		assert_string_equal(aliases, expected);
	else
		assert_null(aliases);
	free(aliases);
}

static void test_aliases(void **state)
{
	struct diag d = { 0 };
	struct kallsyms *k = load(text, &d);

	assert_non_null(k);
	check_aliases(k, 0xffffffff81000040, "afoo", "zlocal _foo");
	check_aliases(k, 0xffffffff81000040, "zlocal", "afoo _foo");
	check_aliases(k, 0xffffffff81000040, "_foo", "afoo zlocal");
	check_aliases(k, 0xffffffff81000040, "foo", NULL);
	check_aliases(k, 0xffffffff81000041, "afoo", NULL);
	check_aliases(k, 0xffffffff81000000, "startup", ""); /* marks are not functions */
	check_aliases(k, 0xffffffff81000240, "schedule", "");
	check_aliases(k, 0xffffffff81200000, "data", NULL);
	kallsyms_free(k);
	diag_free(&d);
}

static void check_refused(const char *s, const char *why)
{
	struct diag d = { 0 };

	assert_null(load(s, &d));
	assert_int_equal(d.nerrors, 1);
	assert_non_null(strstr(d.msgs[0].text, why));
	diag_free(&d);
}

static void test_refused(void **state)
{
	struct diag d = { 0 };

	check_refused("0000000000000000 T a\n0000000000000000 t b\t[m]\n", "CAP_SYSLOG");
	check_refused("", "no function symbols");
	check_refused("ffffffff81000000 D only_data\n", "no function symbols");
	check_refused("\x7f"
		      "ELF junk",
		      "no function symbols");
	assert_null(kallsyms_load("/nonexistent", &d));
	assert_null(kallsyms_load("/", &d));
	assert_null(kallsyms_load("/dev/null", &d));
	assert_int_equal(d.nerrors, 3);
	diag_free(&d);
}

static void test_damaged(void **state)
{
	struct diag d = { 0 };
	struct kallsyms *k = load("ffffffff81000000 t a\n\n"
				  "fffffffffffffffff t too_long\n"
				  "ffffffff81000010 t\n"
				  "ffffffff81000010 tt b\n"
				  "xyz t c\n"
				  "ffffffff81000020 t last_without_newline",
				  &d);

	assert_non_null(k);
	check(k, 0xffffffff8100001f, "vmlinux", "a"); /* none of them ended it */
	check(k, 0xffffffff81000020, "vmlinux", "last_without_newline");
	assert_int_equal(d.nwarnings, 1);
	assert_non_null(strstr(d.msgs[0].text, "5 lines"));
	kallsyms_free(k);
	kallsyms_free(NULL);
	diag_free(&d);
}

/* The symbol of a first and of a last byte is the same: no two symbols overlap. */
static void test_whole(void **state)
{
	struct diag d = { 0 };
	struct kallsyms *k = load(text, &d);
	size_t found = 0;

	assert_non_null(k);
	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		const struct ksym *s = kallsyms_find(k, strtoull(line, NULL, 16));

		if (!s)
			continue;
		found++;
		assert_true(s->size > 0);
		assert_ptr_equal(kallsyms_find(k, s->addr), s);
		assert_ptr_equal(kallsyms_find(k, s->addr + s->size - 1), s);
	}
	assert_int_equal(found, 15);
	kallsyms_free(k);
	diag_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),	    cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_sizes_given), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_damaged),	    cmocka_unit_test(test_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
