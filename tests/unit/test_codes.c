/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of interpreted programs: their names, lines and numbers, and how they are written. */
#include "analysis/experiment/exp_map.h"
#include "analysis/experiment/exp_stacks.h"
#include "tests/unit/drain_fixture.h"
#include "user/record/codes.h"
#include "user/jit/javalines.h"
#include "user/record/pythonlines.h"

enum { MAX_LINES = 16 };

struct record {
	struct er_code c;
	uint8_t table[64];
};

/* co_linetable of a function on lines 1 to 3; CPython's own co_lines() gives `expected`. */
static const uint8_t table[] = { 248, 248, 128, 0, 229, 11, 17, 144, 39, 144, 39, 144, 39 };
static const struct exp_line expected[] = { { 2, 1 }, { 3, 3 } };

static struct record record_of(uint32_t number, const char *path, const char *name)
{
	struct record r = { .c = { .h = { .kind = ER_KIND_CODE }, .tgid = PID, .number = number,
				   .first_line = 1, .units = 12, .table_size = sizeof(table),
				   .name = { strlen(name), 1 }, .path = { strlen(path), 1 } } };

	memcpy(r.c.name_bytes, name, strlen(name));
	memcpy(r.c.path_bytes, path, strlen(path));
	memcpy(r.table, table, sizeof(table));
	return r;
}

static uint64_t frame_of(uint32_t number, uint64_t unit)
{
	return er_frame(ER_CODE_FILE + number, unit);
}

static const char *name_of(struct codes *c, uint32_t number)
{
	uint64_t frame;

	return codes_find(c, frame_of(number, 0), &frame)->name;
}

static void lines_of_a_table(void **state)
{
	struct exp_line lines[MAX_LINES];

	assert_int_equal(python_lines(table, sizeof(table), 1, lines, MAX_LINES), 2);
	assert_memory_equal(lines, expected, sizeof(expected));
	assert_int_equal(python_lines(table, sizeof(table), 1, lines, 1), 1);
}

/* 24 lines back, then 100 lines on with columns. */
static void lines_go_back_and_far(void **state)
{
	static const uint8_t far[] = { 128 | 13 << 3 | 7, 49, 128 | 14 << 3, 64 | 8, 3, 1, 1, 1 };
	static const struct exp_line want[] = { { 0, 6 }, { 8, 106 } };
	struct exp_line lines[MAX_LINES];

	assert_int_equal(python_lines(far, sizeof(far), 30, lines, MAX_LINES), 2);
	assert_memory_equal(lines, want, sizeof(want));
}

/* Nothing behind the end is read, whatever the bytes are. */
static void damaged_tables(void **state)
{
	struct exp_line lines[MAX_LINES];

	for (unsigned kind = 0; kind < 16; kind++) {
		for (unsigned byte = 0; byte < 256; byte++) {
			uint8_t *p = malloc(2);

			p[0] = 128 | kind << 3;
			p[1] = byte;
			assert_true(python_lines(p, 2, 1, lines, MAX_LINES) <= 2);
			free(p);
		}
	}
	assert_int_equal(python_lines((uint8_t[]){ 7 }, 1, 1, lines, MAX_LINES), 0);
	assert_int_equal(python_lines((uint8_t[]){ 232, 3 }, 2, 1, lines, MAX_LINES), 0); /* line 0 */
}

