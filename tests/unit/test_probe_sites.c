/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This program is the binary in which the sites are found. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "user/api/usdt.h"
#include "user/probe/binary.h"
#include "user/probe/seccomp.h"
#include "user/probe/sites.h"
#include "user/probe/tracepoint.h"
#include "user/probe/usdt.h"

USDT_SEMAPHORE(fixture, here);
USDT_SEMAPHORE(fixture, work__start);
USDT_SEMAPHORE(fixture, work__done);

#define KEPT __attribute__((noinline, noclone, used))

KEPT static int static_function(int n)
{
	USDT_PROBE(fixture, here, &n, n);
	USDT_PROBE(fixture, work__start, &n, n);
	USDT_PROBE(fixture, work__done, &n, n);
	return n + 1;
}

int taken_a(int n);
int taken_b(int n);
int calls_inlined(int n);

enum { TAKEN_LINE = __LINE__ + 1 };
KEPT int taken_a(int n) { __asm__ volatile(""); return n + 2; }
KEPT int taken_b(int n) { __asm__ volatile("nop"); return n + 3; }

/* ns::thing(int) and its overload. */
KEPT int thing_int(int n) __asm__("_ZN2ns5thingEi");
KEPT int thing_int(int n) { __asm__ volatile("nop; nop"); return n + 4; }
KEPT int thing_char(char n) __asm__("_ZN2ns5thingEc");
KEPT int thing_char(char n) { __asm__ volatile("nop; nop; nop"); return n + 5; }
/* ns::text(char*) and ns::text(char const*) */
KEPT int text_written(char *p) __asm__("_ZN2ns4textEPc");
KEPT int text_written(char *p) { __asm__ volatile("nop; nop"); return p[0]; }
KEPT int text_read(const char *p) __asm__("_ZN2ns4textEPKc");
KEPT int text_read(const char *p) { __asm__ volatile("nop; nop; nop"); return p[1]; }

/* ns::split(int), of which the compiler made another one and put parts elsewhere. */
KEPT int split_clone(int n) __asm__("_ZN2ns5splitEi.isra.0");
KEPT int split_clone(int n) { __asm__ volatile("nop; nop"); return n + 10; }
KEPT int split_cold(int n) __asm__("_ZN2ns5splitEi.isra.0.cold");
KEPT int split_cold(int n) { __asm__ volatile("nop; nop; nop"); return n + 11; }
KEPT int split_part(int n) __asm__("_ZN2ns5splitEi.part.0");
KEPT int split_part(int n) { __asm__ volatile("nop; nop; nop; nop"); return n + 12; }

/* Functions whose return may not be probed, by their names. */
int odd_setjmp(int n);
int odd_plain(int n);
KEPT int odd_setjmp(int n) { __asm__ volatile(""); return n + 6; }
KEPT int odd_plain(int n) { __asm__ volatile(""); return n + 7; }
KEPT int odd_part(int n) __asm__("odd_part.cold");
KEPT int odd_part(int n) { __asm__ volatile(""); return n + 8; }

volatile int sites_variable = 1;

enum { INLINED_LINE = __LINE__ + 4 };

static inline __attribute__((always_inline)) int always_inlined(int n)
{
	sites_variable += n;
	return sites_variable;
}

static int chosen(void) { return 1; }
static int (*choose(void))(void) { return chosen; }
int by_ifunc(void) __attribute__((ifunc("choose")));

KEPT int calls_inlined(int n)
{
	int a = always_inlined(n);

	return a + always_inlined(a) + by_ifunc();
}

/* --- */

struct found {
	struct probe_spec s;
	struct probe_sites p;
	struct diag d;
	int err;
};

/* Look for `target`, in which %P is this process. */
static struct found find(enum probe_use use, const char *target)
{
	const char *mark = strstr(target, "%P");
	char *text = mark ? xasprintf("%.*s%d%s", (int)(mark - target), target, getpid(), mark + 2) :
			    xstrdup(target);
	struct found f = { 0 };

	f.err = probe_spec_parse(use, text, &f.d, &f.s);
	assert_int_equal(f.err, 0);
	f.err = probe_sites_find(&f.s, NULL, 0, &f.d, &f.p);
	free(text);
	return f;
}

static void release(struct found *f)
{
	probe_sites_free(&f->p);
	probe_spec_free(&f->s);
	diag_free(&f->d);
}

