/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inlined calls and lines of generated code, from the file dynscopes. */
#include "analysis/model/source.h"
#include "analysis/views/inlined.h"
#include "tests/fixtures/tempdir.h"
#include "tests/unit/session_fixture.h"

enum { CODE = 0x7e000000, SIZE = 64 };

/* A method with line 10, and from bytecode 20 on line 12. */
static void put_method(struct expwriter *w, uint64_t id, const char *name, const char *source)
{
	static const unsigned char lines[] = { 2, 0, 10, 20, 2 };
	struct buf b = { 0 };

	buf_add(&b, name, strlen(name) + 1);
	buf_add(&b, source, strlen(source) + 1);
	buf_add(&b, lines, sizeof(lines));
	expwriter_method(w, id, b.data, b.len);
	buf_free(&b);
}

/*
 * Three methods. Code of the first one up to offset 8, there at bytecode 5; then of the second one, called at
 * bytecode 21 of the first; from 16 on of the third, which the second calls. From 24 on nothing is known.
 */
static const unsigned char scopes[] = { 3, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0,
					4, 0, 0, 5, 0, 0, 21, 2, 1, 0, 3, 2, 30,
					4, 0, 1, 8, 3, 8, 4, 8, 0 };

static void put_methods(struct expwriter *w, const char *second)
{
	put_method(w, 1, "void A.one()", "p/A.java");
	put_method(w, 2, "void B.two()", second);
	put_method(w, 3, "void A.three()", "p/A.java");
}

static void make_with(struct opened *o, const char *second)
{
	struct expwriter *w;

	fixture_new(o);
	w = exp_builder_writer(o->builder);
	expwriter_function(w, 0, CODE, SIZE, "void A.one()");
	put_methods(w, second);
	expwriter_scopes(w, 0, CODE, scopes, sizeof(scopes));
	exp_builder_profile(o->builder, 1, "main>0x7e000014", MS_USER, 1);
}

static void make(struct opened *o)
{
	make_with(o, "p/B.java");
}

static void is_at(const struct srcline *at, const char *file, uint32_t line)
{
	assert_string_equal(at->file, file);
	assert_int_equal(at->line, line);
}

static void code_has_methods_and_lines(void **state)
{
	struct inlined_at calls[4];
	struct opened o;
	struct srcline at;
	struct func *f;

	make(&o);
	fixture_open(&o);
	f = the_func(&o, "void A.one()");
	assert_int_equal(func_inlined(o.session, f, 7, calls, 4), 0);
	assert_true(func_srcline(o.session, f, 0, &at));
	is_at(&at, "p/A.java", 10);

	assert_int_equal(func_inlined(o.session, f, 15, calls, 4), 1);
	assert_string_equal(calls[0].name, "void B.two()");
	assert_string_equal(calls[0].declared, "p/B.java");
	is_at(&calls[0].call, "p/A.java", 12);
	assert_true(func_srcline(o.session, f, 15, &at));
	is_at(&at, "p/A.java", 12);
	assert_true(func_written(o.session, f, 15, &at));
	is_at(&at, "p/B.java", 10);

	assert_int_equal(func_inlined(o.session, f, 16, calls, 4), 2);
	assert_string_equal(calls[1].name, "void A.three()");
	is_at(&calls[1].call, "p/B.java", 10);
	assert_true(func_written(o.session, f, 23, &at));
	is_at(&at, "p/A.java", 12);

	assert_int_equal(func_inlined(o.session, f, 24, calls, 4), 0);
	assert_false(func_srcline(o.session, f, 24, &at));
	assert_string_equal(func_source(o.session, f), "p/A.java");
	assert_int_equal(func_inlined(o.session, the_func(&o, "main"), 0, calls, 4), 0);
	fixture_free(&o);
}

static void inlined_methods_are_frames(void **state)
{
	struct opened o;

	make(&o);
	fixture_open(&o);
	session_show_inlined(o.session, true);
	assert_int_equal(excl(&o, "void A.three() (inlined)", "user"), 1);
	assert_int_equal(incl(&o, "void B.two() (inlined)", "user"), 1);
	assert_int_equal(incl(&o, "void A.one()", "user"), 1);
	assert_int_equal(excl(&o, "void A.one()", "user"), 0);
	fixture_free(&o);
}

static void parts_have_lines(void **state)
{
	line_code_vec rows = { 0 };
	struct opened o;

	make(&o);
	fixture_open(&o);
	func_lines(o.session, the_func(&o, "void A.one()"), &rows);
	assert_int_equal(rows.len, 3);
	is_at(&rows.data[1].src, "p/B.java", 10);
	assert_int_equal(rows.data[1].offset, 8);
	assert_true(func_same_unit(o.session, the_func(&o, "void A.one()"), the_func(&o, "void A.one()")));
	assert_false(func_same_unit(o.session, the_func(&o, "void A.one()"), the_func(&o, "main")));
	vec_free(&rows);
	fixture_free(&o);
}

