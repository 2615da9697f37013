/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/base/diag.h"
#include "analysis/experiment/exp_group.h"
#include "analysis/experiment/experiment.h"
#include "tests/fixtures/tempdir.h"

static void names_free(str_vec *v)
{
	vec_for_each(s, v)
		free(*s);
	vec_free(v);
}

static void write_text(const char *dir, const char *file, const char *text)
{
	tempdir_write(dir, file, text, strlen(text));
}

/* The three forms of a group file. */
static void experiments_are_added_line_by_line(void **state)
{
	__cleanup(freep) char *path = xasprintf("%s/grp.erg", (char *)*state);
	__cleanup(freep) char *text = NULL;

	assert_int_equal(group_add(path, "grp.1.er", NULL), 0);
	assert_int_equal(group_add(path, "grp.2.er", NULL), 0);
	text = tempdir_read(*state, "grp.erg", NULL);
	assert_string_equal(text, "#analyzer experiment group\ngrp.1.er\ngrp.2.er\n");
}

static void an_experiment_is_removed(void **state)
{
	__cleanup(freep) char *path = xasprintf("%s/r.erg", (char *)*state);
	__cleanup(freep) char *text = NULL;

	write_text(*state, "r.erg", "#analyzer experiment group\nr.1.er\nr.10.er\n# r.1.er\nr.1.er");
	assert_int_equal(group_remove(path, "r.1.er", NULL), 0);
	text = tempdir_read(*state, "r.erg", NULL);
	assert_string_equal(text, "#analyzer experiment group\nr.10.er\n# r.1.er\n");
}

/* A file that is no group stays as it is; one that is gone is no error. */
static void only_a_group_is_changed(void **state)
{
	__cleanup(freep) char *path = xasprintf("%s/other", (char *)*state);
	__cleanup(freep) char *gone = xasprintf("%s/gone.erg", (char *)*state);
	__cleanup(freep) char *text = NULL;
	struct diag d = { 0 };

	write_text(*state, "other", "r.1.er\n");
	assert_int_equal(group_remove(path, "r.1.er", &d), -1);
	assert_int_equal(d.nmsgs, 1);
	text = tempdir_read(*state, "other", NULL);
	assert_string_equal(text, "r.1.er\n");
	assert_int_equal(group_remove(gone, "r.1.er", &d), 0);
	diag_free(&d);
}

static void names_are_relative_to_the_group(void **state)
{
	__cleanup(freep) char *path = xasprintf("%s/g.erg", (char *)*state);
	__cleanup(freep) char *beside = xasprintf("%s/a.1.er", (char *)*state);
	str_vec v = { 0 };

	write_text(*state, "g.erg", "#analyzer experiment group\r\na.1.er\r\n\n# no\n/x/b.2.er");
	assert_int_equal(group_read(path, &v, NULL), 0);
	assert_int_equal(v.len, 2);
	assert_string_equal(v.data[0], beside);
	assert_string_equal(v.data[1], "/x/b.2.er");
	names_free(&v);
}

static void a_line_without_end_is_ended(void **state)
{
	__cleanup(freep) char *path = xasprintf("%s/g.erg", (char *)*state);
	__cleanup(freep) char *text = NULL;

	write_text(*state, "g.erg", "#analyzer experiment group\na.1.er");
	assert_int_equal(group_add(path, "b.1.er", NULL), 0);
	text = tempdir_read(*state, "g.erg", NULL);
	assert_string_equal(text, "#analyzer experiment group\na.1.er\nb.1.er\n");
}

static void what_is_no_group_is_left_alone(void **state)
{
	__cleanup(freep) char *path = xasprintf("%s/precious", (char *)*state);
	__cleanup(freep) char *text = NULL;
	struct diag d = { 0 };
	str_vec v = { 0 };

	write_text(*state, "precious", "#analyzer experiment groupies\n");
	assert_int_equal(group_add(path, "b.1.er", &d), -1);
	assert_int_equal(group_read(path, &v, &d), -1);
	assert_int_equal(d.nerrors, 2);
	assert_non_null(strstr(d.msgs[0].text, "the first line is not"));
	text = tempdir_read(*state, "precious", NULL);
	assert_string_equal(text, "#analyzer experiment groupies\n");
	diag_free(&d);
}

static void a_group_of_nothing_is_told(void **state)
{
	__cleanup(freep) char *path = xasprintf("%s/g.erg", (char *)*state);
	struct diag d = { 0 };
	str_vec v = { 0 };

	write_text(*state, "g.erg", "#analyzer experiment group\n\n");
	assert_int_equal(group_read(path, &v, &d), 0);
	assert_int_equal(v.len, 0);
	assert_int_equal(d.nwarnings, 1);
	diag_free(&d);
}

static void links_and_missing_files_are_refused(void **state)
{
	__cleanup(freep) char *link = xasprintf("%s/link.erg", (char *)*state);
	__cleanup(freep) char *target = xasprintf("%s/target", (char *)*state);
	struct diag d = { 0 };
	str_vec v = { 0 };

	assert_int_equal(symlink("target", link), 0);
	assert_int_equal(group_add(link, "b.1.er", &d), -1);
	assert_int_equal(access(target, F_OK), -1);
	assert_int_equal(group_read(target, &v, &d), -1);
	assert_int_equal(d.nerrors, 2);
	diag_free(&d);
}

/* The message names the line, and the file that has it. */
static void a_missing_experiment_has_its_line(void **state)
{
	__cleanup(freep) char *path = xasprintf("%s/grp.erg", (char *)*state);
	__cleanup(freep) char *gone = xasprintf("%s/b.er", (char *)*state);
	__cleanup(freep) char *want = xasprintf("remove line 4 of the group file '%s'", path);
	struct diag d = { 0 };

	write_text(*state, "grp.erg", "#analyzer experiment group\n\na.er\nb.er\n");
	assert_int_equal(group_lacks(path, gone, &d), -1);
	assert_int_equal(d.nmsgs, 1);
	assert_non_null(strstr(d.msgs[0].text, want));
	diag_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEMPDIR_CASE(experiments_are_added_line_by_line),
		TEMPDIR_CASE(an_experiment_is_removed),
		TEMPDIR_CASE(only_a_group_is_changed),
		TEMPDIR_CASE(names_are_relative_to_the_group),
		TEMPDIR_CASE(a_line_without_end_is_ended),
		TEMPDIR_CASE(what_is_no_group_is_left_alone),
		TEMPDIR_CASE(a_group_of_nothing_is_told),
		TEMPDIR_CASE(links_and_missing_files_are_refused),
		TEMPDIR_CASE(a_missing_experiment_has_its_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