static struct found find_n(const char *target, size_t n)
{
	struct found f = find(PROBE_FOR_PROBE, target);

	if (f.err)
		fail_msg("%s", f.d.msgs[0].text);
	assert_int_equal(f.p.sites.len, n);
	return f;
}

static void refused_for(enum probe_use use, const char *target, const char *why)
{
	struct found f = find(use, target);

	assert_int_equal(f.err, -1);
	assert_int_equal(f.d.nerrors, 1);
	if (!strstr(f.d.msgs[f.d.nmsgs - 1].text, why))
		fail_msg("'%s' has no '%s'", f.d.msgs[f.d.nmsgs - 1].text, why);
	release(&f);
}

static void refused(const char *target, const char *why)
{
	refused_for(PROBE_FOR_PROBE, target, why);
}

/* The file has this function's code at the site. */
static void assert_code(const struct probe_site *site, const void *code)
{
	unsigned char got[16];

	assert_int_equal(pread(site->at.fd, got, sizeof(got), site->at.offset), sizeof(got));
	assert_memory_equal(got, code, sizeof(got));
}

static void test_functions(void **state)
{
	struct found f = find_n("%P:static_function(1:s32,7:int)", 1);

	assert_code(&f.p.sites.data[0], static_function);
	assert_string_equal(f.p.sites.data[0].name, "static_function");
	assert_int_equal(f.p.sites.data[0].at.semaphore, 0);
	assert_int_equal(f.p.sites.data[0].places[0].kind, ER_PLACE_REGISTER);
	assert_int_equal(f.p.sites.data[0].places[0].base, 14);
	assert_int_equal(f.p.sites.data[0].places[0].size, 4);
	assert_int_equal(f.p.sites.data[0].places[1].kind, ER_PLACE_MEMORY);
	assert_int_equal(f.p.sites.data[0].places[1].value, 8);
	assert_int_equal(f.p.sites.data[0].places[1].base, 19);
	release(&f);
	f = find_n("%P:taken_a%return", 1);
	assert_true(f.p.sites.data[0].at.ret);
	release(&f);
	f = find_n("%P:taken_*", 2);
	assert_int_equal(f.d.nmsgs, 1);
	assert_non_null(strstr(f.d.msgs[0].text, "2 places: taken_"));
	release(&f);
	f = find_n("%P:ns::thing", 2);
	release(&f);
	f = find_n("%P:ns::thing(int)", 1);
	assert_code(&f.p.sites.data[0], thing_int);
	assert_string_equal(f.p.sites.data[0].name, "ns::thing(int)");
	release(&f);
}

/* A * may be one of the source. */
static void test_stars(void **state)
{
	struct found f = find_n("%P:ns::text(char*)", 1);

	assert_code(&f.p.sites.data[0], text_written);
	release(&f);
	f = find_n("%P:ns::text(char const*)", 1);
	assert_code(&f.p.sites.data[0], text_read);
	release(&f);
	f = find_n("%P:ns::text(char*st*)", 1);
	release(&f);
	f = find_n("%P:ns::text(*)", 2);
	release(&f);
}

/* A return probe of some functions would break the program. Wildcards leave them out. */
static void test_unsafe_returns(void **state)
{
	struct found f = find(PROBE_FOR_SPAN, "x=%P:odd_*");

	assert_int_equal(f.err, 0);
	assert_int_equal(f.p.sites.len, 1);
	assert_code(&f.p.sites.data[0], odd_plain);
	assert_int_equal(f.d.nmsgs, 2);
	assert_non_null(strstr(f.d.msgs[0].text, "1 place: odd_plain"));
	assert_non_null(strstr(f.d.msgs[1].text, "left out 1, each a function whose return address is used again "
						 "later: odd_setjmp"));
	release(&f);
	f = find_n("%P:odd_*%return", 1);
	release(&f);
	f = find_n("%P:odd_*", 2);
	release(&f);
	f = find_n("%P:odd_setjmp", 1);
	release(&f);
	f = find(PROBE_FOR_SPAN, "x=%P:odd_setjmp,odd_plain");
	assert_int_equal(f.err, 0);
	release(&f);
	refused_for(PROBE_FOR_SPAN, "x=%P:odd_setjmp", "would crash if its return was probed: write a pair");
	refused_for(PROBE_FOR_SPAN, "x=%P:odd_part.cold", "only a part of a function");
	refused_for(PROBE_FOR_SPAN, "x=%P:odd_set*", "no function of this name can be probed, such as odd_setjmp");
	refused_for(PROBE_FOR_SPAN, "x=%P:_start", "is not entered by a call");
	refused("%P:odd_setjmp%return", "leave %return out");
}

