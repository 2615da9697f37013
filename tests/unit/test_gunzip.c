/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts that the writer compresses: readable at any moment, and when they are cut or damaged. */
#include <errno.h>
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

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/file.h"
#include "analysis/base/gunzip.h"
#include "analysis/experiment/exp_threads.h"
#include "analysis/experiment/experiment.h"
#include "tests/fixtures/exp_builder.h"
#include "tests/fixtures/tempdir.h"

enum { MANY = 1 << 30 };

static void put_name(struct exp_builder *b, struct buf *all, int i)
{
	char line[96];

	snprintf(line, sizeof(line), "<name pid=\"%d\" tid=\"%d\" at=\"%d\" comm=\"n%d\"/>", i + 1, i + 1,
		 i * 7919, i);
	expwriter_text(exp_builder_writer(b), "names.xml.gz", line);
	buf_printf(all, "%s\n", line);
}

static void assert_text(const char *dir, const struct buf *want, int ret)
{
	__cleanup(freep) char *path = xasprintf("%s/t.1.er/names.xml.gz", dir);
	struct file f;

	assert_int_equal(file_open_at(AT_FDCWD, path, &f), 0);
	assert_int_equal(gunzip_file(&f, MANY), ret);
	assert_int_equal(f.size, want->len);
	assert_memory_equal(f.data, want->data, want->len);
	file_close(&f);
}

/* After each flush all lines so far can be read; the end comes with the end of the recording. */
static void test_readable_while_it_grows(void **state)
{
	struct exp_builder *b = exp_builder_new(*state, "t.1.er");
	struct buf all = { 0 };

	for (int i = 0; i < 3000; i++) {
		put_name(b, &all, i);
		if (i > 200 && i % 700 != 0)
			continue;
		assert_int_equal(expwriter_flush(exp_builder_writer(b)), 0);
		assert_text(*state, &all, 1);
	}
	exp_builder_close(b);
	assert_text(*state, &all, 0);
	buf_free(&all);
}

/* The last flush has no new line: the end is written nevertheless. */
static void test_ends_without_text(void **state)
{
	struct exp_builder *b = exp_builder_new(*state, "t.1.er");
	struct buf all = { 0 };

	put_name(b, &all, 1);
	assert_int_equal(expwriter_flush(exp_builder_writer(b)), 0);
	exp_builder_close(b);
	assert_text(*state, &all, 0);
	buf_free(&all);
}

static void test_reader(void **state)
{
	__cleanup(freep) char *path = xasprintf("%s/t.1.er", (char *)*state);
	struct exp_builder *b = exp_builder_new(*state, "t.1.er");
	struct buf all = { 0 };
	struct experiment *e;

	for (int i = 0; i < 3000; i++)
		put_name(b, &all, i);
	exp_builder_close(b);
	e = experiment_open(path, NULL);
	assert_int_equal(e->names.len, 3000);
	assert_string_equal(e->names.data[2999].comm, "n2999");
	assert_int_equal(e->diag.nmsgs, 0);
	experiment_close(e);
	buf_free(&all);
}

/* Cut anywhere, or with any byte changed: no more than the text comes out, and nothing crashes. */
static void test_damage(void **state)
{
	struct exp_builder *b = exp_builder_new(*state, "t.1.er");
	__cleanup(freep) unsigned char *packed = NULL;
	struct buf all = { 0 };
	size_t n;

	for (int i = 0; i < 40; i++)
		put_name(b, &all, i);
	exp_builder_close(b);
	packed = (unsigned char *)tempdir_read(*state, "t.1.er/names.xml.gz", &n);
	for (size_t i = 0; i < 2 * n; i++) {
		size_t size = i < n ? i : n;
		struct file f = { .data = packed, .size = size };
		int fd = memfd_create("out", MFD_CLOEXEC), ret;
		off_t len;

		if (i >= n)
			packed[i - n] ^= 0x55;
		ret = gunzip_to(&f, fd, MANY);
		len = lseek(fd, 0, SEEK_CUR);
		if (i < n)
			assert_true(ret == 1 && len <= (off_t)all.len);
		else
			packed[i - n] ^= 0x55;
		close(fd);
	}
	buf_free(&all);
}

/* A small file must not fill the memory. */
static void test_limit(void **state)
{
	struct exp_builder *b = exp_builder_new(*state, "t.1.er");
	__cleanup(freep) char *path = xasprintf("%s/t.1.er", (char *)*state);
	__cleanup(freep) char *line = xmalloc(8 << 20);
	struct experiment *e;
	bool said = false;

	memset(line, ' ', (8 << 20) - 1);
	line[(8 << 20) - 1] = '\0';
	expwriter_text(exp_builder_writer(b), "names.xml.gz", line);
	exp_builder_close(b);
	e = experiment_open(path, NULL);
	for (size_t i = 0; i < e->diag.nmsgs; i++)
		said |= strstr(e->diag.msgs[i].text, "names.xml.gz: has more text") != NULL;
	assert_true(said);
	experiment_close(e);
}

/* Several members, one after the other, are one text; garbage behind them is a fault. */
static void test_members(void **state)
{
	struct exp_builder *b = exp_builder_new(*state, "t.1.er");
	__cleanup(freep) char *packed = NULL, *twice = NULL;
	struct buf all = { 0 };
	struct file f = { 0 };
	size_t n;
	int fd;

	put_name(b, &all, 1);
	exp_builder_close(b);
	packed = tempdir_read(*state, "t.1.er/names.xml.gz", &n);
	twice = xmalloc(2 * n + 1);
	memcpy(twice, packed, n);
	memcpy(twice + n, packed, n);
	twice[2 * n] = 'x';
	for (int more = 0; more < 2; more++) {
		f = (struct file){ .data = (unsigned char *)twice, .size = 2 * n + more };
		fd = memfd_create("out", MFD_CLOEXEC);
		assert_int_equal(gunzip_to(&f, fd, MANY), more ? -EIO : 0);
		assert_int_equal(lseek(fd, 0, SEEK_CUR), 2 * all.len);
		close(fd);
	}
	f.size = 2 * n;
	fd = memfd_create("out", MFD_CLOEXEC);
	assert_int_equal(gunzip_to(&f, fd, all.len + 1), -EFBIG);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), all.len + 1);
	close(fd);
	buf_free(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEMPDIR_CASE(test_readable_while_it_grows),
		TEMPDIR_CASE(test_ends_without_text),
		TEMPDIR_CASE(test_reader),
		TEMPDIR_CASE(test_damage),
		TEMPDIR_CASE(test_limit),
		TEMPDIR_CASE(test_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
