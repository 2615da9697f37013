/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The name of a file from the parts that BPF sends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <linux/magic.h>

#include <cmocka.h>

#include "user/record/io_log.h"

static struct er_io record;

static const char *name_of(uint32_t kind, uint32_t fs, const char *bytes, size_t n)
{
	static char text[KIND_TEXT];

	record = (struct er_io){ .name_kind = kind, .fs = fs, .nname = n };
	memcpy(record.name, bytes, n);
	io_name(&record, text);
	return text;
}

#define NAME(kind, fs, bytes) name_of(kind, fs, bytes, sizeof(bytes) - 1)

static void test_names(void **state)
{
	assert_string_equal(NAME(ER_IO_NAME_NONE, 0, ""), "");
	assert_string_equal(NAME(ER_IO_NAME_GIVEN, 0, "a/b\0"), "a/b");
	assert_string_equal(NAME(ER_IO_NAME_PATH, 0, "file\0dir\0top\0"), "/top/dir/file");
	assert_string_equal(NAME(ER_IO_NAME_PATH, 0, ""), "/");
	assert_string_equal(NAME(ER_IO_NAME_CUT, 0, "file\0dir\0"), "…/dir/file");
	assert_string_equal(NAME(ER_IO_NAME_PSEUDO, SOCKFS_MAGIC, "TCP\0"), "<socket TCP>");
	assert_string_equal(NAME(ER_IO_NAME_PSEUDO, PIPEFS_MAGIC, "\0"), "<pipe>");
	assert_string_equal(NAME(ER_IO_NAME_PSEUDO, ANON_INODE_FS_MAGIC, "[eventfd]\0"),
			    "<anonymous [eventfd]>");
	assert_string_equal(NAME(ER_IO_NAME_PSEUDO, 1, "x\0"), "<file x>");
}

/* The last NUL may be missing, names may be empty, and all of the room may be used. */
static void test_unusual(void **state)
{
	char bytes[sizeof(record.name)];
	const char *name;

	assert_string_equal(NAME(ER_IO_NAME_PATH, 0, "file\0dir"), "/dir/file");
	memset(bytes, '\0', sizeof(bytes));
	name = name_of(ER_IO_NAME_PATH, 0, bytes, sizeof(bytes));
	assert_int_equal(strlen(name), sizeof(bytes));
	memset(bytes, 'x', sizeof(bytes));
	name = name_of(ER_IO_NAME_CUT, 0, bytes, sizeof(bytes));
	assert_int_equal(strlen(name), sizeof(bytes) + 1 + strlen("…"));
}

static void test_values(void **state)
{
	const struct er_io r = { .at = { .h.seq = 7 }, .began_ns = 5, .bytes = -1, .fd = 3, .from = 4,
				 .type = ER_IO_TYPES + ER_IO_OPEN };
	const int64_t expected[] = { 7, 3, -1, 5, 4, 24, 7, 0 };
	int64_t values[KIND_VALUES] = { 0 };

	io_values(&r, values);
	assert_memory_equal(values, expected, sizeof(expected));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_unusual),
		cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