static void test_pair(void **state)
{
	struct found f = find(PROBE_FOR_SPAN, "x=%P:taken_a,taken_b(1:int)");

	assert_int_equal(f.err, 0);
	assert_int_equal(f.p.sites.len, 2);
	assert_false(f.p.sites.data[0].second);
	assert_true(f.p.sites.data[1].second);
	assert_code(&f.p.sites.data[1], taken_b);
	assert_int_equal(f.p.sites.data[0].places[0].base, 14);
	assert_int_equal(f.p.sites.data[1].places[0].kind, ER_PLACE_NONE);
	release(&f);
}

/* A function that was split or specialized is found by its name in the source; its parts are not it. */
static void test_split(void **state)
{
	static const char *const names[] = { "ns::split", "ns::split(int)", "ns::split(int) [clone .isra.0]",
					     "_ZN2ns5splitEi" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		__cleanup(freep) char *target = xasprintf("%%P:%s", names[i]);
		struct found f = find_n(target, 1);

		assert_code(&f.p.sites.data[0], split_clone);
		assert_string_equal(f.p.sites.data[0].name, "ns::split(int) [clone .isra.0]");
		release(&f);
	}
	refused_for(PROBE_FOR_SPAN, "x=%P:_ZN2ns5splitEi.isra.0.cold", "only a part of a function");
}

static void test_not_found(void **state)
{
	refused("%P:static_funktion", "did you mean static_function");
	refused("%P:qqqqqqqqqq", "nm -C ");
	refused("%P:ns::think", "did you mean ns::thing");
	refused("%P:ns::thing(in)", "did you mean ns::thing(int)");
	refused("%P:sites_variable", "is a variable");
	refused("%P:getpid", "only calls");
	refused("%P:always_inlined", "inlined 'always_inlined' everywhere (2 copies)");
	refused("%P:by_ifunc", "by its own name, which the debug symbols of");
	refused("libc.so.6:*", "matches more than 1000");
	refused("/nonexistent/x:f", "cannot open the binary");
	refused("999999999:f", "there is no process 999999999: write");
	refused("999999999/bin/x:f", "there is no process 999999999: write");
	refused("%P/nonexistent/x:f", "cannot open the binary");
	refused("/dev/null:f", "not a regular file");
	refused("no-such-program-at-all:f", "write its path");
	refused("/etc/passwd:f", "is not a program");
	refused("%P:zzzzzzz:1", "was built from no file 'zzzzzzz': write one that it has, such as ");
	refused("%P:test_probe_site.c:1", "did you mean test_probe_sites.c");
	refused("%P:units/test_probe_sites.c:1", "did you mean unit/test_probe_sites.c");
	refused("%P:always_inlined.c:1", "was built from no file");
}

static void test_lines(void **state)
{
	char text[100];
	struct found f;

	/* The two inlined copies. */
	snprintf(text, sizeof(text), "%%P:test_probe_sites.c:%d", INLINED_LINE);
	f = find_n(text, 2);
	for (size_t i = 0; i < 2; i++) {
		struct found g = find_n("%P:calls_inlined", 1);

		assert_true(f.p.sites.data[i].at.offset >= g.p.sites.data[0].at.offset);
		assert_true(f.p.sites.data[i].at.offset < g.p.sites.data[0].at.offset + 100);
		release(&g);
	}
	assert_int_not_equal(f.p.sites.data[0].at.offset, f.p.sites.data[1].at.offset);
	release(&f);
	refused("%P:test_probe_sites.c:1", "has no code: the next one that has is line");
	refused("%P:test_probe_sites.c:999999", "write another one");
}

