/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parser of jitdump files. */
#include "analysis/base/buf.h"
#include "tests/unit/jit_fixture.h"
#include "user/jit/jitdump.h"

enum { FULL = 4096 };

static void put_header(struct buf *b, uint32_t magic, uint32_t machine, uint64_t flags)
{
	const uint32_t words[6] = { magic, 1, JITDUMP_HEADER, machine, 0, 77 };
	const uint64_t longs[2] = { 123, flags };

	buf_add(b, words, sizeof(words));
	buf_add(b, longs, sizeof(longs));
}

/* A record of this kind, as long as it is: a name and `size` bytes of code. */
static void put_code(struct buf *b, uint32_t kind, uint64_t start, const char *name, uint64_t size)
{
	const uint32_t head[2] = { kind, 56 + strlen(name) + 1 + size }, ids[2] = { 77, 78 };
	const uint64_t longs[5] = { 5000, start, start, size, 1 };

	buf_add(b, head, sizeof(head));
	buf_add(b, longs, 8);
	buf_add(b, ids, sizeof(ids));
	buf_add(b, longs + 1, 32);
	buf_add(b, name, strlen(name) + 1);
	memset(buf_zero(b, size), 0x90, size);
}

static void parse_dump(struct parsed *p, const struct buf *b, size_t n)
{
	const struct jitdump d = { JITDUMP_HEADER, true };

	parsed_init(p);
	p->used = jitdump_parse(&d, b->data, n, FULL, 1000, &p->b);
}

static void test_header(void **state)
{
	struct buf b = { 0 };
	struct jitdump d;

	put_header(&b, 0x4a695444, 62, 0);
	assert_true(jitdump_header(b.data, b.len, &d) && d.first == JITDUMP_HEADER && d.dated);
	assert_false(jitdump_header(b.data, b.len - 1, &d));
	buf_clear(&b);
	put_header(&b, 0x4a695444, 62, 1); /* times of the CPU's counter */
	assert_true(jitdump_header(b.data, b.len, &d) && !d.dated);
	buf_clear(&b);
	put_header(&b, 0x4454694a, 62, 0); /* the other byte order */
	assert_false(jitdump_header(b.data, b.len, &d));
	buf_clear(&b);
	put_header(&b, 0x4a695444, 183, 0); /* of another machine */
	assert_false(jitdump_header(b.data, b.len, &d));
	buf_free(&b);
}

static void test_records(void **state)
{
	struct buf b = { 0 };
	struct parsed p;
	size_t one;

	put_code(&b, 0, 0x7f0000001000, "fast", 32);
	one = b.len;
	put_code(&b, 4, 0x7f0000003000, "not code", 8);
	put_code(&b, 0, 0x7f0000002000, "slow", 16);
	parse_dump(&p, &b, b.len);
	assert_int_equal(p.used, b.len);
	assert_int_equal(p.b.n, 2);
	is_function(&p, 0, 0x7f0000001000, 32, "fast");
	is_function(&p, 1, 0x7f0000002000, 16, "slow");
	assert_int_equal(p.entries[0].time_ns, 5000);
	assert_int_equal(p.entries[0].code_at, 1000 + 56 + 5);
	assert_int_equal(p.entries[1].code_at, 1000 + b.len - 16);
	/* Records that are not complete wait. */
	for (size_t n = 0; n < one; n++) {
		parse_dump(&p, &b, n);
		assert_true(!p.used && !p.b.n);
	}
	parse_dump(&p, &b, b.len - 1);
	assert_int_equal(p.b.n, 1);
	buf_free(&b);
}

/* A function with more code than a piece has. */
static void test_large_record(void **state)
{
	struct buf b = { 0 };
	struct parsed p;

	put_code(&b, 0, 0x7f0000001000, "small", 32);
	put_code(&b, 0, 0x7f0000002000, "large", 3 * FULL);
	parse_dump(&p, &b, FULL);
	assert_int_equal(p.b.n, 1);
	memmove(b.data, b.data + p.used, b.len -= p.used);
	parse_dump(&p, &b, FULL);
	assert_int_equal(p.b.n, 1);
	is_function(&p, 0, 0x7f0000002000, 3 * FULL, "large");
	assert_int_equal(p.used, b.len);
	buf_free(&b);
}

static void test_damage(void **state)
{
	static const struct {
		size_t at;
		uint32_t value;
	} cases[] = {
		{ 4, 15 }, { 4, 0 }, { 4, UINT32_MAX }, { 4, JITDUMP_RECORD_MAX + 1 }, /* its size */
		{ 4, 56 }, { 4, 40 }, { 4, 58 },    /* no room for its name */
		{ 40, 0 }, { 44, 1 },               /* no code, too much */
		{ 36, 0x8000 },                     /* an address of the kernel */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf b = { 0 };
		struct parsed p;

		put_code(&b, 0, 0x7f0000001000, "fast", 32);
		memcpy(b.data + cases[i].at, &cases[i].value, 4);
		parse_dump(&p, &b, b.len);
		assert_int_equal(p.b.n, 0);
		buf_free(&b);
	}
}

/* A record of lines, or another one with this data. */
static void put_record(struct buf *b, uint32_t kind, const void *data, size_t n)
{
	const uint32_t head[2] = { kind, 16 + n };
	const uint64_t time_ns = 7000;

	buf_add(b, head, sizeof(head));
	buf_add(b, &time_ns, sizeof(time_ns));
	buf_add(b, data, n);
}

struct test_row {
	uint64_t address;
	uint32_t line;
	const char *path;
};