/* As javac and the VM make them. Line 300: 12 bytecodes and 278 lines on, as signed numbers. */
static void lines_of_a_java_method(void **state)
{
	static const uint8_t plain[] = { 255, 0, 40, 2 << 3 | 1, 3 << 3 | 1, 255, 24, 236, 5, 0, 77 };
	static const uint8_t biased[] = { 255, 1, 41, 2 << 3 | 1, 3 << 3 | 1, 255, 25, 237, 6, 0, 77 };
	static const struct java_line want[] = { { 0, 20 }, { 2, 21 }, { 5, 22 }, { 17, 300 } };
	struct java_line lines[MAX_LINES];

	assert_int_equal(java_lines(plain, sizeof(plain), 0, lines, MAX_LINES), 4);
	assert_memory_equal(lines, want, sizeof(want));
	assert_int_equal(java_lines(biased, sizeof(biased), 1, lines, MAX_LINES), 4);
	assert_memory_equal(lines, want, sizeof(want));
	assert_int_equal(java_lines(plain, sizeof(plain), 0, lines, 2), 2);
	assert_int_equal(java_lines((uint8_t[]){ 255, 0, 40, 3, 4 << 3 }, 5, 0, lines, MAX_LINES), 1);
	assert_int_equal(lines[0].line, 23); /* the last one of the same bytecode; then the same line */
	/* Bytecodes and lines that go back before the first. */
	assert_int_equal(java_lines((uint8_t[]){ 255, 0, 40, 255, 1, 2 }, 6, 0, lines, MAX_LINES), 1);
	assert_int_equal(java_lines((uint8_t[]){ 255, 0, 5 }, 3, 0, lines, MAX_LINES), 0);
}

static void damaged_java_tables(void **state)
{
	struct java_line lines[MAX_LINES];

	for (unsigned bias = 0; bias < 2; bias++) {
		for (unsigned n = 0; n < 0x10000; n++) {
			uint8_t *p = malloc(4);

			memcpy(p, (uint8_t[]){ 255, 0, n, n >> 8 }, 4);
			assert_true(java_lines(p, 4, bias, lines, MAX_LINES) <= 2);
			p[0] = n;
			assert_true(java_lines(p, 2, bias, lines, MAX_LINES) <= 2);
			free(p);
		}
	}
}

static struct record java_record(uint32_t number, const char *class, const char *name, const char *signature,
				 const char *source)
{
	static const uint8_t lines[] = { 255, 0, 40, 2 << 3 | 1, 0 };
	struct record r = record_of(number, class, name);

	r.c.language = ER_CODE_JAVA;
	r.c.signature = (struct er_code_text){ strlen(signature), 1 };
	r.c.source = (struct er_code_text){ strlen(source), 1 };
	memcpy(r.c.signature_bytes, signature, strlen(signature));
	memcpy(r.c.source_bytes, source, strlen(source));
	memcpy(r.table, lines, sizeof(lines));
	r.c.table_size = sizeof(lines);
	return r;
}

static void java_methods(void **state)
{
	static const struct {
		const char *class, *signature, *source, *shown, *path;
	} cases[] = {
		{ "a/b/C", "(I[J)V", "C.java", "void a.b.C.run(int, long[])", "a/b/C.java" },
		{ "Calls", "()J", "Calls.kt", "long Calls.run()", "Calls.kt" },
		{ "a/C$D", "(Lx/Y;)Z", "C.java", "boolean a.C$D.run(x.Y)", "a/C.java" },
		{ "a/C", "(Lcut", "", "a.C.run", NULL },
		{ "a/C", "", "C.java", "a.C.run", "a/C.java" },
	};
	struct codes *c = codes_new();
	const struct exp_code *f;
	struct record secret;
	uint64_t frame;

	for (uint32_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct record r = java_record(i + 1, cases[i].class, "run", cases[i].signature, cases[i].source);

		assert_true(codes_take(c, &r.c, true));
		f = codes_find(c, frame_of(i + 1, 3), &frame);
		assert_string_equal(f->name, cases[i].shown);
		assert_string_equal(f->language, "java");
		assert_int_equal(!f->source, !cases[i].path);
		if (f->source)
			assert_string_equal(f->source, cases[i].path);
		assert_int_equal(f->nlines, 2);
		assert_int_equal(f->lines[1].line, 21);
	}
	secret = java_record(9, "a/C", "secret", "()V", "");
	codes_take(c, &secret.c, false);
	assert_string_equal(name_of(c, 9), CODES_UNKNOWN_JAVA);
	codes_free(c);
}