static void test_usdt(void **state)
{
	struct found f = find_n("usdt:%P:fixture:here(1:str,2:int)", 1);
	const struct probe_site *site = f.p.sites.data;
	unsigned char nop;

	assert_string_equal(site->name, "fixture:here");
	assert_int_equal(pread(site->at.fd, &nop, 1, site->at.offset), 1);
	assert_int_equal(nop, 0x90);
	assert_int_not_equal(site->at.semaphore, 0);
	assert_int_equal(site->places[0].size, 8);
	assert_true(site->places[0].is_string);
	assert_int_equal(site->places[1].size, 4);
	assert_true(site->places[1].is_signed);
	release(&f);
	refused("usdt:%P:fixture:her", "did you mean fixture:here?");
	refused("usdt:%P:fixtures:here", "did you mean fixture:here?");
	refused("usdt:%P:quite:another", "write one that it has, such as fixture:");
	refused("usdt:%P:fixture:here(3:int)", "has no argument 3");
	refused("usdt:/bin/true:a:b", "has no USDT probes: name the library that has them");
}

/* A span of a line is one of the function that it is in. */
static void test_line_spans(void **state)
{
	char text[100];
	struct found f;

	snprintf(text, sizeof(text), "x=%%P:test_probe_sites.c:%d(1:int,ret:s32)", TAKEN_LINE);
	f = find(PROBE_FOR_SPAN, text);
	if (f.err)
		fail_msg("%s", f.d.msgs[0].text);
	assert_int_equal(f.p.sites.len, 1);
	assert_code(&f.p.sites.data[0], taken_a);
	assert_string_equal(f.p.sites.data[0].name, "taken_a");
	assert_int_equal(f.p.sites.data[0].places[0].kind, ER_PLACE_REGISTER);
	assert_non_null(strstr(f.d.msgs[0].text, "1 place: taken_a"));
	release(&f);
	snprintf(text, sizeof(text), "x=%%P:test_probe_sites.c:%d", INLINED_LINE);
	refused_for(PROBE_FOR_SPAN, text, "everywhere (2 copies)");
	refused_for(PROBE_FOR_SPAN, "x=%P:test_probe_sites.c:1", "has no code: the next one that has is line");
	refused_for(PROBE_FOR_SPAN, "x=%P:no_such.c:1", "was built from no file");
}

/* A span must not end at the return address of a place in the middle of a function. */
static void test_usdt_spans(void **state)
{
	struct found f = find(PROBE_FOR_SPAN, "x=usdt:%P:fixture:work__start(2:int)");

	assert_int_equal(f.err, 0);
	assert_true(probe_spec_is_pair(&f.s));
	assert_int_equal(f.p.sites.len, 2);
	assert_string_equal(f.p.sites.data[0].name, "fixture:work__start");
	assert_false(f.p.sites.data[0].second);
	assert_string_equal(f.p.sites.data[1].name, "fixture:work__done");
	assert_true(f.p.sites.data[1].second);
	release(&f);
	f = find_n("usdt:%P:fixture:work__start", 1);
	assert_false(probe_spec_is_pair(&f.s));
	release(&f);
	refused_for(PROBE_FOR_SPAN, "x=usdt:%P:fixture:here", "write a comma and the probe");
	refused_for(PROBE_FOR_SPAN, "x=usdt:%P:fixture:work__done", "write a comma and the probe");
	refused_for(PROBE_FOR_SPAN, "x=usdt:%P:fixture:work*start", "write a comma and the probe");
	refused_for(PROBE_FOR_SPAN, "x=usdt:%P:fixture:her", "did you mean fixture:here?");
}

static void test_usdt_places(void **state)
{
	static const char arguments[] = "-4@%edi 8@-16(%rbp) 8@$-5 2@%r10w 4@(%rax,%rdx,4) 8@8(,%rcx) 4f@%xmm0 "
					"8@sym(%rip) 8@%rax8";
	struct er_place p;

	assert_int_equal(usdt_place(arguments, 1, &p), 0);
	assert_int_equal(p.kind, ER_PLACE_REGISTER);
	assert_int_equal(p.base, 14);
	assert_int_equal(p.size, 4);
	assert_true(p.is_signed);
	assert_int_equal(usdt_place(arguments, 2, &p), 0);
	assert_int_equal(p.kind, ER_PLACE_MEMORY);
	assert_int_equal(p.base, 4);
	assert_int_equal(p.value, -16);
	assert_int_equal(p.index, ER_REGISTER_NONE);
	assert_int_equal(usdt_place(arguments, 3, &p), 0);
	assert_int_equal(p.kind, ER_PLACE_CONSTANT);
	assert_int_equal(p.value, -5);
	assert_int_equal(usdt_place(arguments, 4, &p), 0);
	assert_int_equal(p.base, 7);
	assert_int_equal(usdt_place(arguments, 5, &p), 0);
	assert_int_equal(p.index, 12);
	assert_int_equal(p.scale, 4);
	assert_int_equal(usdt_place(arguments, 6, &p), 0);
	assert_int_equal(p.base, ER_REGISTER_NONE);
	assert_int_equal(usdt_place(arguments, 7, &p), -EINVAL);
	assert_int_equal(usdt_place(arguments, 8, &p), -EINVAL);
	assert_int_equal(usdt_place(arguments, 9, &p), -EINVAL);
	assert_int_equal(usdt_place(arguments, 10, &p), -ENOENT);
	assert_int_equal(usdt_place("", 1, &p), -ENOENT);
}

