/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Regular expressions with a bound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/base/regex.h"

static int compile(const char *text)
{
	regex_t re;
	int err = regex_compile(&re, text);

	if (!err)
		regfree(&re);
	return err;
}

static void test_ordinary(void **state)
{
	static const char *const good[] = {
		"", "main", "a+b*c?", "(vfs|ext4)_.*", "[]+]++", "[^]{3}]{2,}", "[[:alpha:]{}+]+x{0,3}", "a{1000}",
		"\\++", "\\{3\\}", "((a{10}){10}){10}", "a{,5}", "x{", "[[.hyphen.]+]",
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (compile(good[i]) == REG_ESPACE)
			fail_msg("'%s' is refused", good[i]);
	}
	assert_int_equal(compile("main"), 0);
	assert_int_equal(compile("("), REG_EPAREN);
	assert_int_equal(compile("[a"), REG_EBRACK);
	assert_int_equal(compile("a\\"), REG_EESCAPE);
}

/* What the C library would write out. */
static void test_too_large(void **state)
{
	static const char *const large[] = {
		"a++++++++++++++++++++", "(ab)++++++++++++++++++", "((a{100}){100}){100}", "a{30000}",
		"(x|y{200}){200}", "\\+++++++++++++++++++", "[+]++++++++++++++++++++", "a{2}{2}{2}{2}{2}{2}{2}{2}{2}{2}{2}{2}{2}{2}{2}",
		"a{1,}{9000}{9000}", "((((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+",
	};

	for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
		if (compile(large[i]) != REG_ESPACE)
			fail_msg("'%s' is taken", large[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ordinary),
		cmocka_unit_test(test_too_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
