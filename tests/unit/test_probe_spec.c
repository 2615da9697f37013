/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/base/diag.h"
#include "user/probe/match.h"
#include "user/probe/spec.h"

/* Parse a valid text. */
static struct probe_spec good(enum probe_use use, const char *text)
{
	struct diag d = { 0 };
	struct probe_spec s;
	int err = probe_spec_parse(use, text, &d, &s);

	if (err)
		print_error("%s\n", d.msgs[0].text);
	assert_int_equal(err, 0);
	assert_int_equal(d.nmsgs, 0);
	diag_free(&d);
	return s;
}

/* Parse a text that is refused by one message, which contains `why`. */
static void refused(enum probe_use use, const char *text, const char *why)
{
	struct diag d = { 0 };
	struct probe_spec s;

	if (!probe_spec_parse(use, text, &d, &s))
		fail_msg("'%s' was taken", text);
	assert_int_equal(d.nmsgs, 1);
	if (!strstr(d.msgs[0].text, why))
		fail_msg("'%s' has no '%s'", d.msgs[0].text, why);
	assert_non_null(strstr(d.msgs[0].text, use == PROBE_FOR_SPAN ? "--span '" : "--probe '"));
	probe_spec_free(&s);
	diag_free(&d);
}

static void test_functions(void **state)
{
	struct probe_spec s = good(PROBE_FOR_PROBE, "/usr/bin/x:ns::f(int, char)");

	assert_int_equal(s.kind, PROBE_FUNCTION);
	assert_string_equal(s.binary, "/usr/bin/x");
	assert_string_equal(s.first, "ns::f(int, char)");
	assert_string_equal(s.name, "/usr/bin/x:ns::f(int, char)");
	assert_null(s.second);
	assert_false(s.ret);
	assert_int_equal(s.nvalues, 0);
	probe_spec_free(&s);

	s = good(PROBE_FOR_PROBE, "libc:malloc%return(ret:u64) if ret == 0");
	assert_true(s.ret);
	assert_string_equal(s.first, "malloc");
	assert_int_equal(s.nvalues, 1);
	assert_int_equal(s.values[0].number, PROBE_RETURNED);
	assert_int_equal(s.values[0].size, 8);
	assert_false(s.values[0].is_signed);
	assert_int_equal(s.ntests, 1);
	probe_spec_free(&s);
}

static void test_pairs(void **state)
{
	struct probe_spec s = good(PROBE_FOR_SPAN, "q=srv:std::map<int, long>::at(int, int),done(2:str)");

	assert_string_equal(s.name, "q");
	assert_string_equal(s.first, "std::map<int, long>::at(int, int)");
	assert_string_equal(s.second, "done");
	assert_int_equal(s.nvalues, 1);
	assert_int_equal(s.values[0].number, 2);
	assert_true(s.values[0].is_string);
	probe_spec_free(&s);

	s = good(PROBE_FOR_SPAN, "q=usdt:postgres:postgresql:query__start,query__done(1:str)");
	assert_int_equal(s.kind, PROBE_USDT);
	assert_string_equal(s.binary, "postgres");
	assert_string_equal(s.group, "postgresql");
	assert_string_equal(s.first, "query__start");
	assert_string_equal(s.second, "query__done");
	probe_spec_free(&s);
}

