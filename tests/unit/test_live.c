/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "user/record/live.h"

/* Samples are always shown. */
#define COUNTS(...) ((struct record_counts){ .of = { __VA_ARGS__ } })

static void test_line(void **state)
{
	static const struct {
		struct status s;
		const char *line;
	} cases[] = {
		{ { .elapsed_ns = 1234567890, .counts = COUNTS([ER_KIND_CLOCK] = { .wanted = true, .recorded = 1 }) },
		  "1.2 s  1 sample  0 lost  0 B" },
		{ { .elapsed_ns = 500000000, .bytes = 1500, .paused = true,
		    .counts = COUNTS([ER_KIND_CLOCK] = { .wanted = true, .recorded = 2 },
				       [ER_KIND_WAIT] = { .recorded = 1, .wanted = true }) },
		  "0.5 s  2 samples  1 wait  0 lost  1.5 KB  paused" },
		{ { .counts = COUNTS([ER_KIND_CLOCK] = { .wanted = true, .lost = 2 },
				       [ER_KIND_WAIT] = { .recorded = 7, .lost = 3, .wanted = true }) },
		  "0.0 s  0 samples  7 waits  5 lost  0 B" },
	};
	char line[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		live_format(&cases[i].s, line, sizeof(line));
		assert_string_equal(line, cases[i].line);
	}
}

static void test_end(void **state)
{
	static const struct {
		const char *path, *group;
		size_t nexperiments, nprocesses;
		const char *line;
	} cases[] = {
		{ "a.er", "a.erg", 1, 1, "wrote a.er: 1.2 s, 2 samples, 1 wait, 3 lost, 1 process, 1.5 KB; "
			     "next: er_print functions a.er" },
		{ "/tmp/my x's.er", NULL, 1, 12, "wrote '/tmp/my x'\\''s.er': 1.2 s, 2 samples, 1 wait, 3 lost, "
					"12 processes, 1.5 KB; next: er_print functions "
					"'/tmp/my x'\\''s.er'" },
		{ "a.3.er", NULL, 3, 2, "wrote 3 experiments, the last is a.3.er: 1.2 s, 2 samples, 1 wait, 3 lost, "
				  "2 processes, 1.5 KB; next: er_print functions a.3.er" },
		{ "a.3.er", "a.erg", 3, 2, "wrote 3 experiments, the last is a.3.er: 1.2 s, 2 samples, 1 wait, "
				  "3 lost, 2 processes, 1.5 KB; next: er_print functions a.erg" },
	};
	struct status s = { .elapsed_ns = 1234567890, .bytes = 1500,
				.counts = COUNTS([ER_KIND_CLOCK] = { .wanted = true, .recorded = 2 },
						 [ER_KIND_WAIT] = { .wanted = true, .recorded = 1,
								    .lost = 3 }) };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf b = { 0 };

		live_format_end(cases[i].path, cases[i].group, cases[i].nexperiments, &s, cases[i].nprocesses, &b);
		assert_string_equal(b.data, cases[i].line);
		buf_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
