/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patterns of names: the same answers as those of fnmatch. */
#include "analysis/base/glob.h"

#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const char *const patterns[] = {
	"", "*", "**", "a", "a*", "*a", "*a*", "*ab*ab", "a*b*c", "lib-[0-9]*.so*", "[Ee]nter*", "*x[a-c0]", "*é*",
};

static const char *const texts[] = {
	"", "a", "b", "ab", "aab", "abab", "abxab", "ababa", "abc", "aXbXc", "acb", "lib-2.31.so", "lib-x.so", "lib-7.so.6",
	"Enter", "enter_it", "nter", "xb", "x0", "xd", "xxc", "caf\xc3\xa9s", "*", "[",
};

static void test_as_fnmatch(void **state)
{
	for (size_t p = 0; p < sizeof(patterns) / sizeof(patterns[0]); p++) {
		for (size_t t = 0; t < sizeof(texts) / sizeof(texts[0]); t++)
			assert_int_equal(glob_match(patterns[p], texts[t]), !fnmatch(patterns[p], texts[t], 0));
	}
}

/* Symbols need not be valid UTF-8. */
static void test_any_bytes(void **state)
{
	assert_true(glob_match("*lock*", "\xff_lock\xc3"));
	assert_false(glob_match("*lock", "\xff_lock\xc3"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_fnmatch),
		cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
