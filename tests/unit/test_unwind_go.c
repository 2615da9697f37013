/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unwind rules by the table of a stripped Go program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fixtures/go_program.h"
#include "tests/fixtures/unwind/cfi_oracle.h"
#include "user/unwind/knowncode.h"
#include "user/unwind/table.h"

static int build(const struct go_program *p, struct unwind_table *ret)
{
	int fd = go_program(p), err;
	off_t size = lseek(fd, 0, SEEK_END);
	void *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

	assert_ptr_not_equal(file, MAP_FAILED);
	err = unwind_table_build(&(struct unwind_input){ .elf = file, .elf_size = size }, ret);
	munmap(file, size);
	close(fd);
	return err;
}

static void check(const struct unwind_table *t, uint64_t addr, struct er_unwind_rule want)
{
	struct er_unwind_rule have;

	assert_true(cfi_table_rule(t, addr - GO_TEXT + GO_TEXT_OFFSET, &have));
	assert_memory_equal(&have, &want, sizeof(want));
}

static struct er_unwind_rule frame(int bytes)
{
	return (struct er_unwind_rule){ .cfa = ER_CFA_SP, .cfa_off = bytes + 8, .ra_off = -8,
					.bp = bytes ? ER_BP_LOST : ER_BP_SAME };
}

static void check_rules(const struct go_program *p)
{
	const struct er_unwind_rule nothing = { .cfa = ER_CFA_NO_ENTRY }, other = { .cfa = ER_CFA_BAD };
	struct unwind_table t;
	struct er_unwind_rule r;

	assert_int_equal(build(p, &t), 0);
	check(&t, GO_CODE, frame(0));
	check(&t, GO_CODE + 0x07, frame(0));
	check(&t, GO_CODE + 0x08, frame(24));
	check(&t, GO_CODE + 0x37, frame(24));
	check(&t, GO_CODE + 0x38, frame(0));
	check(&t, GO_WORK, frame(0));
	check(&t, GO_WORK + 0x2f, frame(4096));
	check(&t, GO_EXIT, knowncode_outermost);
	check(&t, GO_MCALL + 0x07, other);
	check(&t, GO_MCALL + 0x08, knowncode_outermost);
	check(&t, GO_MCALL + 0x0a, knowncode_outermost);
	check(&t, GO_MCALL + 0x0b, other);
	check(&t, GO_SYSTEMSTACK, other);
	assert_true(cfi_table_rule(&t, GO_SIGRETURN - GO_TEXT + GO_TEXT_OFFSET, &r));
	assert_true(r.flags & ER_RULE_SIGNAL);
	check(&t, GO_END, nothing);
	unwind_table_free(&t);
}

static void test_rules(void **state)
{
	check_rules(&(struct go_program){ .magic = GO_1_18 });
	check_rules(&(struct go_program){ .magic = GO_1_20 });
}

/* A table whose functions are elsewhere, and tables without flags, are not used: only known bytes. */
static void test_not_used(void **state)
{
	static const struct go_program programs[] = {
		{ .magic = GO_1_20, .moved = true }, { .magic = GO_1_2 }, { .magic = GO_1_16 },
		{ .magic = GO_LATER },
		/* the header does not have the start of Go's code, and that of .text is another one */
		{ .magic = GO_1_20, .pie = true },
	};

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		struct unwind_table t = { 0 };
		struct er_unwind_rule r = { 0 };

		if (!build(&programs[i], &t))
			assert_false(cfi_table_rule(&t, GO_CODE + 8 - GO_TEXT + GO_TEXT_OFFSET, &r) && r.cfa);
		unwind_table_free(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_not_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
