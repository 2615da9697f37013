/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names and archives of mapped files. Uses files of this process, in a directory of the test. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/base/alloc.h"
#include "user/space/binaries.h"

struct place {
	char dir[64], file[80], archives[80];
	int fd;
};

static struct place set_up(void)
{
	struct place p = { .dir = "/tmp/er-binaries.XXXXXX" };

	assert_non_null(mkdtemp(p.dir));
	snprintf(p.file, sizeof(p.file), "%s/prog", p.dir);
	snprintf(p.archives, sizeof(p.archives), "%s/archives", p.dir);
	p.fd = open(p.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(p.fd >= 0);
	return p;
}

static void clean_up(struct place *p)
{
	char command[96];

	close(p->fd);
	snprintf(command, sizeof(command), "rm -rf '%s'", p->dir);
	assert_int_equal(system(command), 0);
}

static bool has_archives(const struct place *p)
{
	return !access(p->archives, F_OK);
}

/* Nothing is mapped at this address, so the file is found by its path. */
static struct mapping mapped(const struct place *p, uint64_t ino)
{
	return (struct mapping){ .start = 0x1000, .len = 0x1000, .dev = 1, .ino = ino,
				 .path = p->file };
}

/* A mapping of the file under this name, whether or not it is a link. */
static struct mapping mapped_there(const struct place *p)
{
	struct mapping m;
	struct stat st;

	assert_int_equal(lstat(p->file, &st), 0);
	m = mapped(p, st.st_ino);
	m.dev = (uint64_t)major(st.st_dev) << 32 | minor(st.st_dev);
	return m;
}

/* Put a copy of this program under this name. */
static struct mapping put_elf(const struct place *p)
{
	char command[160];

