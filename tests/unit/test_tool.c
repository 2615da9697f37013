/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared parts of the experiment tools: command lines, operands, trees. */
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

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/files/cmdline.h"
#include "analysis/files/operand.h"
#include "analysis/base/tree.h"
#include "tests/fixtures/tempdir.h"

static char *dir;
static int dirfd_;

static int setup(void **state)
{
	dir = tempdir_new();
	dirfd_ = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dirfd_ < 0 ? -1 : chdir(dir);
}

static int teardown(void **state)
{
	close(dirfd_);
	if (chdir("/"))
		return -1;
	tempdir_remove(dir);
	return 0;
}

static bool is_there(const char *name)
{
	struct stat st;

	return lstat(name, &st) == 0;
}

/* --- command lines --- */

struct got {
	bool flag;
	const char *value;
};

static int set_flag(void *settings, const char *arg, struct diag *d)
{
	((struct got *)settings)->flag = true;
	return 0;
}

static int set_value(void *settings, const char *arg, struct diag *d)
{
	((struct got *)settings)->value = arg;
	return strcmp(arg, "bad") ? 0 : diag_error(d, "-v: bad");
}

static int parse(const char *words, struct got *g, struct operands *o, struct diag *d)
{
	static const char *const synopses[] = { "things", NULL };
	static const struct tool_option options[] = {
		{ 'f', NULL, "a flag", set_flag },
		{ 'v', "value", "a value", set_value },
	};
	static char text[256], *argv[16]; /* operands point there */
	const struct tool t = { "tool", synopses, options, 2, 1 };
	char *rest = strcpy(text, words), *word;
	int argc = 1;

	argv[0] = (char *)"tool";
	while ((word = strsep(&rest, " ")))
		argv[argc++] = word;
	argv[argc] = NULL;
	*g = (struct got){ 0 };
	return tool_parse(&t, argc, argv, g, o, d);
}

static void options_come_from_their_rows(void **state)
{
	struct diag d = { 0 };
	struct operands o;
	struct got g;

	assert_int_equal(parse("-f one -v 7 two", &g, &o, &d), TOOL_RUN);
	assert_true(g.flag);
	assert_string_equal(g.value, "7");
	assert_int_equal(o.n, 2);
	assert_string_equal(o.v[0], "one");
	assert_int_equal(parse("-- -f", &g, &o, &d), TOOL_RUN);
	assert_false(g.flag);
	assert_int_equal(d.nmsgs, 0);
	diag_free(&d);
}