static void names(void **state)
{
	static const struct {
		const char *path, *name, *shown;
	} cases[] = {
		{ "/srv/app/main.py", "Server.handle", "main.py:Server.handle" },
		{ "main.py", "<module>", "main.py:<module>" },
		{ "/usr/lib/python3.11/json/__init__.py", "loads", "json/__init__.py:loads" },
		{ "__init__.py", "f", "__init__.py:f" },
		{ "/__init__.py", "f", "__init__.py:f" },
		{ "<frozen importlib._bootstrap>", "_load", "frozen importlib._bootstrap:_load" },
		{ "<", "f", ":f" },
		{ ">", "f", ":f" },
	};
	struct codes *c = codes_new();

	for (uint32_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct record r = record_of(i + 1, cases[i].path, cases[i].name);

		codes_take(c, &r.c, true);
		assert_string_equal(name_of(c, i + 1), cases[i].shown);
	}
	codes_free(c);
}

static void wide_characters(void **state)
{
	struct record r = record_of(1, "a.py", "x");
	const uint32_t wide[] = { 0xe9, 0x20ac, 0x1f600, 0xd800, 0 };
	struct codes *c = codes_new();

	memcpy(r.c.name_bytes, wide, sizeof(wide));
	r.c.name = (struct er_code_text){ 5, 4 };
	codes_take(c, &r.c, true);
	assert_string_equal(name_of(c, 1), "a.py:\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80??");
	codes_free(c);
}

static void unknown_functions(void **state)
{
	struct record r = record_of(2, "a.py", "secret");
	struct codes *c = codes_new();
	uint64_t frame;

	assert_true(codes_has(c, frame_of(0, 0)));
	assert_false(codes_has(c, frame_of(2, 0)));
	assert_false(codes_has(c, frame_of(1, 0)));
	codes_take(c, &r.c, false);
	assert_true(codes_has(c, frame_of(2, 0)));
	assert_false(codes_has(c, frame_of(1, 0)));
	assert_string_equal(name_of(c, 2), CODES_UNKNOWN);
	assert_string_equal(codes_find(c, frame_of(77, 5), &frame)->name, CODES_UNKNOWN);
	assert_true(frame == frame_of(0, 0));
	codes_free(c);
}

/* Two processes that run one program: equal functions are one. */
static void equal_functions(void **state)
{
	struct record a = record_of(1, "a.py", "f"), b = record_of(9, "a.py", "f");
	struct record other = record_of(5, "a.py", "f");
	uint64_t frame_a, frame_b, frame_other;
	struct codes *c = codes_new();

	other.c.first_line = 2;
	codes_take(c, &a.c, true);
	codes_take(c, &b.c, true);
	codes_take(c, &other.c, true);
	assert_ptr_equal(codes_find(c, frame_of(1, 3), &frame_a), codes_find(c, frame_of(9, 3), &frame_b));
	assert_true(frame_a == frame_b && er_frame_offset(frame_a) == 3);
	codes_find(c, frame_of(5, 3), &frame_other);
	assert_true(frame_other != frame_a);
	codes_find(c, frame_of(1, 1000), &frame_a); /* beyond its last instruction */
	assert_int_equal(er_frame_offset(frame_a), 11);
	codes_free(c);
}

/* Hostile programs make functions without end. */
static void memory_is_bounded(void **state)
{
	struct codes *c = codes_new();
	struct record r;
	char name[ER_CODE_NAME];
	uint32_t n = 0;

	do {
		memset(name, 'x', sizeof(name));
		snprintf(name, 12, "%010u", ++n);
		name[10] = 'x';
		name[ER_CODE_NAME - 1] = 0;
		r = record_of(n, "a.py", name);
	} while (codes_take(c, &r.c, true) && n < 1000000);
	assert_in_range(n, 10000, 200000);
	assert_string_equal(name_of(c, n), CODES_UNKNOWN);
	assert_string_not_equal(name_of(c, 1), CODES_UNKNOWN);
	codes_free(c);
}