	snprintf(command, sizeof(command), "cp /proc/%d/exe '%s'", getpid(), p->file);
	assert_int_equal(system(command), 0);
	return mapped_there(p);
}

/* The file under this name must not be taken. */
static void refuse(const struct place *p, const struct mapping *m)
{
	struct binaries *b = binaries_new(true, ARCHIVE_COPY, UINT64_MAX, p->fd);

	binaries_get(b, getpid(), m)->wanted = true;
	assert_int_equal(binaries_unreadable(b), 1);
	assert_int_equal(binaries_archive(b, UINT64_MAX, NULL, NULL), 0);
	assert_false(has_archives(p));
	binaries_free(b);
}

static void test_deleted_file_is_archived(void **state)
{
	struct place p = set_up();
	struct binaries *b = binaries_new(true, ARCHIVE_SYMBOLS, UINT64_MAX, p.fd);
	struct mapping m = put_elf(&p);
	struct binary *f;

	f = binaries_get(b, getpid(), &m);
	assert_string_equal(f->name, p.file);
	assert_int_equal(unlink(p.file), 0);
	/* A file that no stack mentions is not archived. */
	assert_int_equal(binaries_archive(b, UINT64_MAX, NULL, NULL), 0);
	assert_false(has_archives(&p));
	f->wanted = true;
	assert_int_equal(binaries_archive(b, UINT64_MAX, NULL, NULL), 0);
	assert_int_equal(binaries_unreadable(b), 0);
	assert_true(has_archives(&p));
	binaries_free(b);
	clean_up(&p);
}

static void test_replaced_file_has_a_name_of_its_own(void **state)
{
	struct place p = set_up();
	struct binaries *b = binaries_new(false, ARCHIVE_SYMBOLS, UINT64_MAX, p.fd);
	struct mapping first = mapped(&p, 7), second = mapped(&p, 8);
	char other[128];

	snprintf(other, sizeof(other), "/proc/4711/root%s", p.file);
	assert_string_equal(binaries_get(b, 4710, &first)->name, p.file);
	assert_string_equal(binaries_get(b, 4711, &second)->name, other);
	/* The file has one name, whichever process maps it. */
	assert_string_equal(binaries_get(b, 4712, &second)->name, other);
	assert_string_equal(binaries_get(b, 4713, &first)->name, p.file);
	binaries_free(b);
	clean_up(&p);
}

/* The name now belongs to another file: another inode or another device. */
static void test_other_file_is_not_taken(void **state)
{
	struct place p = set_up();
	struct mapping m = put_elf(&p);

	m.ino++;
	refuse(&p, &m);
	m = mapped_there(&p);
	m.dev++;
	refuse(&p, &m);
	clean_up(&p);
}

/* Links are not followed, in the last component or before: paths of mappings have no links. */
static void test_no_link_is_followed(void **state)
{
	struct place p = set_up();
	struct mapping m = put_elf(&p);
	char command[512], path[128];

	snprintf(command, sizeof(command), "mkdir %s/d && mv %s %s/d && ln -s d/prog %s && ln -s d %s/e",
		 p.dir, p.file, p.dir, p.file, p.dir);
	assert_int_equal(system(command), 0);
	refuse(&p, &m);
	snprintf(path, sizeof(path), "%s/e/prog", p.dir);
	m.path = path;
	refuse(&p, &m);
	clean_up(&p);
}

static void test_what_is_no_program_is_not_taken(void **state)
{
	static const char *const texts[] = { "", "\177EL", "a secret of some length" };
	struct place p = set_up();

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		__cleanup(closep) int fd = open(p.file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		struct mapping m = mapped_there(&p);

		assert_int_equal(write(fd, texts[i], strlen(texts[i])), strlen(texts[i]));
		refuse(&p, &m);
	}
	clean_up(&p);
}

/* Only regular files are opened, because opening a device may have side effects. */
static void test_what_is_no_file_is_not_opened(void **state)
{
	struct place p = set_up();
	struct binaries *b = binaries_new(true, ARCHIVE_SYMBOLS, UINT64_MAX, p.fd);
	__cleanup(closep) int opened = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	char event[sizeof(struct inotify_event) + 256];
	struct mapping m;

	assert_int_equal(mkfifo(p.file, 0600), 0);
	assert_true(inotify_add_watch(opened, p.file, IN_OPEN) >= 0);
	m = mapped_there(&p);
	binaries_get(b, getpid(), &m)->wanted = true;
	assert_int_equal(binaries_unreadable(b), 1);
	assert_true(read(opened, event, sizeof(event)) < 0);
	binaries_free(b);
	clean_up(&p);
}

/* More files than may be open: nothing is archived before the end, and the others are counted. */
static void test_many_files(void **state)
{
	enum { FILES = 600, LIMIT = 256 };
	struct rlimit was, low;
	struct place p = set_up();
	struct mapping m = put_elf(&p);
	struct binaries *b;
	char name[96];

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	low = was;
	low.rlim_cur = LIMIT;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	b = binaries_new(true, ARCHIVE_SYMBOLS, UINT64_MAX, p.fd);
	m.path = name;
	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "%s/%d", p.dir, i);
		assert_int_equal(link(p.file, name), 0);
		binaries_get(b, getpid(), &m)->wanted = true;
	}
	assert_false(has_archives(&p));
	assert_int_equal(binaries_unreadable(b), FILES - LIMIT / 4);
	binaries_free(b);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	clean_up(&p);
}

/* --- files that no process maps any more --- */

static bool is_archived(const struct place *p, const char *path)
{
	__cleanup(closep) int fd = archive_open(p->fd, path);

	return fd >= 0;
}

static void test_unmapped_files_are_closed(void **state)
{
	struct place p = set_up();
	struct binaries *b = binaries_new(true, ARCHIVE_SYMBOLS, UINT64_MAX, p.fd);
	struct mapping m = put_elf(&p);

	m.file = 5;
	binaries_get(b, getpid(), &m);
	assert_int_equal(binaries_nopen(b), 1);
	binaries_unmapped(b, 4);
	assert_int_equal(binaries_nopen(b), 1);
	binaries_unmapped(b, 5);
	assert_int_equal(binaries_nopen(b), 0);
	/* It is mapped again. */
	m.file = 6;
	binaries_get(b, getpid(), &m)->wanted = true;
	assert_int_equal(binaries_nopen(b), 1);
	binaries_unmapped(b, 6);
	assert_int_equal(binaries_nopen(b), 1);
	assert_int_equal(binaries_archive(b, UINT64_MAX, NULL, NULL), 0);
	assert_true(is_archived(&p, p.file));
	assert_int_equal(binaries_nopen(b), 0);
	assert_int_equal(binaries_unreadable(b), 0);
	binaries_free(b);
	clean_up(&p);
}

