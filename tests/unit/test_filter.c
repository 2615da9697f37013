/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/metrics/filter.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/pass.h"
#include "analysis/views/view_state.h"
#include "tests/unit/session_fixture.h"

enum { SECOND = 1000 }; /* in ticks */

/* Thread 1 works for 3 s, then thread 2 for 1 s. Each packet is at the end of its second. */
static void open_two(struct opened *o)
{
	fixture_new(o);
	for (int i = 0; i < 3; i++)
		exp_builder_profile_cpu(o->builder, 1, 0, "main>myfunc>leaf", MS_USER, SECOND);
	exp_builder_profile_cpu(o->builder, 2, 1, "main>myfunction", MS_SYSTEM, SECOND);
	fixture_open(o);
}

/* The sum of ticks that pass a filter. */
static int64_t ticks(struct opened *o, const char *text)
{
	struct filter *f = filter_parse(o->session, &o->view.types, text, &o->diag);

	assert_non_null(f);
	filter_free(o->view.filter);
	o->view.filter = f;
	view_state_changed(&o->view);
	return total(o, "total");
}

struct filter_row {
	const char *text;
	int64_t ticks; /* that pass it */
};

static void assert_filters(const struct filter_row *rows, size_t n)
{
	struct opened o;

	open_two(&o);
	for (size_t i = 0; i < n; i++) {
		if (ticks(&o, rows[i].text) != rows[i].ticks)
			fail_msg("%s: %lld", rows[i].text, (long long)total(&o, "total"));
	}
	assert_int_equal(o.diag.nerrors, 0);
	fixture_free(&o);
}

/* Operators, precedence and properties. */
static void test_expressions(void **state)
{
	static const struct filter_row rows[] = {
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
		{ "(FNAME(\"myfunc\"), FNAME(\"main\")) ORDERED IN STACK", 3 * SECOND },
		{ "STACK IN FNAME(\"main|myfunction\")", SECOND },
		{ "CPUID IN (1,2,3)", SECOND },
		{ "CPUID IN (0)", 3 * SECOND },
		{ "MSTATE==1", SECOND },
		{ "PID==4711 && EXPID==1", 4 * SECOND },
		{ "THRID==1 ? CPUID==0 : 0", 3 * SECOND },
		{ "!(THRID-1)", 3 * SECOND },
		{ "1+2*3==7 && 7/2==3 && -7%4==-3 && (1<<4)>>2==4", 4 * SECOND },
		{ "(6&3)==2 && (6|3)==7 && (6^3)==5 && ~0==-1 && 0x10==16", 4 * SECOND },
		{ "-8>>1==-4 && -1>>63==-1", 4 * SECOND },
		{ "1/0 || 1%0 || (-9223372036854775807-1)/-1 < 0", 4 * SECOND },
		{ "0 || 1 && 0", 0 },
		{ "", 4 * SECOND },
		{ "TRUE && !false", 4 * SECOND },
	};

	assert_filters(rows, sizeof(rows) / sizeof(rows[0]));
}

static void test_units(void **state)
{
	static const struct filter_row rows[] = {
		{ "TSTAMP>=2s", 3 * SECOND },
		{ "TSTAMP>=2s && TSTAMP<3s", SECOND },
		{ "TSTAMP > 2000ms", 2 * SECOND },
		{ "TSTAMP > 2000000us && TSTAMP < 4000000001ns", 2 * SECOND },
		{ "1.5s==1500ms && 0.25us==250ns && 1.123456789s==1123456789", 4 * SECOND },
		{ "1.1234567899s==1123456789 && 2.5ns==2", 4 * SECOND },
		{ "1s+500ms==1500000000", 4 * SECOND },
		{ "9223372036s==9223372036000000000", 4 * SECOND },
	};

	assert_filters(rows, sizeof(rows) / sizeof(rows[0]));
}

/*
 * A kernel function matches with and without its module, by the kernel's own name with dots. A C++
 * function matches by its short, its long and its mangled name.
 */
static void test_function_names(void **state)
{
	static const struct filter_row rows[] = {
		{ "FNAME('vmlinux`vfs_.*') SOME IN STACK", 1 },
		{ "FNAME('vfs_.*') SOME IN STACK", 1 },
		{ "FNAME('ext4_sync') SOME IN STACK", 2 },
		{ "FNAME('ext4`.*') SOME IN STACK", 2 },
		{ "FNAME('ext4') SOME IN STACK", 0 },
		{ "FNAME('event_sched_in[.]isra[.]0') SOME IN STACK", 4 },
		{ "FNAME('pair::sum') SOME IN STACK", 8 },
		{ "FNAME('pair::sum[(]int[)]') SOME IN STACK", 8 },
		{ "FNAME('_ZN4pair3sumEi') SOME IN STACK", 8 },
		{ "FNAME('sum') SOME IN STACK", 0 },
	};
	struct opened o;

	fixture_new(&o);
	exp_builder_profile(o.builder, 1, "k:vfs_read", MS_SYSTEM, 1);
	exp_builder_profile(o.builder, 1, "k:ext4`ext4_sync", MS_SYSTEM, 2);
	exp_builder_profile(o.builder, 1, "k:event_sched_in.isra.0", MS_SYSTEM, 4);
	exp_builder_profile(o.builder, 1, "_ZN4pair3sumEi", MS_USER, 8);
	fixture_open(&o);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(ticks(&o, rows[i].text), rows[i].ticks);
	assert_string_equal(func_name(&o.view, the_func(&o, "event_sched_in.isra.0")),
			    "vmlinux`event_sched_in.isra.0");
	fixture_free(&o);
}

