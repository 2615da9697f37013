/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parsing the kernel's format of addresses. With permission, also queries to the kernel. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/base/diag.h"
#include "analysis/symbols/kallsyms.h"
#include "user/record/ksymtab.h"
#include "loaders/ksyms.h"

static void test_parse(void **state)
{
	static const struct {
		const char *text;
		uint64_t start, size;
		const char *name, *module;
	} cases[] = {
		{ "vfs_read+0x10/0x200", 0xff0, 0x200, "vfs_read", "vmlinux" },
		{ "ext4_file_read_iter+0x0/0x1a0 [ext4]", 0x1000, 0x1a0, "ext4_file_read_iter", "ext4" },
		{ "do_sys_poll.constprop.0+0x1/0x2", 0xfff, 2, "do_sys_poll.constprop.0", "vmlinux" },
		{ "bpf_prog_0123456789abcdef_er_clock+0x8/0x40", 0xff8, 0x40,
		  "bpf_prog_0123456789abcdef_er_clock", "bpf" },
		{ "bpf_trampoline_6442+0x8/0x40", 0xff8, 0x40, "bpf_trampoline_6442", "bpf" },
		{ "last_of_its_section+0x8/0x40000000", 0xff8, 262144, "last_of_its_section", "vmlinux" },
		{ "0xffffffffc0001234", 0, 0, NULL, NULL },
		{ "", 0, 0, NULL, NULL },
		{ "+0x1/0x2", 0, 0, NULL, NULL },
		{ "a+0x9999999/0x2", 0, 0, NULL, NULL },
		{ "a+b", 0, 0, NULL, NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ksyms_answer a;
		char copy[128];

		strcpy(copy, cases[i].text);
		ksyms_parse(copy, 0x1000, &a);
		assert_true(a.start == cases[i].start);
		assert_true(a.size == cases[i].size);
		if (!cases[i].name)
			continue;
		assert_string_equal(a.name, cases[i].name);
		assert_string_equal(a.module, cases[i].module);
	}
}

enum { EVERY = 100 };

/* The function at the next EVERY-th line of the kernel's list; NULL: none left. */
static const struct ksym *next_listed(FILE *list, const struct kallsyms *all)
{
	char line[512], type;
	uint64_t addr;

	for (int n = 0; fgets(line, sizeof(line), list); n++) {
		const struct ksym *s;

		if (n < EVERY || sscanf(line, "%" SCNx64 " %c", &addr, &type) != 2)
			continue;
		s = kallsyms_find(all, addr);
		if (s && s->addr == addr)
			return s;
	}
	return NULL;
}

/* Functions from the whole kernel, looked up by their start and middle, must equal kallsyms. */
static void test_against_kallsyms(void **state)
{
	struct diag d = { 0 };
	struct kallsyms *all = kallsyms_load(NULL, &d);
	struct ksymtab *k = ksymtab_open(NULL, &d);
	FILE *list = fopen("/proc/kallsyms", "re");
	size_t n = 0, differ = 0;

	if (!all || !k || !list) {
		print_message("skipped: %s\n", d.nmsgs ? d.msgs[0].text : "");
	} else {
		for (const struct ksym *s; (s = next_listed(list, all)); n++) {
			const struct ksym *got = ksymtab_find(k, s->addr + s->size / 2);

			/* Aliases have other names; modules may come and go. */
			differ += !got || got->addr != s->addr ||
				  got != ksymtab_find(k, s->addr);
		}
		assert_true(n > 100);
		assert_true(differ <= n / 50);
		assert_null(ksymtab_find(k, 0xffffffffffffff00));
		assert_null(ksymtab_find(k, 0x1234));
	}
	if (list)
		fclose(list);
	kallsyms_free(all);
	ksymtab_close(k);
	diag_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_against_kallsyms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