static void add_a_file(void *ctx)
{
	for (uint64_t i = 0; i < 64; i++)
		binaries_get(ctx, getpid(),
			     &(struct mapping){ .path = "/none", .dev = 1, .ino = 100 + i });
}

/* During a recording only wanted files that no process maps are archived. Others are added meanwhile. */
static void test_unmapped_files_are_archived_early(void **state)
{
	struct place p = set_up();
	struct binaries *b = binaries_new(true, ARCHIVE_SYMBOLS, UINT64_MAX, p.fd);
	struct mapping m = put_elf(&p);

	binaries_share(b);
	binaries_set_relief(b, add_a_file, b);
	m.file = 5;
	binaries_get(b, getpid(), &m)->wanted = true;
	binaries_archive_unmapped(b, UINT64_MAX);
	assert_false(has_archives(&p));
	assert_int_equal(binaries_nopen(b), 1);
	binaries_unmapped(b, 5);
	assert_int_equal(binaries_nopen(b), 1);
	binaries_archive_unmapped(b, UINT64_MAX);
	assert_true(is_archived(&p, p.file));
	assert_int_equal(binaries_nopen(b), 0);
	/* Another file with this inode is not taken for it. */
	m.file = 6;
	binaries_get(b, getpid(), &m)->wanted = true;
	assert_int_equal(binaries_nopen(b), 1);
	assert_int_equal(binaries_archive(b, UINT64_MAX, NULL, NULL), 0);
	binaries_free(b);
	clean_up(&p);
}

/* The archive of a mapped file is kept for later segments, that of another file is not. */
static void test_a_segment_forgets_unmapped_files(void **state)
{
	struct place p = set_up();
	struct binaries *b = binaries_new(true, ARCHIVE_SYMBOLS, UINT64_MAX, p.fd);
	struct mapping m = put_elf(&p);
	struct binary *f;

	binaries_share(b);
	m.file = 1;
	binaries_get(b, getpid(), &m)->wanted = true;
	assert_int_equal(binaries_archive(b, UINT64_MAX, NULL, NULL), 0);
	binaries_next(b, p.fd, UINT64_MAX);
	assert_int_equal(binaries_nopen(b), 1);
	binaries_unmapped(b, 1);
	assert_int_equal(binaries_nopen(b), 0);
	binaries_next(b, p.fd, UINT64_MAX);
	/* Another file, which has this path now: it has the plain name, and is archived itself. */
	assert_int_equal(unlink(p.file), 0);
	m = put_elf(&p);
	m.file = 2;
	f = binaries_get(b, getpid(), &m);
	assert_string_equal(f->name, p.file);
	assert_int_equal(binaries_nopen(b), 1);
	assert_int_equal(binaries_unreadable(b), 0);
	binaries_free(b);
	clean_up(&p);
}

/* Archive the file in another segment. Returns the archive's inode number. */
static ino_t archived_in_segment(const struct place *p, struct binaries *b, const struct mapping *m)
{
	struct stat st;
	int fd;

	binaries_get(b, getpid(), m)->wanted = true;
	assert_int_equal(binaries_archive(b, UINT64_MAX, NULL, NULL), 0);
	fd = archive_open(p->fd, p->file);
	assert_int_equal(fstat(fd, &st), 0);
	close(fd);
	binaries_next(b, p->fd, UINT64_MAX);
	return st.st_ino;
}