/* A property that a packet lacks is neither equal nor unequal to anything. */
static void test_lacking(void **state)
{
	static const struct filter_row rows[] = {
		{ "VADDR==0", 0 },
		{ "VADDR!=0", 0 },
		{ "!(VADDR==0)", 0 },
		{ "VADDR==0 || THRID==1", 3 * SECOND },
		{ "VADDR==0 && THRID==1", 0 },
		{ "!(VADDR==0 && THRID==1)", SECOND },
		{ "VADDR ? 1 : 1", 0 },
		{ "VADDR IN (0, 1)", 0 },
		{ "(VADDR, 1) SOME IN (1)", 4 * SECOND },
		{ "!((VADDR, 1) SOME IN (2))", 0 }, /* VADDR may be */
		{ "(VADDR, 1) IN (1)", 0 },
		{ "!((VADDR, 1) IN (1))", 0 },
		{ "!((VADDR, 2) IN (1))", 4 * SECOND }, /* 2 is not, whatever VADDR is */
		{ "HAS_PROP(VADDR)", 0 },
		{ "HAS_PROP(TSTAMP) && HAS_PROP(mstate) && !HAS_PROP(IOFNAME)", 4 * SECOND },
		{ "HAS_PROP(VADDR) ? VADDR>255 : CPUID==1", SECOND },
	};

	assert_filters(rows, sizeof(rows) / sizeof(rows[0]));
}

static void test_named_values(void **state)
{
	static const struct filter_row rows[] = {
		{ "STATE==SYSTEM", SECOND },
		{ "state == system", SECOND },
		{ "STATE==\"SYSTEM\"", SECOND },
		{ "STATE IN (SYSTEM, TRAP)", SECOND },
		{ "STATE IN (USER, SYSTEM)", 4 * SECOND },
		{ "STATE != USER && THRID==2", SECOND },
		{ "REASON==NONE", 4 * SECOND },
		{ "SYSCALL==read", 0 },
		{ "SYSCALL==-1", 4 * SECOND },
	};

	assert_filters(rows, sizeof(rows) / sizeof(rows[0]));
}

static void test_texts(void **state)
{
	static const struct filter_row rows[] = {
		{ "COMM==\"test\"", 4 * SECOND },
		{ "COMM==\"te.*\"", 4 * SECOND },
		{ "COMM==\"te\"", 0 },
		{ "COMM!=\"te\"", 4 * SECOND },
		{ "COMM IN (\"a\", 'test') && THRID==1", 3 * SECOND },
		{ "HAS_PROP(COMM) && !HAS_PROP(CGROUP)", 4 * SECOND },
	};

	assert_filters(rows, sizeof(rows) / sizeof(rows[0]));
}

/* An object type is replaced by its expression. */
static void test_types(void **state)
{
	static const struct filter_row rows[] = {
		{ "Seconds==3", SECOND },
		{ "seconds IN (1,2)", 2 * SECOND },
		{ "States==SYSTEM", SECOND },
		{ "Comms==\"test\"", 4 * SECOND },
		{ "LWPID==1 || ETSTAMP==TSTAMP && TSTAMP_LO==TSTAMP_HI && TSTAMP2==TSTAMP",
		  4 * SECOND },
		{ "EXPGRID==1 && EXPID_CMP==1 && NTICK_USEC==1000", 4 * SECOND },
	};

	assert_filters(rows, sizeof(rows) / sizeof(rows[0]));
}