/* Classes that a program makes while it runs may have no source. */
static void a_method_without_source_has_no_line(void **state)
{
	struct inlined_at calls[4];
	struct table t = { 0 };
	struct buf b = { 0 };
	struct opened o;
	struct srcline at;
	struct func *f;

	make_with(&o, "");
	fixture_open(&o);
	f = the_func(&o, "void A.one()");
	assert_int_equal(func_inlined(o.session, f, 16, calls, 4), 2);
	assert_true(!calls[1].call.file && !calls[1].call.line);
	assert_false(func_written(o.session, f, 15, &at));
	put_inlined(&b, o.session, f, 16);
	assert_string_equal(b.data, " <-- void B.two() <-- void A.three() A.java:12");
	buf_free(&b);
	assert_int_equal(view_places(&o.view, PLACES_PCS, &t, &o.diag), 0);
	table_free(&t);
	view_source(&o.view, f, "B.java", &t, &o.diag);
	table_free(&t);
	fixture_free(&o);
}

static size_t known_calls(struct opened *o, const char *name)
{
	struct inlined_at calls[4];

	return func_inlined(o->session, the_func(o, name), 15, calls, 4);
}

/* Code is replaced: each function has the record of its time. */
static void functions_share_an_address(void **state)
{
	struct expwriter *w;
	struct opened o;

	make(&o);
	w = exp_builder_writer(o.builder);
	exp_builder_sleep(o.builder, 1000);
	expwriter_function(w, exp_builder_now(o.builder), CODE, SIZE, "void A.new()");
	exp_builder_sleep(o.builder, 1000);
	exp_builder_profile(o.builder, 1, "main>0x7e000014", MS_USER, 1);
	fixture_open(&o);
	assert_int_equal(known_calls(&o, "void A.one()"), 1);
	assert_int_equal(known_calls(&o, "void A.new()"), 0);
	fixture_free(&o);
}

/* Two records of a function that say the same count as one; otherwise nobody knows. */
static void records_that_differ_do_not_count(void **state)
{
	unsigned char other[sizeof(scopes)];
	struct opened o;

	make(&o);
	expwriter_scopes(exp_builder_writer(o.builder), 0, CODE, scopes, sizeof(scopes));
	fixture_open(&o);
	assert_int_equal(known_calls(&o, "void A.one()"), 1);
	fixture_free(&o);

	make(&o);
	memcpy(other, scopes, sizeof(scopes));
	other[27]++;
	expwriter_scopes(exp_builder_writer(o.builder), 0, CODE, other, sizeof(other));
	fixture_open(&o);
	assert_int_equal(known_calls(&o, "void A.one()"), 0);
	fixture_free(&o);
}

/* One method is missing: no call is guessed. */
static void without_a_method_nothing_is_known(void **state)
{
	struct expwriter *w;
	struct opened o;

	fixture_new(&o);
	w = exp_builder_writer(o.builder);
	expwriter_function(w, 0, CODE, SIZE, "void A.one()");
	put_method(w, 1, "void A.one()", "p/A.java");
	put_method(w, 3, "void A.three()", "");
	expwriter_scopes(w, 0, CODE, scopes, sizeof(scopes));
	exp_builder_profile(o.builder, 1, "main>0x7e000014", MS_USER, 1);
	fixture_open(&o);
	assert_int_equal(known_calls(&o, "void A.one()"), 0);
	fixture_free(&o);
}

/* A file with any bytes: questions end, and nothing beyond it is read. */
static void any_bytes(void **state)
{
	enum { TURNS = 300 };
	struct inlined_at calls[4];
	unsigned known = 0;

	srandom(25);
	for (unsigned turn = 0; turn < TURNS; turn++) {
		__cleanup(freep) char *path = NULL;
		line_code_vec rows = { 0 };
		struct opened o;
		FILE *f;

		make(&o);
		exp_builder_close(o.builder);
		path = xasprintf("%s/t.1.er/dynscopes", o.dir);
		f = fopen(path, "r+");
		for (unsigned i = 0; turn && i < 1 + turn % 3; i++) {
			fseek(f, random() % 300, SEEK_SET);
			fputc(random() % 3 ? random() : 0xff, f);
		}
		fclose(f);
		fixture_open_built(&o);
		for (uint64_t at = 0; at < SIZE; at++)
			known += func_inlined(o.session, the_func(&o, "void A.one()"), at, calls, 4) == 2;
		func_lines(o.session, the_func(&o, "void A.one()"), &rows);
		vec_free(&rows);
		fixture_free(&o);
	}
	assert_true(known > TURNS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_has_methods_and_lines),
		cmocka_unit_test(inlined_methods_are_frames),
		cmocka_unit_test(parts_have_lines),
		cmocka_unit_test(a_method_without_source_has_no_line),
		cmocka_unit_test(functions_share_an_address),
		cmocka_unit_test(records_that_differ_do_not_count),
		cmocka_unit_test(without_a_method_nothing_is_known),
		cmocka_unit_test(any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