static void test_tracepoint_fields(void **state)
{
	static const char format[] =
		"format:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\n"
		"\tfield:__data_loc char[] comm;\toffset:8;\tsize:4;\tsigned:0;\n"
		"\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n"
		"\tfield:char name[16];\toffset:16;\tsize:16;\tsigned:1;\n"
		"\tfield:unsigned long args[6];\toffset:32;\tsize:48;\tsigned:0;\n"
		"\nprint fmt: \"pid=%d\", REC->pid\n";
	struct er_place p;

	assert_int_equal(tracepoint_field(format, 0, 1, &p), 0);
	assert_int_equal(p.kind, ER_PLACE_LOCATED);
	assert_int_equal(tracepoint_field(format, 0, 2, &p), 0);
	assert_int_equal(p.kind, ER_PLACE_FIELD);
	assert_int_equal(p.value, 12);
	assert_int_equal(p.size, 4);
	assert_true(p.is_signed);
	assert_int_equal(tracepoint_field(format, 1, 2, &p), 0);
	assert_int_equal(p.kind, ER_PLACE_TEXT);
	assert_int_equal(tracepoint_field(format, 0, 4, &p), -EINVAL);
	assert_int_equal(tracepoint_field(format, 0, 5, &p), -ENOENT);
}

static void test_names(void **state)
{
	struct found f;
	pid_t self = getpid();

	assert_true(binary_named("libc.so.6", "libc"));
	assert_true(binary_named("libc.so.6", "libc.so"));
	assert_true(binary_named("ls", "ls"));
	assert_false(binary_named("lsof", "ls"));
	assert_false(binary_named("libcap.so.2", "libc"));
	f = find_n("libc:malloc", 1);
	assert_non_null(strstr(f.p.sites.data[0].binary, "/libc.so.6"));
	/* The same file, as a process has it. */
	{
		struct found g = { 0 };

		assert_int_equal(probe_spec_parse(PROBE_FOR_PROBE, "libc.so.6:malloc", &g.d, &g.s), 0);
		assert_int_equal(probe_sites_find(&g.s, &self, 1, &g.d, &g.p), 0);
		assert_int_equal(g.p.binaries.len, 1);
		assert_int_equal(g.p.binaries.data[0].ino, f.p.binaries.data[0].ino);
		assert_int_equal(g.p.sites.data[0].at.offset, f.p.sites.data[0].at.offset);
		release(&g);
	}
	release(&f);
}

static void test_seccomp(void **state)
{
	assert_false(seccomp_sees_return("6.1.0-50-amd64"));
	assert_false(seccomp_sees_return("6.10.11"));
	assert_true(seccomp_sees_return("6.11.0"));
	assert_true(seccomp_sees_return("6.13.9-amd64"));
	assert_false(seccomp_sees_return("6.14.0-rc1"));
	assert_false(seccomp_sees_return("7.12"));
	assert_false(seccomp_sees_return("odd"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions), cmocka_unit_test(test_pair),
		cmocka_unit_test(test_stars),
		cmocka_unit_test(test_unsafe_returns),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_not_found), cmocka_unit_test(test_lines),
		cmocka_unit_test(test_line_spans),
		cmocka_unit_test(test_usdt),	  cmocka_unit_test(test_usdt_places),
		cmocka_unit_test(test_usdt_spans),
		cmocka_unit_test(test_names),	  cmocka_unit_test(test_tracepoint_fields),
		cmocka_unit_test(test_seccomp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) + (calls_inlined(static_function(taken_a(
		taken_b(thing_int(thing_char('a')))))) == 12345);
}
