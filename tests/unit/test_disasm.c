/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <elf.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/symbols/code.h"
#include "analysis/symbols/disasm.h"
#include "tests/fixtures/elf_image.h"

static const struct machine x86 = { .elf_machine = EM_X86_64, .wide = true };

static bool name_hot(void *ctx, uint64_t addr, struct buf *b)
{
	if (addr < 0x1000 || addr >= 0x1100)
		return false;
	buf_printf(b, addr == 0x1000 ? "hot" : "hot+0x%llx", (unsigned long long)addr - 0x1000);
	return true;
}

struct expected {
	const char *bytes, *text;
	size_t size;
};

static void check(const struct machine *m, const struct expected *e, size_t n)
{
	struct diag d = { 0 };
	struct disasm *s = disasm_new(m, name_hot, NULL, &d);

	assert_non_null(s);
	for (size_t i = 0; i < n; i++) {
		struct buf text = { 0 };
		struct insn insn =
			disasm_one(s, 0x1000, (const unsigned char *)e[i].bytes, e[i].size, &text);

		assert_string_equal(text.data, e[i].text);
		assert_int_equal(insn.size, e[i].size);
		buf_free(&text);
	}
	disasm_free(s);
	diag_free(&d);
}

static void x86_instructions_are_text(void **state)
{
	static const struct expected all[] = {
		{ "\x31\xf6", "xor    %esi,%esi", 2 },
		{ "\x90", "nop", 1 },
		{ "\x74\x4a", "je     104c <hot+0x4c>", 2 },
		{ "\xe8\xfb\xff\xff\xff", "call   1000 <hot>", 5 },
		{ "\xe8\x00\x10\x00\x00", "call   2005", 5 },
		{ "\xf3\x0f\x1e\xfa", "endbr64", 4 },
		{ "\x62\xf1\x7c\x48\x58\xc1", "vaddps %zmm1,%zmm0,%zmm0", 6 },
	};

	check(&x86, all, sizeof(all) / sizeof(all[0]));
}

/* A truncated or invalid instruction is shown as one byte of data; decoding continues. */
static void no_code_is_data(void **state)
{
	struct diag d = { 0 };
	struct disasm *s = disasm_new(&x86, name_hot, NULL, &d);
	struct buf text = { 0 };
	struct insn insn = disasm_one(s, 0x1000, (const unsigned char *)"\xe8\x00", 2, &text);

	assert_string_equal(text.data, ".byte 0xe8");
	assert_int_equal(insn.size, 1);
	assert_true(insn.bad);
	buf_clear(&text);
	insn = disasm_one(s, 0x1001, (const unsigned char *)"\x06\x90", 2, &text);
	assert_true(insn.bad);
	assert_int_equal(insn.size, 1);
	buf_free(&text);
	disasm_free(s);
}

static void unknown_machine_is_refused(void **state)
{
	const struct machine m = { .elf_machine = EM_SPARCV9, .wide = true };
	struct diag d = { 0 };

	assert_null(disasm_new(&m, name_hot, NULL, &d));
	assert_int_equal(d.nerrors, 1);
	assert_non_null(strstr(d.msgs[0].text, "ELF machine 43 is not supported"));
	diag_free(&d);
}

/* AArch64 is decoded, or an error says that it cannot be. */
static void aarch64_is_text_or_refused(void **state)
{
	static const struct machine m = { .elf_machine = EM_AARCH64, .wide = true };
	static const struct expected all[] = {
		{ "\x1f\x20\x03\xd5", "nop", 4 },
		{ "\x04\x00\x00\x14", "b      1010 <hot+0x10>", 4 },
		{ "\x81\xff\xff\x54", "b.ne   ff0  // b.any", 4 },
		{ "\x00\x00\x80\x52", "mov    w0, #0x0  // #0", 4 },
		{ "\x00\x00\x00\x00", "udf    #0", 4 },
	};
	struct diag d = { 0 };
	struct disasm *s = disasm_new(&m, name_hot, NULL, &d);

	assert_true(s || d.nerrors == 1);
	assert_true(s || strstr(d.msgs[0].text, "install binutils-aarch64-linux-gnu"));
	disasm_free(s);
	if (s)
		check(&m, all, sizeof(all) / sizeof(all[0]));
	diag_free(&d);
}

static void code_is_read_where_it_is(void **state)
{
	const struct image im = { 0 };
	int fd = elf_image(&im);
	struct code *c = code_open(fd);
	unsigned char bytes[32];

	assert_non_null(c);
	assert_int_equal(code_read(c, IMAGE_TEXT, bytes, 32), 32);
	assert_int_equal(code_read(c, IMAGE_FINI, bytes, 32), 16); /* the end of the last section */
	assert_int_equal(code_read(c, IMAGE_TEXT - 1, bytes, 32), 0);
	assert_int_equal(code_read(c, UINT64_MAX, bytes, 32), 0);
	assert_true(code_machine(c)->wide);
	code_free(c);
	close(fd);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_null(code_open(fd));
	close(fd);
}

static void kernel_code_that_is_not_there_is_said(void **state)
{
	struct diag d = { 0 };

	assert_null(code_open_kernel("/no/such/kcore", &d));
	assert_non_null(strstr(d.msgs[0].text, "CONFIG_PROC_KCORE"));
	assert_null(code_open_kernel("/dev/null", &d));
	assert_int_equal(d.nerrors, 2);
	diag_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_instructions_are_text),
		cmocka_unit_test(no_code_is_data),
		cmocka_unit_test(unknown_machine_is_refused),
		cmocka_unit_test(aarch64_is_text_or_refused),
		cmocka_unit_test(code_is_read_where_it_is),
		cmocka_unit_test(kernel_code_that_is_not_there_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
