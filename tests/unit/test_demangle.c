/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/base/buf.h"
#include "analysis/symbols/demangle.h"

struct name {
	const char *mangled, *with_params, *without;
};

static const struct name names[] = {
	{ "_ZN2ns1A1mEi", "ns::A::m(int)", "ns::A::m" },
	{ "_ZNK2ns1AltERKS0_", "ns::A::operator<(ns::A const&) const", "ns::A::operator<" },
	{ "_ZN2ns1AcviEv", "ns::A::operator int()", "ns::A::operator int" },
	{ "_ZN2ns1A2tmIdLi3EEET_S2_", "double ns::A::tm<double, 3>(double)",
	  "ns::A::tm<double, 3>" },
	{ "_ZN12_GLOBAL__N_14anonEi", "(anonymous namespace)::anon(int)",
	  "(anonymous namespace)::anon" },
	{ "_Z3foov.cold", "foo() [clone .cold]", "foo" },
	{ "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt",
	  "core::fmt::Write::write_fmt" },
	{ "_RNvC6_123foo3bar", "123foo::bar", "123foo::bar" },
	{ "_D4test3fooFiZv", "test.foo(int)", "test.foo(int)" },
	{ "_ZN2ns1A1mEi@plt", "ns::A::m(int)@plt", "ns::A::m@plt" },
	{ "main", NULL, NULL },
	{ "puts@plt", NULL, NULL },
	{ "@plt", NULL, NULL },
	{ "", NULL, NULL },
	{ "_", NULL, NULL },
	{ "_Z", NULL, NULL },
	{ "_R", NULL, NULL },
	{ "_D", NULL, NULL },
	{ "_Zabc$$", NULL, NULL },
	{ "_exit", NULL, NULL },
};

static void check(const char *mangled, int with_params, const char *want)
{
	char *got = demangle(mangled, with_params);

	if (want) {
		assert_non_null(got);
		assert_string_equal(got, want);
	} else {
		assert_null(got);
	}
	free(got);
}

static void test_names(void **state)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		check(names[i].mangled, 1, names[i].with_params);
		check(names[i].mangled, 0, names[i].without);
	}
}

/* void (S, S) of void (S, S) of …: each of 36 levels doubles the demangled name. */
static void test_exponential(void **state)
{
	static const char ids[] = "_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	struct buf b = { 0 };

	buf_puts(&b, "_Z1fPi");
	for (int i = 0; i < 36; i++) {
		const char *sub = i ? (char[]){ 'S', ids[i], '_', '\0' } : "S_";

		buf_printf(&b, "Fv%s%sE", sub, sub);
	}
	check(b.data, 0, "f"); /* the name is good, but too long with its parameters */
	assert_null(demangle(b.data, 1));
	buf_free(&b);
}

static void test_deep(void **state)
{
	struct buf b = { 0 };

	buf_puts(&b, "_Z1f");
	for (int i = 0; i < 100000; i++)
		buf_puts(&b, "P");
	buf_puts(&b, "i");
	free(demangle(b.data, 1));
	b.data[1] = 'R';
	free(demangle(b.data, 1));
	b.data[1] = 'D';
	free(demangle(b.data, 1));
	buf_free(&b);
}

/* Every prefix and every changed byte of every name: no crash, no leak. */
static void test_damaged(void **state)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t len = strlen(names[i].mangled);

		for (size_t at = 0; at < len; at++) {
			char *s = strdup(names[i].mangled);

			for (int c = 1; c < 256; c++) {
				s[at] = c;
				free(demangle(s, c & 1));
			}
			s[at] = '\0';
			free(demangle(s, 1));
			free(s);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_exponential),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