static void test_other_kinds(void **state)
{
	struct probe_spec s = good(PROBE_FOR_PROBE, "server:src/main.c:120");

	assert_int_equal(s.kind, PROBE_LINE);
	assert_string_equal(s.first, "src/main.c");
	assert_int_equal(s.line, 120);
	probe_spec_free(&s);
	s = good(PROBE_FOR_SPAN, "x=server:src/main.c:120(1:int,ret:s32) if ret < 0");
	assert_int_equal(s.kind, PROBE_LINE);
	assert_string_equal(s.first, "src/main.c");
	assert_int_equal(s.nvalues, 2);
	assert_int_equal(s.ntests, 1);
	probe_spec_free(&s);
	s = good(PROBE_FOR_PROBE, "server:f(int*");
	assert_string_equal(s.first, "f(int*");
	probe_spec_free(&s);
	s = good(PROBE_FOR_PROBE, "tp:block:block_rq_issue");
	assert_int_equal(s.kind, PROBE_TRACEPOINT);
	assert_string_equal(s.group, "block");
	assert_string_equal(s.first, "block_rq_issue");
	probe_spec_free(&s);
	s = good(PROBE_FOR_SPAN, "io=syscall:fsync");
	assert_int_equal(s.kind, PROBE_SYSCALL);
	assert_string_equal(s.first, "fsync");
	probe_spec_free(&s);
	s = good(PROBE_FOR_SPAN, "m=mark");
	assert_int_equal(s.kind, PROBE_MARK);
	assert_null(s.binary);
	probe_spec_free(&s);
	s = good(PROBE_FOR_SPAN, "m=mark:/opt/a b");
	assert_int_equal(s.kind, PROBE_MARK);
	assert_string_equal(s.binary, "/opt/a b");
	probe_spec_free(&s);
}

static void test_filters(void **state)
{
	struct probe_spec s = good(PROBE_FOR_PROBE,
				   "libc:malloc(1:u64, 2:int) if arg1 > 0x1000&&arg3 <= -5 && arg2 & 4");

	assert_string_equal(s.name, "libc:malloc");
	assert_string_equal(s.first, "malloc");
	assert_int_equal(s.nvalues, 3);
	assert_true(s.values[0].recorded);
	assert_false(s.values[2].recorded);
	assert_int_equal(s.values[2].number, 3);
	assert_int_equal(s.ntests, 3);
	assert_int_equal(s.tests[0].op, ER_TEST_GT);
	assert_int_equal(s.tests[0].constant, 0x1000);
	assert_int_equal(s.tests[0].value, 0);
	assert_int_equal(s.tests[1].op, ER_TEST_LE);
	assert_int_equal((int64_t)s.tests[1].constant, -5);
	assert_int_equal(s.tests[1].value, 2);
	assert_int_equal(s.tests[2].op, ER_TEST_BITS);
	probe_spec_free(&s);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} probes[] = {
		{ "malloc", "no binary" },
		{ ":malloc", "no binary" },
		{ "libc:", "no name of a function" },
		{ "libc:f,g", "two places" },
		{ "mark", "--span NAME=mark" },
		{ "usdt:libc:setjmp", "not a USDT probe" },
		{ "usdt:libc:libc:", "no name of a function" },
		{ "tp:sched", "not a tracepoint" },
		{ "tp:sched:a:b", "not a tracepoint" },
		{ "syscall:", "no system call" },
		{ "libc:a.c:0", "no such line" },
		{ "libc:a.c:99999999999", "no such line" },
		{ "libc:f(1:float)", "not the type" },
		{ "libc:f(1:int 2:int)", "no comma" },
		{ "libc:f(1:int", "no ) behind the (" },
		{ "libc:f(1:int if arg1 > 2", "no ) behind the (" },
		{ "libc:a.c:7,a.c:9", "two places" },
		{ "libc:f(1:int,)", "not an argument" },
		{ "libc:f(1:int,1:str)", "occurs twice" },
		{ "libc:f(1:int,2:int,3:int,4:int,5:int)", "more than 4" },
		{ "libc:f(ret:int)", "%return" },
		{ "libc:f%return(1:int)", "are gone" },
		{ "libc:a.c:7(1:int)", "has no arguments" },
		{ "libc:f if size > 1", "not a filter" },
		{ "libc:f if arg1", "not a filter" },
		{ "libc:f if arg1 > x", "not a filter" },
		{ "libc:f if arg1 > 1 || arg2 > 1", "not a filter" },
		{ "libc:f if arg1 > 99999999999999999999", "not a filter" },
		{ "libc:f(1:str) if arg1 > 1", "cannot compare a string" },
		{ "libc:f(arg2 > 1000)", "FUNCTION if arg2 > 1000" },
		{ "f(arg1 == -1)", "FUNCTION if arg2 > 1000" },
		{ "tp:sched:sched_process_fork(parent_pid:int)", "(1:int) for the first one" },
	};

	for (size_t i = 0; i < sizeof(probes) / sizeof(*probes); i++)
		refused(PROBE_FOR_PROBE, probes[i].text, probes[i].why);
}

