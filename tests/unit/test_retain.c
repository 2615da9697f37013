/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The oldest segments go beyond the quota, and nothing else does. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <dirent.h>

#include "analysis/base/diag.h"
#include "user/record/retain.h"

static char dir[] = "/tmp/test_retain.XXXXXX";
static int dirfd_;

static int make_dir(void **state)
{
	return mkdtemp(dir) && (dirfd_ = open(dir, O_RDONLY | O_DIRECTORY)) >= 0 ? 0 : -1;
}

static int remove_dir(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	close(dirfd_);
	return system(command);
}

static void shell(const char *format, const char *name)
{
	char what[128], command[256];

	snprintf(what, sizeof(what), format, name, name, name, name);
	snprintf(command, sizeof(command), "cd %s && %s", dir, what);
	assert_int_equal(system(command), 0);
}

static bool exists(const char *name)
{
	struct stat st;

	return !fstatat(dirfd_, name, &st, AT_SYMLINK_NOFOLLOW);
}

/* A segment of 400 KB with a sub-experiment. */
static void add(struct retain *r, const char *name)
{
	shell("mkdir -p %s/_a.1.er/x && head -c 200000 /dev/zero >%s/log.xml && "
	      "head -c 200000 /dev/zero >%s/_a.1.er/p", name);
	assert_true(retain_add(r, dirfd_, name, name));
}

static void test_oldest_go(void **state)
{
	struct retain *r = retain_new(1000000);
	struct diag d = { 0 };

	add(r, "a.er");
	add(r, "b.er");
	assert_int_equal(retain_make_room(r, 100000, &d), 0);
	assert_int_equal(retain_make_room(r, 300000, &d), 1);
	assert_false(exists("a.er"));
	assert_true(exists("b.er"));
	/* The newest stays in any case. */
	assert_int_equal(retain_make_room(r, 9000000, &d), 0);
	assert_false(retain_drop_oldest(r, &d));
	assert_true(exists("b.er"));
	assert_int_equal(d.nmsgs, 0);
	retain_free(r);
}

static void test_shared_files_count_once(void **state)
{
	struct retain *r = retain_new(10000000);
	struct diag d = { 0 };
	uint64_t one;

	shell("mkdir -p %s && head -c 300000 /dev/zero >%s/lib", "s.er");
	retain_add(r, dirfd_, "s.er", "s.er");
	one = retain_bytes(r);
	shell("mkdir -p %s && ln s.er/lib %s/lib", "t.er");
	retain_add(r, dirfd_, "t.er", "t.er");
	assert_in_range(retain_bytes(r) - one, 0, 20000);
	assert_true(retain_drop_oldest(r, &d));
	assert_in_range(retain_bytes(r), 300000, 330000);
	retain_free(r);
}

static size_t open_files(void)
{
	DIR *fds = opendir("/proc/self/fd");
	size_t n = 0;

	assert_non_null(fds);
	while (readdir(fds))
		n++;
	closedir(fds);
	return n;
}

/* However many segments there are, a directory takes one descriptor, and only while it has some. */
static void test_descriptors(void **state)
{
	struct retain *r = retain_new(10000000);
	size_t before = open_files();
	struct diag d = { 0 };
	int other;

	add(r, "h.er");
	add(r, "i.er");
	assert_int_equal(open_files(), before + 1);
	shell("mkdir -p %s/j.er", "other");
	other = openat(dirfd_, "other", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(retain_add(r, other, "j.er", "other/j.er"));
	close(other);
	assert_int_equal(open_files(), before + 2);
	assert_true(retain_drop_oldest(r, &d));
	assert_int_equal(open_files(), before + 2);
	assert_true(retain_drop_oldest(r, &d));
	assert_int_equal(open_files(), before + 1);
	add(r, "k.er");
	assert_true(retain_drop_oldest(r, &d));
	assert_false(exists("other/j.er"));
	assert_int_equal(d.nmsgs, 0);
	retain_free(r);
	assert_int_equal(open_files(), before);
}

/* A user may move segments elsewhere. Then nothing of them counts, shared or not. */
static void test_moved_away(void **state)
{
	struct retain *r = retain_new(10000000);
	struct diag d = { 0 };

	shell("mkdir -p %s && head -c 300000 /dev/zero >%s/lib", "u.er");
	retain_add(r, dirfd_, "u.er", "u.er");
	shell("mkdir -p %s && ln u.er/lib %s/lib", "v.er");
	retain_add(r, dirfd_, "v.er", "v.er");
	add(r, "w.er");
	shell("mv %s elsewhere1.er", "u.er");
	shell("mv %s elsewhere2.er", "v.er");
	assert_true(retain_drop_oldest(r, &d));
	assert_true(retain_drop_oldest(r, &d));
	assert_in_range(retain_bytes(r), 400000, 430000);
	assert_true(exists("elsewhere1.er/lib"));
	assert_int_equal(d.nmsgs, 0);
	retain_free(r);
}

/* Another user puts a link, another directory or nothing in the place of a segment. */
static void test_exchanged(void **state)
{
	struct retain *r = retain_new(1000);
	struct diag d = { 0 };

	shell("mkdir -p %s && echo mine >%s/mine", "victim.er");
	add(r, "link.er");
	add(r, "other.er");
	add(r, "gone.er");
	add(r, "inside.er");
	add(r, "last.er");
	shell("mv %s moved1.er && ln -s victim.er %s", "link.er");
	shell("mv %s moved2.er && mkdir %s && echo mine >%s/mine", "other.er");
	shell("rm -r %s", "gone.er");
	shell("rm -r %s/_a.1.er && ln -s ../victim.er %s/_a.1.er", "inside.er");
	retain_make_room(r, 0, &d);
	assert_int_equal(d.nmsgs, 2);
	assert_true(exists("victim.er/mine"));
	assert_true(exists("other.er/mine"));
	assert_true(exists("moved1.er/log.xml"));
	assert_true(exists("link.er"));
	assert_false(exists("inside.er"));
	diag_free(&d);
	retain_free(r);
}

static void test_clear(void **state)
{
	struct retain *r = retain_new(10000000);
	struct diag d = { 0 };

	add(r, "first.er");
	add(r, "second.er");
	retain_clear(r, &d);
	assert_false(exists("first.er") || exists("second.er"));
	assert_int_equal(retain_bytes(r), 0);
	assert_int_equal(d.nmsgs, 0);
	retain_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oldest_go),
		cmocka_unit_test(test_shared_files_count_once),
		cmocka_unit_test(test_descriptors), cmocka_unit_test(test_moved_away),
		cmocka_unit_test(test_exchanged),
		cmocka_unit_test(test_clear),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
