/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Definitions of counters, with a directory of units that the test creates. */
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "tests/fixtures/tempdir.h"
#include "user/counters/counter_names.h"
#include "user/counters/counters.h"
#include "user/counters/pmu.h"

static char *units;
static counter_list list;
static struct diag diag;

static int parse(const char *spec)
{
	counters_free(&list);
	diag_free(&diag);
	return counters_parse(spec, units, &diag, &list);
}

static const struct counter *one(const char *spec)
{
	if (parse(spec) < 0 || list.len != 1)
		fail_msg("%s: %zu counters, %s", spec, list.len, diag.nmsgs ? diag.msgs[0].text : "");
	return &list.data[0];
}

static void unit_file(const char *path, const char *text)
{
	__cleanup(freep) char *full = xasprintf("%s/%s", units, path);
	__cleanup(freep) char *command = xasprintf("mkdir -p \"$(dirname '%s')\"", full);
	FILE *f;

	assert_int_equal(system(command), 0);
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int make_units(void **state)
{
	units = tempdir_new();
	unit_file("cpu/type", "4\n");
	unit_file("cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
	unit_file("cpu/events/stalled", "event=0xa1,inv,cmask=0x1\n");
	unit_file("cpu/events/clock.scale", "2\n");
	unit_file("cpu/events/broken", "event=?\n");
	unit_file("cpu/events/unknown", "color=3\n");
	unit_file("cpu/format/event", "config:0-7,32-35\n");
	unit_file("cpu/format/umask", "config:8-15\n");
	unit_file("cpu/format/inv", "config:23\n");
	unit_file("cpu/format/cmask", "config:24-31\n");
	unit_file("cpu/format/ldlat", "config1:0-15\n");
	unit_file("cpu/format/odd", "config:7-3\n");
	unit_file("uncore_imc/type", "19\n");
	unit_file("uncore_imc/events/clockticks", "event=0x0\n");
	unit_file("uncore_imc/format/event", "config:0-7\n");
	return 0;
}

static int remove_units(void **state)
{
	counters_free(&list);
	diag_free(&diag);
	tempdir_remove(units);
	return 0;
}

static void test_aliases(void **state)
{
	const struct counter *c = one("cycles");

	assert_int_equal(c->event.type, PERF_TYPE_HARDWARE);
	assert_int_equal(c->event.config, PERF_COUNT_HW_CPU_CYCLES);
	assert_int_equal(c->event.interval, 9999991);
	assert_int_equal(c->unit, COUNTER_CYCLES);
	assert_string_equal(c->metrics[COUNTER_USER].name, "cycles");
	assert_string_equal(c->metrics[COUNTER_USER].label, "CPU Cycles");
	assert_string_equal(c->metrics[COUNTER_KERNEL].name, "K_cycles");
	assert_string_equal(c->metrics[COUNTER_KERNEL].label, "Kernel CPU Cycles");
	assert_string_equal(c->metrics[COUNTER_KERNEL].int_name, "PERF_COUNT_HW_CPU_CYCLES~user=0");
	c = one("dtlbm");
	assert_int_equal(c->event.type, PERF_TYPE_HW_CACHE);
	assert_int_equal(c->event.config, PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_RESULT_MISS << 16);
	/* An event that always happens in the kernel is one metric. */
	c = one("context-switches,1");
	assert_int_equal(c->event.type, PERF_TYPE_SOFTWARE);
	assert_null(c->metrics[COUNTER_USER].name);
	assert_string_equal(c->metrics[COUNTER_KERNEL].name, "context-switches");
	assert_string_equal(c->metrics[COUNTER_KERNEL].label, "Context Switches");
}

static void test_raw_names_and_numbers(void **state)
{
	const struct counter *c = one("instructions");

	assert_int_equal(c->event.interval, 1000003);
	assert_string_equal(c->metrics[COUNTER_USER].label, "instructions Events");
	c = one("LLC-store-misses");
	assert_int_equal(c->event.config, PERF_COUNT_HW_CACHE_LL | PERF_COUNT_HW_CACHE_OP_WRITE << 8 |
						  PERF_COUNT_HW_CACHE_RESULT_MISS << 16);
	c = one("0x1c2");
	assert_int_equal(c->event.type, PERF_TYPE_RAW);
	assert_int_equal(c->event.config, 0x1c2);
	assert_int_equal(c->event.interval, 1000003);
	assert_string_equal(c->metrics[COUNTER_USER].name, "0x1c2");
	assert_int_equal(one("450,2000")->event.config, 450);
	/* A numeric name must follow an interval, even an empty one. */
	assert_int_equal(parse("cycles,,0x1c2,lo,insts"), 0);
	assert_int_equal(list.len, 3);
	assert_int_equal(list.data[1].event.config, 0x1c2);
	assert_int_equal(list.data[1].event.interval, counter_prime(10000030));
}

static void test_units(void **state)
{
	const struct counter *c = one("mem-loads");

	assert_int_equal(c->event.type, 4);
	assert_int_equal(c->event.config, 0x1cd);
	assert_int_equal(c->event.config1, 3);
	assert_string_equal(c->metrics[COUNTER_USER].name, "mem-loads");
	assert_int_equal(one("stalled")->event.config, 0x018000a1);
	c = one("clockticks"); /* of any unit that has it */
	assert_int_equal(c->event.type, 19);
	assert_int_equal(one("uncore_imc/clockticks/,5000")->event.type, 19);
	assert_int_equal(one("uncore_imc/clockticks/~event=7,on")->event.config, 7);
}

static void test_attributes(void **state)
{
	const struct counter *c = one("0x3c~umask=0x10~cmask=2~user=0/1");

	assert_int_equal(c->event.config, 0x0200103c);
	assert_true(c->event.no_user);
	assert_false(c->event.no_kernel);
	assert_null(c->metrics[COUNTER_USER].name);
	assert_string_equal(c->metrics[COUNTER_KERNEL].name, "K_0x3c~umask=0x10~cmask=0x2");
	assert_int_equal(c->reg, 1);
	assert_int_equal(diag.nwarnings, 1);
	/* Bits that exceed the first range go into the second. */
	assert_true(one("0x3c~event=0x1a5")->event.config == 0x1000000a5ULL);
	c = one("+mem-loads~ldlat=0x1e");
	assert_true(c->event.precise);
	assert_true(c->event.data);
	assert_int_equal(c->event.config1, 30);
	c = one("+page-faults");
	assert_true(c->event.data);
	assert_false(c->event.precise); /* the kernel's own events are exact */
	assert_false(one("page-faults")->event.data);
	/* The same counter twice, once for each mode. */
	assert_int_equal(parse("cycles~user=0,hi,cycles~system=0"), 0);
	assert_int_equal(list.len, 2);
}

/* Words and numbers for intervals. */
static void test_intervals(void **state)
{
	static const struct {
		const char *spec;
		uint64_t interval;
	} cases[] = {
		{ "cycles,on", 9999991 },   { "cycles,", 9999991 },    { "cycles,hi", 1000003 },
		{ "cycles,high", 1000003 }, { "cycles,h", 1000003 },   { "cycles,lo", 99999931 },
		{ "cycles,low", 99999931 }, { "cycles,0x186a1", 100001 }, { "cycles,10000", 10000 },
		{ "page-faults,1", 1 },	    { "major-faults,hi", 2 },  { "page-faults,hi", 11 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(one(cases[i].spec)->event.interval, cases[i].interval);
	assert_int_equal(counter_prime(0), 2);
	assert_int_equal(counter_prime(1000000), 1000003);
}

/* Events that only their numbers tell apart. */
static void test_fault_events(void **state)
{
	static const struct {
		const char *name;
		uint64_t config;
	} cases[] = {
		{ "page-faults", PERF_COUNT_SW_PAGE_FAULTS },
		{ "minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN },
		{ "major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(one(cases[i].name)->event.type, PERF_TYPE_SOFTWARE);
		assert_int_equal(one(cases[i].name)->event.config, cases[i].config);
	}
}

static void test_several(void **state)
{
	assert_int_equal(parse("cycles,on,insts,hi,page-faults"), 0);
	assert_int_equal(list.len, 3);
	assert_string_equal(list.data[1].name, "insts");
	/* A second -h adds to the list. */
	assert_int_equal(counters_parse("dcm", units, &diag, &list), 0);
	assert_int_equal(list.len, 4);
	assert_int_equal(counter_tag(3, COUNTER_KERNEL), 7);
}

static void test_refused(void **state)
{
	static const char *const specs[] = {
		"", ",", "+", "+context-switches", "-p", "/1", "~user=1", "nothing", "0x", "0x3g", "cycles,-1", "cycles,0",
		"cycles,1e6", "cycles,0x", "cycles,9999", "cycles,2147483648", "cycles,99999999999999999999",
		"cycles/", "cycles/x", "cycles/1x", "cycles~", "cycles~user", "cycles~=1", "cycles~user=",
		"cycles~user=2", "cycles~user=x", "cycles~umask=1", "cycles~user=0~system=0",
		"context-switches~system=0", "0x3c~color=1", "0x3c~umask=0x100", "0x3c~odd=1", "broken",
		"unknown", "clock.scale", "none/event/", "../event/", "cpu/", "cpu//", "cpu/none/",
		"cpu/../type/", "cpu/mem-loads/x", "cycles,on,cycles", "cycles/1,on,insts/1",
		"1,,2,,3,,4,,5,,6,,7,,8,,9,,10,,11,,12,,13,,14,,15,,16,,17",
	};

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		if (parse(specs[i]) == 0)
			fail_msg("accepted: %s", specs[i]);
		assert_int_equal(diag.nerrors, 1);
		assert_non_null(strstr(diag.msgs[0].text, ": ")); /* the error and the remedy */
	}
}

static int none(const struct capture_counter *c, bool *precise)
{
	return c->type == PERF_TYPE_SOFTWARE ? 0 : -ENOENT;
}

/* Precise addresses are requested for instructions, not for software events. */
static int any(const struct capture_counter *c, bool *precise)
{
	assert_true(!precise == (c->type == PERF_TYPE_SOFTWARE ||
				 (c->type == PERF_TYPE_HARDWARE && !c->name)));
	if (precise)
		*precise = c->type == PERF_TYPE_HARDWARE && c->config == PERF_COUNT_HW_INSTRUCTIONS;
	return 0;
}

static int denied(const struct capture_counter *c, bool *precise)
{
	return -EACCES;
}

/* Not inlined: otherwise gcc 12 confuses what open_memstream stores with the variable's address. */
__attribute__((noinline)) static char *printed(counter_try_fn try)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	counters_print(f, units, try);
	fclose(f);
	return text;
}

/* Well-known counters first, in collect's form. */
static void test_list(void **state)
{
	char *text = printed(any);
	const char *alias = strstr(text, "  cycles,9999991 ('CPU Cycles', alias for "
					 "PERF_COUNT_HW_CPU_CYCLES; CPU-cycles)\n");
	const char *raw = strstr(text, "\nRaw counters");

	assert_non_null(alias);
	assert_non_null(raw);
	assert_true(alias < raw);
	assert_non_null(strstr(raw, "  instructions,1000003 (events, precise)\n"));
	assert_non_null(strstr(raw, "  L1-dcache-load-misses,1000003 (load events)\n"));
	assert_non_null(strstr(raw, "  cpu/mem-loads/,1000003 (events)\n"));
	assert_null(strstr(raw, "clock.scale"));
	assert_null(strstr(raw, "broken"));
	free(text);
}

static void test_list_says_why_not(void **state)
{
	char *text = printed(none);

	assert_null(strstr(text, "  cycles,"));
	assert_non_null(strstr(text, "  page-faults,101 ("));
	assert_non_null(strstr(text, "  none\n"));
	assert_non_null(strstr(text, "Hardware counters: not available: No such file"));
	free(text);
	text = printed(denied);
	assert_non_null(strstr(text, "  cycles,"));
	assert_non_null(strstr(text, "run as root"));
	free(text);
}

/* Every name in the list is accepted as it is printed. */
static void accepted(void *ctx, const struct counter_name *n)
{
	const struct counter *c = one(n->name);

	assert_int_equal(c->event.type, n->type);
	assert_true(c->event.config == n->config);
	++*(int *)ctx;
}

static void test_what_is_listed_is_accepted(void **state)
{
	int n = 0;

	for (const struct counter_name *row = counter_aliases; row->name; row++)
		accepted(&n, row);
	for (const struct counter_name *row = counter_kernel_names; row->name; row++)
		accepted(&n, row);
	counter_cache_names(accepted, &n);
	assert_true(n > 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_raw_names_and_numbers),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_intervals),
		cmocka_unit_test(test_fault_events),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_list_says_why_not),
		cmocka_unit_test(test_what_is_listed_is_accepted),
	};

	return cmocka_run_group_tests(tests, make_units, remove_units);
}