static void a_wrong_command_line_is_one_sentence(void **state)
{
	static const struct {
		const char *words, *message;
	} rows[] = {
		{ "-x one", "-x: no such option; see tool -h" },
		{ "--long one", "--long: no such option; see tool -h" },
		{ "one -v", "-v: needs an argument: value" },
		{ "-v bad one", "-v: bad" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct diag d = { 0 };
		struct operands o;
		struct got g;

		assert_int_equal(parse(rows[i].words, &g, &o, &d), TOOL_USAGE);
		assert_int_equal(d.nmsgs, 1);
		assert_string_equal(d.msgs[0].text, rows[i].message);
		diag_free(&d);
	}
}

/* --- operands --- */

static void places_are_entries_of_open_directories(void **state)
{
	struct diag d = { 0 };
	struct operand p;

	assert_int_equal(mkdir("x.er", 0700), 0);
	assert_int_equal(operand_init(&p, "x.er///", &d), 0);
	assert_string_equal(p.path, "x.er");
	assert_string_equal(p.name, "x.er");
	assert_true(operand_exists(&p));
	operand_free(&p);
	assert_int_equal(operand_init(&p, "none/x.er", &d), -1);
	operand_free(&p);
	assert_int_equal(operand_init(&p, "x.er/..", &d), -1);
	operand_free(&p);
	assert_int_equal(operand_init(&p, "/", &d), -1);
	operand_free(&p);
	assert_int_equal(d.nerrors, 3);
	diag_free(&d);
}

static int opened(const char *path)
{
	struct operand p;
	int fd = -1;

	if (!operand_init(&p, path, NULL))
		fd = operand_open_experiment(&p, NULL);
	operand_free(&p);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void only_experiments_are_opened(void **state)
{
	assert_int_equal(mkdir("x.er", 0700), 0);
	assert_true(opened("x.er"));
	tempdir_write("x.er", "thesis.tex", "x", 1);
	assert_false(opened("x.er"));
	tempdir_write("x.er", "log.xml", "x", 1);
	assert_true(opened("x.er"));
	assert_int_equal(symlink("x.er", "link.er"), 0);
	assert_false(opened("link.er"));
	assert_int_equal(mkdir("dir", 0700), 0);
	assert_false(opened("dir"));
}

static int count(void *ctx, const char *path, struct diag *d)
{
	++*(int *)ctx;
	return strstr(path, "bad") ? -1 : 0;
}

static void groups_stand_for_their_members(void **state)
{
	static const char group[] = "#analyzer experiment group\na.er\nbad.er\nc.er\n";
	int n = 0;

	tempdir_write(".", "g.erg", group, strlen(group));
	assert_int_equal(operand_each("x.er", count, &n, NULL), 0);
	assert_int_equal(n, 1);
	assert_int_equal(operand_each("g.erg", count, &n, NULL), -1);
	assert_int_equal(n, 4);
	assert_int_equal(operand_each("none.erg", count, &n, NULL), -1);
	assert_int_equal(n, 4);
}

/* --- trees --- */

static int copy(const char *name, const char *to, const volatile int *stop, struct diag *d)
{
	const struct tree_copy c = { .from = dirfd_, .to = dirfd_, .name = name, .copy = to,
				     .path = name, .stop = stop };

	return tree_copy(&c, d);
}

static void trees_are_copied_as_they_are(void **state)
{
	struct diag d = { 0 };
	char target[16] = "";
	struct stat st;

	assert_int_equal(mkdir("a", 0750), 0);
	assert_int_equal(mkdir("a/sub", 0700), 0);
	tempdir_write("a/sub", "file", "text", 4);
	assert_int_equal(chmod("a/sub/file", 0640), 0);
	assert_int_equal(symlink("../../etc", "a/link"), 0);
	assert_int_equal(mkfifo("a/fifo", 0600), 0);
	assert_int_equal(copy("a", "b", NULL, &d), 0);
	assert_int_equal(d.nwarnings, 1);
	assert_int_equal(stat("b/sub/file", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(st.st_size, 4);
	assert_int_equal(stat("b", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0750);
	assert_true(readlink("b/link", target, sizeof(target) - 1) > 0);
	assert_string_equal(target, "../../etc");
	assert_false(is_there("b/fifo"));
	diag_free(&d);
}

static void a_copy_that_fails_leaves_nothing(void **state)
{
	struct diag d = { 0 };
	int stop = 1;

	assert_int_equal(mkdir("a", 0700), 0);
	tempdir_write("a", "file", "text", 4);
	assert_int_equal(copy("a", "b", &stop, &d), -1);
	assert_false(is_there("b"));
	assert_int_equal(mkdir("b", 0700), 0);
	assert_int_equal(copy("a", "b", NULL, &d), -1);
	assert_true(is_there("b"));
	assert_int_equal(copy("none", "c", NULL, &d), -1);
	assert_int_equal(d.nerrors, 3);
	diag_free(&d);
}

static void removing_stays_inside(void **state)
{
	struct diag d = { 0 };

	assert_int_equal(mkdir("outside", 0700), 0);
	tempdir_write("outside", "file", "text", 4);
	assert_int_equal(mkdir("a", 0700), 0);
	assert_int_equal(symlink("../outside", "a/dir"), 0);
	assert_int_equal(symlink("a", "link"), 0);
	assert_true(tree_remove(dirfd_, "link", "link", &d) != 0);
	assert_true(is_there("a"));
	assert_int_equal(tree_remove(dirfd_, "a", "a", &d), 0);
	assert_false(is_there("a"));
	assert_true(is_there("outside/file"));
	assert_true(tree_remove(dirfd_, "a", "a", &d) != 0);
	assert_int_equal(d.nerrors, 2);
	diag_free(&d);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(options_come_from_their_rows),
		TEST(a_wrong_command_line_is_one_sentence),
		TEST(places_are_entries_of_open_directories),
		TEST(only_experiments_are_opened),
		TEST(groups_stand_for_their_members),
		TEST(trees_are_copied_as_they_are),
		TEST(a_copy_that_fails_leaves_nothing),
		TEST(removing_stays_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