static void test_refused_spans(void **state)
{
	static const struct {
		const char *text, *why;
	} spans[] = {
		{ "libc:f", "no name" },
		{ "x=libc:f,", "behind the comma" },
		{ "x=libc:f,g,h", "leave the others out" },
		{ "x=libc:f(1)", "(1:int) for the first one as a number" },
		{ "x=libc:f if", "not a filter" },
		{ "x=libc:f%return", "leave %return out" },
		{ "x=libc:a.c:7,a.c:9", "write BINARY:FUNCTION,FUNCTION2, or one line" },
		{ "x=libc:a.c:7,f", "write BINARY:FUNCTION,FUNCTION2, or one line" },
		{ "x=tp:sched:sched_switch", "has no end" },
		{ "x=mark(1:int)", "no arguments" },
		{ "x=mark if arg1 == 1", "no arguments" },
		{ "x=mark:", "write mark, or mark:BINARY" },
		{ "x=libc:f,g(ret:int)", "leave ret out" },
		{ "x=usdt:a:b:c,d if ret == 0", "leave ret out" },
	};

	for (size_t i = 0; i < sizeof(spans) / sizeof(*spans); i++)
		refused(PROBE_FOR_SPAN, spans[i].text, spans[i].why);
}

static void test_too_long(void **state)
{
	char text[5000];
	struct probe_spec s;
	struct diag d = { 0 };

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(probe_spec_parse(PROBE_FOR_PROBE, text, &d, &s), -1);
	probe_spec_free(&s);
	diag_free(&d);
}

static void test_patterns(void **state)
{
	struct nearest n = { 0 };
	char *text;

	assert_true(match_pattern("a*c", "abbc"));
	assert_true(match_pattern("*", ""));
	assert_true(match_pattern("a*b*c", "axxbyybzc"));
	assert_false(match_pattern("a*c", "abcd"));
	assert_false(match_pattern("", "a"));
	assert_true(match_symbol("f", "f.constprop.0"));
	assert_true(match_symbol("f", "f.isra.0.constprop.1"));
	assert_false(match_symbol("f", "f.cold"));
	assert_false(match_symbol("f", "f.part.0"));
	assert_false(match_symbol("f", "f.isra.0.cold"));
	assert_false(match_symbol("f", "fg"));
	nearest_look(&n, "handel", "unrelated_function");
	nearest_look(&n, "handel", "candle");
	nearest_look(&n, "handel", "handle");
	nearest_look(&n, "handel", "handle_all");
	nearest_look(&n, "handel", "handl");
	nearest_look(&n, "handel", "handle");
	text = nearest_text(&n);
	assert_string_equal(text, ": did you mean handl or handle?");
	free(text);
	nearest_free(&n);
}

/* Each name that was considered may vanish. */
static void test_nearest(void **state)
{
	static const char *const names[] = { "zero", "zero", "one", "twelve", "twenty" };
	struct nearest n = { 0 };
	char *text = nearest_text(&n), name[10];

	assert_string_equal(text, "");
	free(text);
	for (size_t i = 0; i < 5; i++) {
		strcpy(name, names[i]);
		nearest_look(&n, "unlike", name);
	}
	text = nearest_text(&n);
	assert_string_equal(text, ": write one that it has, such as zero, one or twelve");
	free(text);
	nearest_look(&n, "twe*", "t");
	nearest_look(&n, "*welve*", "twelve_a");
	nearest_look(&n, "twelve", "twelve_abcdefgh");
	nearest_look(&n, "twelve", "twelve"); /* what was asked for is no proposal */
	nearest_look(&n, "twelve", "twelv");
	text = nearest_text(&n);
	assert_string_equal(text, ": did you mean twelve_a, twelv or twelve_abcdefgh?");
	free(text);
	nearest_free(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),   cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_other_kinds), cmocka_unit_test(test_filters),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_refused_spans),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_patterns),    cmocka_unit_test(test_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
