/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/base/alloc.h"
#include "analysis/base/ksymline.h"

/* The allocation ends with the line, so that sanitizers detect reads beyond it. */
static bool parse(const char *text, char *all, size_t size)
{
	size_t n = strlen(text);
	char *copy = memcpy(xmalloc(n ? n : 1), text, n);
	struct ksym_line l;
	bool good = ksym_line_parse(copy, copy + n, &l);

	if (good)
		snprintf(all, size, "%llx %d %llx %c %.*s %.*s", (unsigned long long)l.addr, l.sized,
			 (unsigned long long)l.size, l.type, (int)l.name_len, l.name,
			 (int)l.module_len, l.module ? l.module : "-");
	free(copy);
	return good;
}

static void test_lines(void **state)
{
	static const struct {
		const char *text, *all;
	} cases[] = {
		{ "ffffffff81000000 T _text", "ffffffff81000000 0 0 T _text " },
		{ "ffffffffc0000000 t ext4_a\t[ext4]", "ffffffffc0000000 0 0 t ext4_a ext4" },
		{ "FFFFFFFFc0000000 20 t a", "ffffffffc0000000 1 20 t a " },
		{ "10 20 t a [m]", "10 1 20 t a m" },
		{ " 10\t20  t a  [m] ", "10 1 20 t a m" },
		/* A size and a type may look alike, a name may look like a module. */
		{ "10 d t c", "10 1 d t c " },
		{ "10 d c [m]", "10 0 0 d c m" },
		{ "10 t [c]", "10 0 0 t [c] " },
		{ "10 t a []", NULL },
		{ "10 20 t a []", NULL },
		{ "10 20 t a [m", NULL },
		{ "10 20 t a b", NULL },
		{ "10 20 t a [m] b", NULL },
		{ "10 t a [m] b", NULL },
		{ "10 tt a", NULL },
		{ "10 20 tt a", NULL },
		{ "10 x t a", NULL },
		{ "10 t", NULL },
		{ "10", NULL },
		{ "", NULL },
		{ " ", NULL },
		{ "t a b", NULL },
		{ "10x t a", NULL },
		{ "0ffffffff81000000 t a", NULL }, /* more digits than an address has */
		{ "10 11112222333344445 t a", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char all[200];

		if (parse(cases[i].text, all, sizeof(all)))
			assert_string_equal(all, cases[i].all ? cases[i].all : "");
		else
			assert_null(cases[i].all);
	}
}

/* Names with control characters are rejected. */
static void test_hostile(void **state)
{
	static const char line[] = "10 t a\0b";
	struct ksym_line l;

	assert_false(ksym_line_parse(line, line + sizeof(line) - 1, &l));
	assert_true(ksym_line_parse(line, line + strlen(line), &l));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
