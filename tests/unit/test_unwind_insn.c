/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "user/unwind/insn.h"

enum { AT = 0x1000 };

static void lengths_and_kinds(void **state)
{
	static const struct {
		const char *bytes;
		unsigned length;
		enum insn_kind kind;
	} cases[] = {
		{ "\xc3", 1, INSN_RETURN },
		{ "\xf3\xc3", 2, INSN_RETURN },
		{ "\xc2\x08\x00", 3, INSN_RETURN },
		{ "\xeb\x10", 2, INSN_JUMP },
		{ "\xe9\x10\x00\x00\x00", 5, INSN_JUMP },
		{ "\xf2\xe9\x10\x00\x00\x00", 6, INSN_JUMP },
		{ "\x74\xfe", 2, INSN_BRANCH },
		{ "\x0f\x84\x10\x00\x00\x00", 6, INSN_BRANCH },
		{ "\xff\xe0", 2, INSN_INDIRECT },
		{ "\x3e\xff\xe0", 3, INSN_TABLE },
		{ "\xff\x25\x10\x00\x00\x00", 6, INSN_INDIRECT },
		{ "\xe8\x10\x00\x00\x00", 5, INSN_OTHER },
		{ "\xff\xd0", 2, INSN_OTHER },
		{ "\xf3\x0f\x1e\xfa", 4, INSN_OTHER },                         /* endbr64 */
		{ "\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", 10, INSN_OTHER }, /* a nop */
		{ "\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08", 10, INSN_OTHER }, /* movabs */
		{ "\x66\xc7\x45\xf0\x01\x00", 6, INSN_OTHER },                 /* movw $1,-16(%rbp) */
		{ "\xf7\xc1\x01\x00\x00\x00", 6, INSN_OTHER },                 /* test $1,%ecx */
		{ "\xf7\xd9", 2, INSN_OTHER },                                 /* neg %ecx */
		{ "\xf6\x44\x24\x08\x01", 5, INSN_OTHER },                     /* testb $1,8(%rsp) */
		{ "\xc5\xf8\x77", 3, INSN_OTHER },                             /* vzeroupper */
		{ "\xc4\xe3\x7d\x39\xc1\x01", 6, INSN_OTHER },                 /* vextracti128 */
		{ "\x62\xf1\x7c\x48\x10\x47\x01", 7, INSN_OTHER },             /* vmovups of AVX-512 */
		{ "\x66\x66\x48\xe8\x01\x02\x03\x04", 8, INSN_OTHER },         /* call __tls_get_addr */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct insn in;

		assert_int_equal(insn_decode((const uint8_t *)cases[i].bytes, cases[i].length, AT, &in), 0);
		if (in.length != cases[i].length || in.kind != cases[i].kind)
			fail_msg("case %zu: %u bytes, kind %d", i, in.length, in.kind);
		/* It is not read beyond its end. */
		for (unsigned n = 0; n < cases[i].length; n++)
			assert_int_equal(insn_decode((const uint8_t *)cases[i].bytes, n, AT, &in), -1);
	}
}

static void targets(void **state)
{
	struct insn in;

	insn_decode((const uint8_t *)"\xeb\xfe", 2, AT, &in);
	assert_int_equal(in.target, AT);
	insn_decode((const uint8_t *)"\x0f\x85\x00\xff\xff\xff", 6, AT, &in);
	assert_int_equal(in.target, AT + 6 - 0x100);
	/* jmp *0x10(%r9,%rcx,8): words of struct pt_regs */
	insn_decode((const uint8_t *)"\x41\xff\x64\xc9\x10", 5, AT, &in);
	assert_int_equal(in.kind, INSN_INDIRECT);
	assert_int_equal(in.place.kind, ER_PLACE_MEMORY);
	assert_int_equal(in.place.base, 8);
	assert_int_equal(in.place.index, 11);
	assert_int_equal(in.place.scale, 8);
	assert_int_equal(in.place.value, 0x10);
	/* jmp *table(,%rax,8) */
	insn_decode((const uint8_t *)"\xff\x24\xc5\x00\x20\x40\x00", 7, AT, &in);
	assert_int_equal(in.place.base, ER_REGISTER_NONE);
	assert_int_equal(in.place.index, 10);
	assert_int_equal(in.place.value, 0x402000);
	/* jmp *%r11; jmp *0x2000(%rip) */
	insn_decode((const uint8_t *)"\x41\xff\xe3", 3, AT, &in);
	assert_int_equal(in.place.kind, ER_PLACE_REGISTER);
	assert_int_equal(in.place.base, 6);
	insn_decode((const uint8_t *)"\xff\x25\x00\x20\x00\x00", 6, AT, &in);
	assert_int_equal(in.place.kind, ER_PLACE_NONE);
}

static void what_compilers_do_not_make(void **state)
{
	static const char *const bad[] = {
		"\x06", "\xea\0\0\0\0\0\0", "\x0f\x0f\xc0\x0c", "\xcf", "\xcb", "\x8f\xe8\x78\xa0\xc1\x01",
		"\x66\xe9\x01\x02\x03\x04", "\xff\x28", "\x67\xff\x20",
	};
	struct insn in;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		uint8_t code[16] = { 0 };

		memcpy(code, bad[i], strlen(bad[i]));
		if (!insn_decode(code, sizeof(code), AT, &in))
			fail_msg("case %zu was taken", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths_and_kinds),
		cmocka_unit_test(targets),
		cmocka_unit_test(what_compilers_do_not_make),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
