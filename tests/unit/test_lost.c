/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recorder's sentence about what it lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/base/diag.h"
#include "user/record/lost.h"

#define TOO_SMALL "times and counts in reports are too small by that"
#define NO_STACK  "some time is under <Stack-lost> or has no stack"
#define UNKNOWN   "some code is <Unknown>"
#define ONE_FRAME "the user code of some processes is one frame, <NAME_PID_n>"

static const struct {
	struct record_counts n;
	struct drops drops;
	const char *lost; /* and its meaning; NULL: no message */
} rows[] = {
	{ .n.of[ER_KIND_CLOCK] = { .produced = 5, .recorded = 5 },
	  .drops.n = { [DROP_LIMIT] = 1, [DROP_PSEUDO] = 1, [DROP_LATE] = 1, [DROP_ARCHIVE] = 1 } },
	{ .n.of[ER_KIND_TOTAL] = { .produced = 5, .recorded = 4, .lost = 1 } },
	{ .n.of = { [ER_KIND_CLOCK] = { .produced = 1, .lost = 1 },
		    [ER_KIND_WAIT] = { .produced = 5, .recorded = 3, .lost = 2 },
		    [ER_KIND_STACK] = { .produced = 1, .lost = 1 } },
	  .lost = "1 of 1 sample, 2 of 5 waits, 1 stack: " TOO_SMALL "; " NO_STACK },
	{ .n.of[ER_KIND_WAIT] = { .produced = 5, .recorded = 3, .lost = 2 },
	  .lost = "2 of 5 waits: " NO_STACK },
	{ .n.of[ER_KIND_STACK] = { .produced = 9, .lost = 2 }, .lost = "2 stacks: " NO_STACK },
	{ .n.of[ER_KIND_COUNTER] = { .produced = 9, .lost = 3 },
	  .lost = "3 of 9 overflows of counters: " TOO_SMALL },
	{ .drops.n[DROP_STACK] = 1, .lost = "1 stack of a sample or wait: " NO_STACK },
	{ .drops.n[DROP_SIDEBAND] = 7, .lost = "7 records of processes and mappings: " UNKNOWN },
	{ .drops.n[DROP_PROCESS] = 1, .lost = "1 process or mapping: " UNKNOWN },
	{ .drops.n[DROP_EXPERIMENT] = 2, .lost = "2 experiments of processes: " ONE_FRAME },
	{ .drops.n[DROP_RECORD] = 1, .lost = "1 unknown record: " TOO_SMALL },
	{ .drops.n[DROP_CPU] = 1, .lost = "1 CPU that came online: " TOO_SMALL },
	{ .drops.n = { [DROP_STACK] = 3, [DROP_SIDEBAND] = 1 },
	  .lost = "3 stacks of samples and waits, 1 record of processes and mappings: " NO_STACK
		  "; " UNKNOWN },
};

static void test_sentence(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct diag d = { 0 };
		char expect[512];

		lost_say("a.er", &rows[i].n, &rows[i].drops, &d);
		assert_int_equal(d.nmsgs, rows[i].lost != NULL);
		if (rows[i].lost) {
			snprintf(expect, sizeof(expect), "experiment 'a.er': lost: %s: er_print -header "
				 "says whose, and what helps", rows[i].lost);
			assert_string_equal(d.msgs[0].text, expect);
		}
		diag_free(&d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_sentence) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
