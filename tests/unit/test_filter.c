/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/session_fixture.h"

enum { SECOND = 1000 }; /* in ticks */

/* Thread 1 works for 3 s, thread 2 for 1 s after it; a packet stands at the end of its second. */
static void open_two(struct opened *o)
{
	fixture_new(o);
	for (int i = 0; i < 3; i++)
		exp_builder_profile_cpu(o->builder, 1, 0, "main>myfunc>leaf", MS_USER, SECOND);
	exp_builder_profile_cpu(o->builder, 2, 1, "main>myfunction", MS_SYSTEM, SECOND);
	fixture_open(o);
}

/* The ticks that a filter lets through. */
static int64_t ticks(struct opened *o, const char *text)
{
	struct filter *f = filter_parse(o->session, text, &o->diag);

	assert_non_null(f);
	filter_free(o->view.filter);
	o->view.filter = f;
	view_state_changed(&o->view);
	return total(o, "total");
}

/* T-37, and the operators. */
static void test_filters(void **state)
{
	static const struct {
		const char *text;
		int64_t ticks;
	} rows[] = {
		{ "THRID==1", 3 * SECOND },
		{ "thrid == 2", SECOND },
		{ "THRID==1 && TSTAMP>=2000000000", 2 * SECOND },
		{ "THRID==1 && TSTAMP>2000000000", 1 * SECOND },
		{ "FNAME(\"myfunc\") SOME IN STACK", 3 * SECOND },
		{ "(FNAME(\"myfunc.*\") SOME IN STACK)", 4 * SECOND },
		{ "FNAME(\"my\") SOME IN STACK", 0 },
		{ "FNAME('main') IN STACK", 4 * SECOND },
		{ "FNAME(\"myfunc|leaf\") IN STACK", 3 * SECOND },
		{ "FNAME(\"myfunc|myfunction\") IN STACK", 0 },
		{ "LEAF IN (FNAME(\"leaf\"))", 3 * SECOND },
		{ "LEAF IN FNAME(\"myfunction\")", SECOND },
		{ "LNAME(\".*DYNAMIC_FUNCTIONS.*\") SOME IN STACK", 4 * SECOND },
		{ "(FNAME(\"leaf\"), FNAME(\"main\")) ORDERED IN STACK", 3 * SECOND },
		{ "(FNAME(\"main\"), FNAME(\"leaf\")) ORDERED IN STACK", 0 },
		{ "STACK IN FNAME(\"main|myfunction\")", SECOND },
		{ "CPUID IN (1,2,3)", SECOND },
		{ "CPUID IN (0)", 3 * SECOND },
		{ "MSTATE==1", SECOND },
		{ "PID==4711 && EXPID==1", 4 * SECOND },
		{ "THRID==1 ? CPUID==0 : 0", 3 * SECOND },
		{ "!(THRID-1)", 3 * SECOND },
		{ "1+2*3==7 && 7/2==3 && -7%4==-3 && (1<<4)>>2==4", 4 * SECOND },
		{ "(6&3)==2 && (6|3)==7 && (6^3)==5 && ~0==-1 && 0x10==16", 4 * SECOND },
		{ "1/0 || 1%0 || (-9223372036854775807-1)/-1 < 0", 4 * SECOND },
		{ "0 || 1 && 0", 0 },
		{ "VADDR==0", 4 * SECOND },
	};
	struct opened o;

	open_two(&o);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (ticks(&o, rows[i].text) != rows[i].ticks)
			fail_msg("%s: %lld", rows[i].text, (long long)total(&o, "total"));
	}
	assert_int_equal(o.diag.nerrors, 0);
	fixture_free(&o);
}

/* Each is one error that names the column; nothing leaks. */
static void test_errors(void **state)
{
	static const struct {
		const char *text;
		int column;
	} rows[] = {
		{ "", 1 },		  { "THRID==", 8 },	    { "THRID==1 &&", 12 },
		{ "(THRID==1", 10 },	  { "NOSUCH==1", 1 },	    { "THRID 1", 7 },
		{ "FNAME(main)", 7 },	  { "FNAME(\"main", 12 },   { "FNAME(\"(\")==1", 7 },
		{ "STACK", 1 },		  { "STACK==1", 6 },	    { "THRID SOME 1", 12 },
		{ "THRID==1)", 9 },	  { "99999999999999999999", 1 }, { "12x", 1 },
		{ "1 ? 2", 6 },		  { "$", 1 },
	};
	struct opened o;

	open_two(&o);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char want[32];

		assert_null(filter_parse(o.session, rows[i].text, &o.diag));
		assert_int_equal(o.diag.nerrors, i + 1);
		snprintf(want, sizeof(want), "column %d:", rows[i].column);
		if (!strstr(o.diag.msgs[i].text, want))
			fail_msg("'%s' wants %s: %s", rows[i].text, want, o.diag.msgs[i].text);
	}
	fixture_free(&o);
}

/* Depth and length have an end. */
static void test_bounds(void **state)
{
	static const char *const parts[] = { "(", "!", "1+", "1?1:", "(1," };
	struct opened o;
	struct buf b = { 0 };

	open_two(&o);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		buf_clear(&b);
		for (int n = 0; n < 100000; n++)
			buf_puts(&b, parts[i]);
		buf_puts(&b, "1");
		assert_null(filter_parse(o.session, b.data, &o.diag));
	}
	buf_free(&b);
	filter_free(NULL);
	fixture_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