static void put_lines(struct buf *b, uint64_t start, const struct test_row *rows, uint64_t n)
{
	struct buf data = { 0 };

	buf_add(&data, &start, 8);
	buf_add(&data, &n, 8);
	for (uint64_t i = 0; i < n; i++) {
		const uint32_t line[2] = { rows[i].line, 3 };

		buf_add(&data, &rows[i].address, 8);
		buf_add(&data, line, 8);
		buf_add(&data, rows[i].path, strlen(rows[i].path) + 1);
	}
	put_record(b, JITDUMP_LINES, data.data, data.len);
	buf_free(&data);
}

#define START 0x7f0000001000
#define AS_BEFORE "\377"

/* The lines of the function of entry `i`, which are those of the entry before it. NULL: it has none. */
static const struct jit_line *lines_at(const struct parsed *p, size_t i, const char *path, size_t n)
{
	static struct jit_line lines[8];
	const struct jit_entry *e = &p->entries[i - 1];

	if (!i || e->kind != JIT_LINES)
		return NULL;
	assert_int_equal(e->start, p->entries[i].start);
	assert_string_equal(p->names + e->name, path);
	assert_int_equal(e->name_len, strlen(path) + 1 + n * sizeof(*lines));
	memcpy(lines, p->names + e->name + strlen(path) + 1, n * sizeof(*lines));
	return lines;
}

static void test_lines(void **state)
{
	static const struct test_row rows[] = {
		{ START, 7, "/src/a.js" }, { START + 5, 8, AS_BEFORE }, { START + 9, 3, "b.js" },
		{ START + 11, 4, AS_BEFORE }, { START + 20, 9, "/src/a.js" },
	};
	const struct jit_line *lines;
	struct buf b = { 0 };
	struct parsed p;
	size_t note;

	put_code(&b, 0, START + 0x1000, "before", 8);
	note = b.len;
	put_lines(&b, START, rows, 5);
	put_record(&b, JITDUMP_ALIAS, "other name", 11);
	put_code(&b, 4, START, "unwinding", 8);
	put_code(&b, 0, START, "fast", 32);
	put_code(&b, 0, START + 0x2000, "after", 8);
	parse_dump(&p, &b, b.len);
	assert_int_equal(p.used, b.len);
	assert_int_equal(p.b.n, 5);
	is_function(&p, 3, START, 32, "fast");
	lines = lines_at(&p, 3, "/src/a.js", 5);
	assert_true(lines[0].offset == 0 && lines[0].line == 7 && lines[1].offset == 5 && lines[1].line == 8);
	assert_true(lines[2].line == 0 && lines[3].line == 0); /* of another source */
	assert_true(lines[4].offset == 20 && lines[4].line == 9);
	assert_true(p.entries[1].kind == JIT_ALIAS && p.entries[1].start == START);
	assert_memory_equal(p.names + p.entries[1].name, "other name", p.entries[1].name_len);
	/* They wait for their function. */
	parse_dump(&p, &b, b.len - (56 + 6 + 8) - 1);
	assert_true(p.b.n == 1 && p.used == note);
	/* In a piece that is full they wait no more: the next one has the function alone. */
	memmove(b.data, b.data + note, b.len -= note);
	parsed_init(&p);
	p.used = jitdump_parse(&(struct jitdump){ 0 }, b.data, 300, 300, 1000, &p.b);
	assert_true(p.used && !p.b.n);
	memmove(b.data, b.data + p.used, b.len -= p.used);
	parse_dump(&p, &b, b.len);
	assert_int_equal(p.b.n, 2);
	is_function(&p, 0, START, 32, "fast");
	buf_free(&b);
}

/* The function is there, and its lines are not. */
static void test_lines_that_do_not_count(void **state)
{
	static const struct {
		uint64_t start, n;
		struct test_row rows[2];
	} cases[] = {
		{ START, 1, { { START + 64, 7, "v8.js" } } },
		{ START, 2, { { START, 7, "a.js" }, { START + 33, 8, AS_BEFORE } } },
		{ START, 2, { { START, 7, "a.js" }, { START - 1, 8, AS_BEFORE } } },
		{ START, 1, { { START, 7, AS_BEFORE } } },
		{ START, 1, { { START, 7, "" } } },
		{ START, 0, { { 0 } } },
		{ START + 1, 1, { { START + 1, 7, "a.js" } } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf b = { 0 };
		struct parsed p;

		put_lines(&b, cases[i].start, cases[i].rows, cases[i].n);
		put_code(&b, 0, START, "fast", 32);
		parse_dump(&p, &b, b.len);
		assert_int_equal(p.b.n, 1);
		is_function(&p, 0, START, 32, "fast");
		buf_free(&b);
	}
}

static void test_removal(void **state)
{
	const uint64_t start = START;
	struct buf b = { 0 };
	struct parsed p;

	put_code(&b, 0, START, "fast", 32);
	put_record(&b, JITDUMP_GONE, &start, 8);
	put_record(&b, JITDUMP_GONE, &start, 7);
	parse_dump(&p, &b, b.len);
	assert_int_equal(p.b.n, 2);
	assert_true(p.entries[1].kind == JIT_GONE && p.entries[1].start == START && p.entries[1].time_ns == 7000);
	assert_true(jit_entry_is_sound(&p.entries[1], p.b.nnames));
	buf_free(&b);
}

/* The library could not read the code, or it was too large. */
static void test_without_code(void **state)
{
	const uint64_t size = 33;
	struct buf b = { 0 };
	struct parsed p;

	put_code(&b, 0, START, "fast", 32);
	memcpy(b.data + 40, &size, sizeof(size));
	parse_dump(&p, &b, b.len);
	assert_int_equal(p.b.n, 1);
	is_function(&p, 0, START, 33, "fast");
	assert_int_equal(p.entries[0].code_at, 0);
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_large_record),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_lines_that_do_not_count),
		cmocka_unit_test(test_removal),
		cmocka_unit_test(test_without_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
