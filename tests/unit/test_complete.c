/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Completion of the word before the cursor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/command/complete.h"
#include "analysis/command/shell.h"
#include "tests/fixtures/exp_builder.h"
#include "tests/fixtures/tempdir.h"

static struct shell sh;

/* The offered words, each followed by a bar. */
static void assert_offers(const char *line, const char *word, bool known, const char *joined)
{
	candidate_vec v = { 0 };
	char got[512] = "";

	assert_int_equal(complete_word(&sh, line, word, &v), known);
	vec_for_each(s, &v) {
		if (strlen(got) + strlen(*s) + 2 < sizeof(got))
			strcat(strcat(got, *s), "|");
		free(*s);
	}
	vec_free(&v);
	assert_string_equal(got, joined);
}

static void commands_come_first(void **state)
{
	assert_offers(NULL, "fsi", true, "fsingle|");
	assert_offers("  ", "callers", true, "callers-callees|");
	assert_offers("", "FSI", true, "fsingle|");
	assert_offers("", "Thr", true, "Threads|");
	assert_offers("", "dmet", true, ""); /* allowed only in .er.rc */
	assert_offers("", "nosuch", true, "");
}

static void then_what_the_command_takes(void **state)
{
	assert_offers("fsingle ", "wo", true, "work|");
	assert_offers("csin ", "ma", true, "main|");
	assert_offers("indxobj ", "Exp", true, "Experiment_IDs|");
	assert_offers("object_hide ", "<Total>,al", true, "<Total>,all|");
	assert_offers("compare ", "de", true, "delta|");
	assert_offers("printmode ", "j", true, "json|");
	assert_offers("filters ", "TSTAMP_L", true, "TSTAMP_LO|");
	assert_offers("filters PID==1 && ", "thri", true, "THRID|");
	assert_offers("quit ", "a", true, "");
}

static void metrics_keep_their_flavors(void **state)
{
	assert_offers("metrics ", "e.us", true, "e.user|");
	assert_offers("metrics ", "ei.%user:i!us", true, "ei.%user:i!user|");
	assert_offers("sort ", "-e.syst", true, "-e.system|");
	assert_offers("sort ", "nam", true, "name|");
}

static void files_are_not_known(void **state)
{
	assert_offers("outfile ", "x", false, "");
	assert_offers("script ", "", false, "");
	assert_offers("open_exp ", "t", false, "");
}

/* A common prefix that is shorter than what was typed must not replace it. */
static void unlike_ones_are_not_offered(void **state)
{
	assert_offers("filters ", "thr", true, "");
}

static int set_up(void **state)
{
	struct exp_builder *b;
	char *path;
	int rc;

	*state = tempdir_new();
	b = exp_builder_new(*state, "t.1.er");
	exp_builder_profile(b, 1, "main>work", MS_USER, 123);
	exp_builder_close(b);
	path = xasprintf("%s/t.1.er", (char *)*state);
	shell_init(&sh, "test", NULL);
	rc = shell_open(&sh, &path, 1);
	free(path);
	return rc;
}

static int tear_down(void **state)
{
	shell_fini(&sh);
	tempdir_remove(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_come_first),
		cmocka_unit_test(then_what_the_command_takes),
		cmocka_unit_test(metrics_keep_their_flavors),
		cmocka_unit_test(files_are_not_known),
		cmocka_unit_test(unlike_ones_are_not_offered),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