/*
 * All segments that have an archive may be removed before another one needs it: then it is copied
 * once, and later segments share the copy.
 */
static void test_a_copied_archive_is_shared(void **state)
{
	struct place p = set_up();
	struct binaries *b = binaries_new(true, ARCHIVE_SYMBOLS, UINT64_MAX, p.fd);
	struct mapping m = put_elf(&p);
	char command[96], aside[96];
	ino_t first, copy;

	snprintf(command, sizeof(command), "rm -r '%s'", p.archives);
	snprintf(aside, sizeof(aside), "%s/aside", p.dir);
	binaries_share(b);
	m.file = 1;
	first = archived_in_segment(&p, b, &m);
	assert_int_equal(system(command), 0);
	copy = archived_in_segment(&p, b, &m);
	assert_int_not_equal(copy, first);
	assert_int_equal(rename(p.archives, aside), 0);
	assert_int_equal(archived_in_segment(&p, b, &m), copy);
	binaries_free(b);
	clean_up(&p);
}

/* Whatever ends archiving early: files that were not reached are not archived either. */
static void test_files_that_were_not_reached(void **state)
{
	for (int share = 0; share <= 1; share++) {
		struct place p = set_up();
		struct binaries *b = binaries_new(true, ARCHIVE_SYMBOLS, UINT64_MAX, p.fd);
		struct mapping m = put_elf(&p);
		volatile int stop = 1;
		char name[96];

		if (share)
			binaries_share(b);
		m.path = name;
		for (int i = 0; i < 3; i++) {
			snprintf(name, sizeof(name), "%s/%d", p.dir, i);
			assert_int_equal(link(p.file, name), 0);
			binaries_get(b, getpid(), &m)->wanted = i < 2;
		}
		assert_int_equal(binaries_archive(b, UINT64_MAX, &stop, NULL), -EINTR);
		assert_int_equal(binaries_left(b), 2);
		assert_int_equal(binaries_unreadable(b), 0);
		assert_int_equal(binaries_archive(b, UINT64_MAX, NULL, NULL), 0);
		assert_int_equal(binaries_left(b), 0);
		binaries_free(b);
		clean_up(&p);
	}
}

/* Files of all segments: neither descriptors nor names add up. */
static void test_names_of_many_segments(void **state)
{
	struct place p = set_up();
	struct binaries *b = binaries_new(true, ARCHIVE_SYMBOLS, UINT64_MAX, p.fd);
	struct mapping m = put_elf(&p), kept = m;
	char name[96];

	binaries_share(b);
	kept.file = 1;
	binaries_get(b, getpid(), &kept);
	m.path = name;
	m.file = 2;
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "%s/%d", p.dir, i);
		assert_int_equal(link(p.file, name), 0);
		assert_string_equal(binaries_get(b, getpid(), &m)->name, name);
		assert_int_equal(unlink(name), 0);
		binaries_unmapped(b, 2);
		if (i % 100 == 0)
			binaries_next(b, p.fd, UINT64_MAX);
	}
	assert_int_equal(binaries_nopen(b), 1);
	assert_string_equal(binaries_get(b, getpid(), &kept)->name, p.file);
	binaries_free(b);
	clean_up(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deleted_file_is_archived),
		cmocka_unit_test(test_replaced_file_has_a_name_of_its_own),
		cmocka_unit_test(test_other_file_is_not_taken),
		cmocka_unit_test(test_no_link_is_followed),
		cmocka_unit_test(test_what_is_no_program_is_not_taken),
		cmocka_unit_test(test_what_is_no_file_is_not_opened),
		cmocka_unit_test(test_many_files),
		cmocka_unit_test(test_unmapped_files_are_closed),
		cmocka_unit_test(test_unmapped_files_are_archived_early),
		cmocka_unit_test(test_a_segment_forgets_unmapped_files),
		cmocka_unit_test(test_a_copied_archive_is_shared),
		cmocka_unit_test(test_files_that_were_not_reached),
		cmocka_unit_test(test_names_of_many_segments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
