/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text in blocks of whole lines, read by a second thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/symbols/textblocks.h"

static int file_of(const char *text, size_t n)
{
	FILE *f = tmpfile();
	int fd;

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	assert_int_equal(fflush(f), 0);
	fd = dup(fileno(f));
	fclose(f);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* Together the blocks are the text, and each but the last ends with a newline. */
static void assert_blocks(const char *want, size_t n)
{
	__cleanup(closep) int fd = file_of(want, n);
	struct textblocks *t = textblocks_open(fd, n);
	struct buf all = { 0 };

	for (char *text; (text = textblocks_next(t));) {
		assert_true(!all.len || all.data[all.len - 1] == '\n');
		buf_puts(&all, text);
	}
	assert_null(textblocks_next(t));
	assert_int_equal(textblocks_error(t), 0);
	assert_int_equal(all.len, n);
	assert_memory_equal(all.data ? all.data : "", want, n);
	textblocks_free(t);
	buf_free(&all);
}

static void blocks_are_whole_lines(void **state)
{
	struct buf b = { 0 };

	assert_blocks("", 0);
	assert_blocks("a\nb\n", 4);
	assert_blocks("no newline", 10);
	for (unsigned i = 0; i < 100000; i++)
		buf_printf(&b, "%x line\n", i * i);
	assert_blocks(b.data, b.len);
	buf_puts(&b, "the last one is not ended");
	assert_blocks(b.data, b.len);
	buf_free(&b);
}

/* A line that is longer than a block, with short lines before and after it. */
static void a_long_line_stays_whole(void **state)
{
	struct buf b = { 0 };

	buf_puts(&b, "short\n");
	memset(buf_zero(&b, 1000000), 'x', 1000000);
	buf_puts(&b, "\nshort\n");
	assert_blocks(b.data, b.len);
	buf_free(&b);
}

/* Text sizes at which a read is exactly full. */
static void ends_fall_anywhere(void **state)
{
	enum { BLOCK = 128 * 1024 };
	char *text = xmalloc(2 * BLOCK + 2);

	memset(text, 'x', 2 * BLOCK + 2);
	for (size_t i = 99; i < 2 * BLOCK + 2; i += 100)
		text[i] = '\n';
	for (int by = -2; by <= 2; by++) {
		assert_blocks(text, BLOCK + by);
		assert_blocks(text, 2 * BLOCK + by);
	}
	free(text);
}

static void errors_are_told_at_the_end(void **state)
{
	__cleanup(closep) int dir = open("/", O_RDONLY | O_CLOEXEC);
	__cleanup(closep) int fd = file_of("four\nfive\n", 10);
	struct textblocks *t = textblocks_open(dir, 100);

	assert_null(textblocks_next(t));
	assert_int_equal(textblocks_error(t), EISDIR);
	textblocks_free(t);
	t = textblocks_open(fd, 9);
	assert_null(textblocks_next(t));
	assert_int_equal(textblocks_error(t), EFBIG);
	textblocks_free(t);
	textblocks_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_whole_lines),
		cmocka_unit_test(a_long_line_stays_whole),
		cmocka_unit_test(ends_fall_anywhere),
		cmocka_unit_test(errors_are_told_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