static void give_code(struct fixture *f, const struct record *r)
{
	drain_take(f->drain, 0, r, sizeof(*r));
}

static void malformed_records(void **state)
{
	struct record r = record_of(1, "a.py", "f");
	struct fixture f;

	begin(&f, FOLLOW_ALL, NULL);
	r.c.name.n = ER_CODE_NAME + 1;
	give_code(&f, &r);
	r = record_of(1, "a.py", "f");
	r.c.path.width = 3;
	give_code(&f, &r);
	r = record_of(1, "a.py", "f");
	r.c.table_size = sizeof(r.table) + 8;
	give_code(&f, &r);
	r = record_of(0, "a.py", "f");
	give_code(&f, &r);
	r = record_of(ER_MAX_CODES, "a.py", "f");
	give_code(&f, &r);
	r = record_of(1, "a.py", "f");
	r.c.language = ER_CODE_LANGUAGES;
	give_code(&f, &r);
	r = record_of(1, "a.py", "f");
	r.c.signature = (struct er_code_text){ ER_CODE_SIGNATURE + 1, 1 };
	give_code(&f, &r);
	r = record_of(1, "a.py", "f");
	r.c.source = (struct er_code_text){ ER_CODE_SOURCE + 1, 1 };
	give_code(&f, &r);
	assert_int_equal(f.drops.n[DROP_RECORD], 8);
	experiment_close(finish(&f));
}

/* A stack whose function comes later waits for it. It has the function's place, exact. */
static void a_stack_waits_for_its_function(void **state)
{
	struct record r = record_of(1, "/srv/a.py", "f");
	struct {
		struct er_stack s;
		uint64_t pcs[2];
	} s = { .s = { .h = { .kind = ER_KIND_STACK, .time_ns = 3000 }, .id = 7, .tgid = PID,
		       .start_time = 1990, .nuser = 2, .flags = ER_STACK_USER_EXACT,
		       .end = ER_END_PROVEN },
		.pcs = { 0x401010, er_frame(ER_CODE_FILE + 1, 4) } };
	struct er_clock sample = { .h = { .kind = ER_KIND_CLOCK, .time_ns = 4000 },
				   .task = { .start_time = 1990, .tgid = PID, .tid = TID },
				   .stack = 7, .weight = 1000000, .flags = ER_CLOCK_USER };
	const struct exp_map *m = NULL;
	struct experiment *e, *sub;
	struct fixture f;

	begin(&f, FOLLOW_ALL, NULL);
	drain_take(f.drain, 0, &s, sizeof(s));
	drain_take(f.drain, 0, &sample, sizeof(sample));
	drain_process(f.drain, false);
	r.c.uid = getuid();
	give_code(&f, &r);
	e = finish(&f);
	assert_int_equal(f.drops.n[DROP_STACK], 0);
	sub = open_sub(e, "_prog_PID_5000000.1.er");
	vec_for_each(each, &sub->maps)
		if (each->what == EXP_MAP_FUNCTION && each->interpreted)
			m = each;
	assert_non_null(m);
	assert_string_equal(m->name, "a.py:f");
	assert_int_equal(sub->stacks.data[0].npcs, 2);
	assert_true(experiment_pc(sub, &sub->stacks.data[0], 1) == m->vaddr + 3);
	experiment_close(sub);
	experiment_close(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_a_table),
		cmocka_unit_test(lines_go_back_and_far),
		cmocka_unit_test(damaged_tables),
		cmocka_unit_test(lines_of_a_java_method),
		cmocka_unit_test(damaged_java_tables),
		cmocka_unit_test(java_methods),
		cmocka_unit_test(names),
		cmocka_unit_test(wide_characters),
		cmocka_unit_test(unknown_functions),
		cmocka_unit_test(equal_functions),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(malformed_records),
		cmocka_unit_test(a_stack_waits_for_its_function),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