/* Each input is one error that names the column. Nothing leaks. */
static void test_errors(void **state)
{
	static const struct {
		const char *text;
		int column;
	} rows[] = {
		{ " ==", 2 },		  { "THRID==", 8 },	    { "THRID==1 &&", 12 },
		{ "(THRID==1", 10 },	  { "NOSUCH==1", 1 },	    { "THRID 1", 7 },
		{ "FNAME(main)", 7 },	  { "FNAME(\"main", 12 },   { "FNAME(\"(\")==1", 7 },
		{ "STACK", 1 },		  { "STACK==1", 1 },	    { "THRID SOME 1", 12 },
		{ "THRID==1)", 9 },	  { "99999999999999999999", 1 }, { "12x", 1 },
		{ "TSTAMP>3sec", 8 },	  { "1.5", 1 },		    { "1.s", 1 },
		{ "0x10s", 1 },		  { "9223372037s", 1 },	    { "3 s", 3 },
		{ "1 ? 2", 6 },		  { "$", 1 },
		{ "1==STACK", 4 },	  { "-STACK", 2 },	    { "1 ? STACK : 1", 4 },
		{ "\"x\"==1", 1 },	  { "COMM", 5 },	    { "COMM+1", 1 },
		{ "COMM<\"a\"", 1 },	  { "COMM==1", 7 },	    { "COMM==\"(\"", 7 },
		{ "COMM IN (\"a\" \"b\")", 14 }, { "1 IN COMM", 6 },	    { "COMM IN (\"a\",)", 14 },
		{ "STATE==SLEPT", 8 },	  { "STATE==\"x\"", 8 },    { "STATE IN (USER, TIRED)", 17 },
		{ "REASON==SLEEP", 9 },	  { "SLEEP==STATE", 1 },    { "SYSCALL==no_such", 10 },
		{ "STATE==USER+SLEEP", 13 }, { "HAS_PROP(1x)", 10 }, { "HAS_PROP()", 10 },
		{ "HAS_PROP TSTAMP", 10 }, { "LNAME()", 7 },	    { "THRID ORDERED 1", 15 },
	};
	struct opened o;

	open_two(&o);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char want[32];

		assert_null(filter_parse(o.session, NULL, rows[i].text, &o.diag));
		assert_int_equal(o.diag.nerrors, i + 1);
		assert_int_equal(o.diag.nmsgs, 3 * (i + 1));
		snprintf(want, sizeof(want), "column %d:", rows[i].column);
		if (!strstr(o.diag.msgs[3 * i].text, want))
			fail_msg("'%s' wants %s: %s", rows[i].text, want, o.diag.msgs[3 * i].text);
		assert_int_equal(strlen(o.diag.msgs[3 * i + 2].text), rows[i].column + 2);
	}
	fixture_free(&o);
}

/* Depth and length are limited. */
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
		assert_null(filter_parse(o.session, NULL, b.data, &o.diag));
	}
	buf_free(&b);
	filter_free(NULL);
	fixture_free(&o);
}

/* The caret is below the character, also after wide and control characters. */
static void test_caret(void **state)
{
	struct opened o;

	open_two(&o);
	assert_null(filter_parse(o.session, NULL, "COMM==\"r\xc3\xa9\" $", &o.diag));
	assert_string_equal(o.diag.msgs[0].text, "filter: column 13: an operator is expected here");
	assert_string_equal(o.diag.msgs[1].text, "  COMM==\"r\xc3\xa9\" $");
	assert_string_equal(o.diag.msgs[2].text, "             ^");
	assert_null(filter_parse(o.session, NULL, "COMM==\"\x01\" $", &o.diag));
	assert_string_equal(o.diag.msgs[5].text, "               ^");
	/* What is often meant is said. */
	assert_null(filter_parse(o.session, NULL, "PID = 3", &o.diag));
	assert_string_equal(o.diag.msgs[6].text, "filter: column 5: an operator is expected here: == compares");
	assert_null(filter_parse(o.session, NULL, "PID > 10 ms", &o.diag));
	assert_non_null(strstr(o.diag.msgs[9].text, "without a blank, as in 10ms"));
	fixture_free(&o);
}

struct found {
	int64_t sum;
	size_t known, n;
	struct filter *f;
	const char *text;
};

static void add_value(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct found *v = ctx;
	struct value value = filter_is_text(v->f) ? (struct value){ 0 } : filter_value(v->f, h);

	v->n++;
	v->known += value.known;
	v->sum += value.known ? value.i : 0;
	if (filter_is_text(v->f))
		v->text = filter_string(v->f, h);
}

static struct found values_of(struct opened *o, const char *text)
{
	struct found v = { .f = filter_parse_index(o->session, &o->view.types, text, &o->diag) };

	assert_non_null(v.f);
	pass_run(o->session, &o->metrics, NULL, add_value, NULL, &v);
	filter_free(v.f);
	return v;
}

static void test_index(void **state)
{
	struct opened o;

	open_two(&o);
	assert_int_equal(values_of(&o, "CPUID*10+THRID").sum, 3 * 1 + 12);
	assert_int_equal(values_of(&o, "VADDR>>13").known, 0);
	assert_int_equal(values_of(&o, "HAS_PROP(VADDR) ? VADDR : -1").sum, -4);
	assert_string_equal(values_of(&o, "COMM").text, "test");
	assert_null(values_of(&o, "CGROUP").text);
	assert_null(filter_parse_index(o.session, NULL, "", &o.diag));
	assert_non_null(strstr(o.diag.msgs[0].text, "index expression: column 1:"));
	fixture_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_function_names),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_lacking),
		cmocka_unit_test(test_named_values),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_caret),
		cmocka_unit_test(test_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
