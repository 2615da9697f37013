/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any directory tree works: a cgroup is a directory, and its id the inode number. */
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

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "user/record/cgroups.h"
#include "tests/fixtures/tempdir.h"

static uint64_t make_group(const char *root, const char *path)
{
	__cleanup(freep) char *dir = xasprintf("%s%s", root, path);
	struct stat st;

	if (*path)
		assert_int_equal(mkdir(dir, 0700), 0);
	assert_int_equal(stat(dir, &st), 0);
	return st.st_ino;
}

static void test_paths(void **state)
{
	char *root = tempdir_new();
	uint64_t slice = make_group(root, "/system.slice");
	uint64_t service = make_group(root, "/system.slice/ssh.service");
	struct cgroups *c = cgroups_new(root);

	assert_string_equal(cgroups_path(c, service), "/system.slice/ssh.service");
	assert_string_equal(cgroups_path(c, slice), "/system.slice");
	assert_string_equal(cgroups_path(c, make_group(root, "")), "/");
	assert_null(cgroups_path(c, 0));
	cgroups_free(c);
	tempdir_remove(root);
}

/*
 * The path of a new cgroup, which is found when the tree is scanned again: at least a second later,
 * and the later, the slower the last scan was.
 */
static const char *late_path(struct cgroups *c, uint64_t id)
{
	for (int i = 0; i < 200 && !cgroups_path(c, id); i++)
		sleep(1);
	assert_non_null(cgroups_path(c, id));
	return cgroups_path(c, id);
}

static void test_new_group(void **state)
{
	char *root = tempdir_new();
	struct cgroups *c = cgroups_new(root);
	uint64_t id;

	assert_non_null(cgroups_path(c, make_group(root, "")));
	id = make_group(root, "/late");
	assert_string_equal(late_path(c, id), "/late");
	cgroups_free(c);
	tempdir_remove(root);
}

/* Any user with a cgroup of its own may make many in it. */
static void test_many_groups(void **state)
{
	enum { MANY = 16384 };
	char *root = tempdir_new(), name[32];
	struct cgroups *c = cgroups_new(root);
	uint64_t late;

	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "/%d", i);
		make_group(root, name);
	}
	assert_string_equal(cgroups_path(c, make_group(root, "")), "/");
	for (int i = 0; i < MANY; i++) {
		__cleanup(freep) char *dir = xasprintf("%s/%d", root, i);

		assert_int_equal(rmdir(dir), 0);
	}
	late = make_group(root, "/late");
	assert_string_equal(late_path(c, late), "/late"); /* the groups that are gone make room for it */
	cgroups_free(c);
	tempdir_remove(root);
}

static void test_long_paths(void **state)
{
	char *root = tempdir_new(), name[251];
	struct cgroups *c = cgroups_new(root);
	struct buf path = { 0 };
	uint64_t id[6];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (int i = 0; i < 6; i++) {
		buf_printf(&path, "/%s", name);
		id[i] = make_group(root, path.data);
	}
	assert_string_equal(cgroups_path(c, make_group(root, "/.hidden")), "/.hidden");
	assert_int_equal(strlen(cgroups_path(c, id[3])), 4 * 251);
	assert_null(cgroups_path(c, id[4]));
	assert_null(cgroups_path(c, id[5]));
	buf_free(&path);
	cgroups_free(c);
	tempdir_remove(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_new_group),
		cmocka_unit_test(test_many_groups),
		cmocka_unit_test(test_long_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
