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
		{ 40, 33 }, { 40, 0 }, { 44, 1 },   /* more code than it has; none */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_large_record),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
