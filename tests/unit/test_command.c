/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command table and what reads commands: words, names, argument counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>

#include <cmocka.h>

#include "analysis/base/diag.h"
#include "analysis/command/command.h"
#include "analysis/command/words.h"

static void assert_words(const char *line, const char *joined)
{
	struct words w = { 0 };
	char got[256] = "";

	assert_true(words_split(&w, line));
	vec_for_each(s, &w.v) {
		strcat(got, *s);
		strcat(got, "|");
	}
	assert_string_equal(got, joined);
	words_free(&w);
}

static void lines_fall_into_words(void **state)
{
	assert_words("", "");
	assert_words("  functions\t", "functions|");
	assert_words("fsingle \"operator new\" 2", "fsingle|operator new|2|");
	assert_words("filters (FNAME(\"f\")#1", "filters|(FNAME(\"f\")#1|");
	assert_words("filters \"a \\\"b\\\" c\"", "filters|a \"b\" c|");
	assert_words("x \"\"", "x||");
	assert_words("x \"two\nlines\"", "x|two\nlines|");
	assert_words("functions # the hot ones", "functions|");
	assert_words("# all of it", "");
	assert_words(" @ all of it", "");
	assert_words("x @y", "x|@y|");
}

static void open_quotes_ask_for_more(void **state)
{
	struct words w = { 0 };

	assert_false(words_split(&w, "fsingle \"operator"));
	assert_false(words_split(&w, "fsingle \"a\\\""));
	assert_true(words_split(&w, "fsingle a\""));
	words_free(&w);
}

static void backslash_joins_lines(void **state)
{
	assert_true(line_continues("functions \\"));
	assert_false(line_continues("functions"));
	assert_false(line_continues(""));
	assert_false(line_continues("  # comment \\"));
}

static const char *found(const char *name)
{
	struct diag d = { 0 };
	const struct command *c = command_find(name, &d);

	assert_int_equal(d.nerrors, c ? 0 : 1);
	diag_free(&d);
	return c ? c->name : "none";
}

static void names_may_be_shortened(void **state)
{
	assert_string_equal(found("functions"), "functions");
	assert_string_equal(found("func"), "functions");
	assert_string_equal(found("Threads"), "threads");
	assert_string_equal(found("exp_list"), "experiment_list");
	assert_string_equal(found("experiment_l"), "experiment_list");
	assert_string_equal(found("gprof"), "callers-callees");
	assert_string_equal(found("ctree"), "calltree");
	/* the full name of one command and a prefix of another */
	assert_string_equal(found("metrics"), "metrics");
	assert_string_equal(found("objects"), "objects");
	assert_string_equal(found("ex"), "none");
	assert_string_equal(found("xyz"), "none");
	assert_string_equal(found(""), "none");
}

static void ambiguity_names_the_candidates(void **state)
{
	struct diag d = { 0 };

	assert_null(command_find("fs", &d));
	assert_non_null(strstr(d.msgs[0].text, "fsummary, fsingle"));
	diag_free(&d);
}

static void arguments_are_counted(void **state)
{
	struct diag d = { 0 };

	assert_int_equal(command_check_args(command_find("functions", &d), 0, &d), 0);
	assert_int_equal(command_check_args(command_find("functions", &d), 1, &d), -1);
	assert_int_equal(command_check_args(command_find("fsingle", &d), 0, &d), -1);
	assert_int_equal(command_check_args(command_find("fsingle", &d), 2, &d), 0);
	assert_int_equal(command_check_args(command_find("fsingle", &d), 3, &d), -1);
	assert_int_equal(d.nerrors, 3);
	diag_free(&d);
}

/* Checks that a new row of the table is complete. */
static void rows_are_whole(void **state)
{
	const struct command *c, *before = NULL;

	for (size_t i = 0; (c = command_at(i)); i++, before = c) {
		assert_int_equal(!!c->view + !!c->run + !!c->type, 1);
		assert_true(c->min <= c->max && c->option_args <= c->max);
		assert_true(c->min <= c->option_args || !c->max);
		assert_int_equal(c->max > 0, c->args != NULL);
		assert_true(!before || c->section >= before->section);
		assert_string_equal(found(c->name), c->name);
		assert_true(c->help && *c->help);
		if (c->alias)
			assert_string_equal(found(c->alias), c->name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_fall_into_words),
		cmocka_unit_test(open_quotes_ask_for_more),
		cmocka_unit_test(backslash_joins_lines),
		cmocka_unit_test(names_may_be_shortened),
		cmocka_unit_test(ambiguity_names_the_candidates),
		cmocka_unit_test(arguments_are_counted),
		cmocka_unit_test(rows_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
