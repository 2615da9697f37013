/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Perf maps: their parser, the table of functions, and where a process's map is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "tests/unit/jit_fixture.h"
#include "user/jit/file.h"
#include "user/jit/perfmap.h"
#include "user/jit/table.h"

static void parse_bytes(struct parsed *p, const char *text, size_t n)
{
	parsed_init(p);
	p->used = perfmap_parse(text, n, 4096, &p->b);
}

static void parse(struct parsed *p, const char *text)
{
	parse_bytes(p, text, strlen(text));
}

static void test_lines(void **state)
{
	struct parsed p;

	parse(&p, "7f0000001000 20 JS:*fib /tmp/a b.js:1:13\n0x7f0000002000 0x1f Lcom/A;::run\r\n"
		  "7F00000030aB 1 \xff\xfe \x1b[31m\n");
	assert_int_equal(p.b.n, 3);
	is_function(&p, 0, 0x7f0000001000, 0x20, "JS:*fib /tmp/a b.js:1:13");
	is_function(&p, 1, 0x7f0000002000, 0x1f, "Lcom/A;::run");
	is_function(&p, 2, 0x7f00000030ab, 1, "\xff\xfe \x1b[31m");
}

/* The collector API says so when a function is gone: an address and a time, no name. */
static void test_removals(void **state)
{
	const struct jit_entry *e;
	struct parsed p;

	parse(&p, "1000 20 one\n1000 12345678abc\n1000 ffffffff\r\n2000\n2000 40000000\n2000 40000001 \n"
		  "2000 12345678abcdef012\n0 12345678abc\n");
	assert_int_equal(p.b.n, 3);
	e = &p.entries[1];
	assert_int_equal(e->kind, JIT_GONE);
	assert_true(e->start == 0x1000 && e->size == 1 && e->time_ns == 0x12345678abc);
	assert_true(jit_entry_is_sound(e, p.b.nnames));
	assert_int_equal(p.entries[2].time_ns, 0xffffffff);
}

static void test_half_line_waits(void **state)
{
	const char text[] = "1000 10 one\n2000 10 tw";
	struct parsed p;

	parse(&p, text);
	assert_int_equal(p.b.n, 1);
	assert_int_equal(p.used, strlen("1000 10 one\n"));
	parse(&p, text + p.used);
	assert_int_equal(p.used, 0);
	parse(&p, "2000 10 two\n");
	is_function(&p, 0, 0x2000, 0x10, "two");
}

/* Each would be a function that cannot exist, or is no line of a map. */
static void test_damaged_lines(void **state)
{
	static const char *const lines[] = {
		"", " ", "x", "1000", "1000 ", "1000 10", "1000 10 ", "1000  10 name", "1000 0 name",
		"0 10 name", "g000 10 name", "1000 -1 name", "1000\t10\tname", "-1000 10 name",
		"7fffffffffff 10 beyond the end", "ffffffff81000000 10 kernel", "0x 10 name",
		"00000000000000001 10 too many digits", "1000 40000001 too long",
		"1000 ffffffffffffffff name", "ffffffffffffffff ffffffffffffffff name",
	};
	struct parsed p;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char text[128];

		snprintf(text, sizeof(text), "%s\n3000 10 next\n", lines[i]);
		parse(&p, text);
		assert_int_equal(p.used, strlen(text));
		assert_int_equal(p.b.n, 1);
		is_function(&p, 0, 0x3000, 0x10, "next");
	}
	parse_bytes(&p, "1000 10 na\0me\n2000 10 \0\n", 25);
	assert_int_equal(p.b.n, 1);
	is_function(&p, 0, 0x1000, 0x10, "na");
}

/* A name is cut between two characters. */
static void test_long_name(void **state)
{
	char text[3000] = "1000 10 ", want[JIT_NAME_MAX + 1] = "";
	struct parsed p;

	memset(want, 'x', JIT_NAME_MAX - 1);
	strcat(text, want);
	strcat(text, "\xc3\xa4 and more\n");
	parse(&p, text);
	assert_int_equal(p.used, strlen(text));
	is_function(&p, 0, 0x1000, 0x10, want);
	memset(text, 'y', sizeof(text));
	memcpy(text, "1000 10 ", 8);
	text[sizeof(text) - 1] = '\n';
	parse_bytes(&p, text, sizeof(text));
	assert_int_equal(p.entries[0].name_len, JIT_NAME_MAX);
	memset(text + 8, 0x80, sizeof(text) - 9); /* no character begins anywhere */
	parse_bytes(&p, text, sizeof(text));
	assert_int_equal(p.entries[0].name_len, JIT_NAME_MAX);
}

/* A line without an end, as long as a piece, must not stop the reader for ever. */
static void test_endless_line(void **state)
{
	static char text[4096];
	struct parsed p;

	memset(text, 'a', sizeof(text));
	parse_bytes(&p, text, sizeof(text) - 1);
	assert_int_equal(p.used, 0);
	parse_bytes(&p, text, sizeof(text));
	assert_int_equal(p.used, sizeof(text));
	memcpy(text, "1000 10 one\n", 12);
	parse_bytes(&p, text, sizeof(text));
	assert_int_equal(p.used, 12);
}

static void test_full_batch(void **state)
{
	char text[ROOM * 32] = "";
	struct parsed p;

	for (int i = 0; i <= ROOM; i++)
		sprintf(text + strlen(text), "%x000 10 f%d\n", i + 1, i);
	parse(&p, text);
	assert_int_equal(p.b.n, ROOM);
	parse(&p, text + p.used);
	assert_int_equal(p.b.n, 1);
	is_function(&p, 0, (ROOM + 1) << 12, 0x10, "f16");
}

static void test_unsound_entries(void **state)
{
	const struct jit_entry good = { .start = 0x1000, .size = 1, .name = 96, .name_len = 4 };
	static const struct jit_entry bad[] = {
		{ .start = 0x1000, .size = 0, .name = 0, .name_len = 4 },
		{ .start = 1ULL << 47, .size = 1, .name = 0, .name_len = 4 },
		{ .start = 0x1000, .size = 1, .name = 0, .name_len = 0 },
		{ .start = 0x1000, .size = 1, .name = 97, .name_len = 4 },
		{ .start = 0x1000, .size = 1, .name = UINT32_MAX, .name_len = 4 },
		{ .start = 0x1000, .size = 1, .name = 0, .name_len = UINT32_MAX },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(jit_entry_is_sound(&bad[i], 100));
	assert_true(jit_entry_is_sound(&good, 100));
}

/* --- the table --- */

static struct jit_function function(uint64_t start, uint32_t size, const char *name)
{
	return (struct jit_function){ .start = start, .size = size, .name = xstrdup(name) };
}

static void finds(struct jit_table *t, uint64_t pc, const char *name)
{
	const struct jit_function *f = jit_table_find(t, pc);

	if (!name)
		assert_null(f);
	else
		assert_string_equal(f ? f->name : "none", name);
}

static bool was_replaced(const struct jit_table *t, const char *name)
{
	for (int i = 0; i < JIT_REPLACED; i++)
		if (t->replaced[i].name && !strcmp(t->replaced[i].name, name))
			return true;
	return false;
}

static void test_table(void **state)
{
	struct jit_function first[] = { function(0x3000, 0x100, "c"), function(0x1000, 0x100, "a"),
					function(0x2000, 0x100, "b") };
	struct jit_function second[] = { function(0x20ff, 0x1000, "over b and c") };
	struct jit_function same = function(0x1000, 0x100, "a");
	struct jit_table t = { 0 };

	jit_table_add(&t, first, 3);
	finds(&t, 0xfff, NULL);
	finds(&t, 0x1000, "a");
	finds(&t, 0x10ff, "a");
	finds(&t, 0x1100, NULL);
	finds(&t, 0x2050, "b");
	finds(&t, 0x30ff, "c");
	assert_true(jit_table_has(&t, &same));
	same.size++;
	assert_false(jit_table_has(&t, &same));
	jit_table_add(&t, second, 1);
	finds(&t, 0x2050, NULL);
	finds(&t, 0x30fe, "over b and c");
	finds(&t, 0x30ff, NULL);
	finds(&t, 0x1000, "a");
	assert_true(was_replaced(&t, "b") && was_replaced(&t, "c") && !was_replaced(&t, "a"));
	assert_int_equal(t.functions.len, 2);
	assert_int_equal(t.bytes, 2 * sizeof(struct jit_function) + 2 + 13);
	free(same.name);
	jit_table_free(&t);
}

/* In one list the functions made later stay, wherever they begin. */
static void test_table_one_list(void **state)
{
	struct jit_function list[] = {
		function(0x1000, 0x1000, "first"), function(0x1800, 0x100, "inside"),
		function(0x3000, 0x10, "inside the next"), function(0x2ff0, 0x100, "last"),
		function(0x1800, 0x100, "again"),
	};
	struct jit_table t = { 0 };

	jit_table_add(&t, list, 5);
	finds(&t, 0x1000, NULL);
	finds(&t, 0x1800, "again");
	finds(&t, 0x3008, "last");
	assert_int_equal(t.functions.len, 2);
	assert_true(was_replaced(&t, "first") && was_replaced(&t, "inside") &&
		    was_replaced(&t, "inside the next"));
	jit_table_free(&t);
}

static struct jit_function removal(uint64_t start, uint64_t time_ns)
{
	return (struct jit_function){ .start = start, .size = 1, .from_ns = time_ns, .gone = true };
}

/* A removal names the function's start. Written functions are reported, others say when they were removed. */
static void test_table_removals(void **state)
{
	struct jit_function first[] = { function(0x1000, 0x100, "a"), function(0x2000, 0x100, "b"),
					function(0x3000, 0x100, "c") };
	struct jit_function second[] = { removal(0x1000, 5), removal(0x2010, 6), removal(0x3000, 7),
					 function(0x3000, 0x100, "new"), function(0x4000, 0x10, "short"),
					 removal(0x4000, 8), removal(0x5000, 9) };
	struct jit_table t = { 0 };

	first[0].written = true;
	jit_table_add(&t, first, 3);
	assert_int_equal(t.removed.len, 0);
	jit_table_add(&t, second, 7);
	finds(&t, 0x1000, NULL);
	finds(&t, 0x2010, "b");
	finds(&t, 0x3010, "new");
	finds(&t, 0x4000, NULL);
	assert_int_equal(t.functions.len, 2);
	assert_int_equal(t.removed.len, 1);
	assert_true(t.removed.data[0].start == 0x1000 && t.removed.data[0].gone_ns == 5);
	assert_int_equal(t.nreplaced, 3);
	for (unsigned i = 0; i < t.nreplaced; i++) {
		const struct jit_function *f = &t.replaced[i];

		assert_int_equal(f->gone_ns, *f->name == 'a' ? 5 : *f->name == 'c' ? 7 : 8);
	}
	jit_table_free(&t);
}

/* Against a table that keeps an owner for each byte. */
static void test_table_random(void **state)
{
	enum { BYTES = 256, ROUNDS = 1000 };
	int owner[BYTES] = { 0 };
	struct jit_table t = { 0 };

	srand(7);
	for (int round = 1; round <= ROUNDS; round++) {
		int start = rand() % BYTES, size = 1 + rand() % 24, old[BYTES];
		struct jit_function f;
		char name[16];

		snprintf(name, sizeof(name), "%d", round);
		f = function(0x1000 + start, size, name);
		memcpy(old, owner, sizeof(old));
		for (int at = 0; at < BYTES; at++) {
			for (int hit = start; hit < start + size && hit < BYTES; hit++)
				owner[at] = old[hit] && old[at] == old[hit] ? 0 : owner[at];
		}
		for (int at = start; at < start + size && at < BYTES; at++)
			owner[at] = round;
		jit_table_add(&t, &f, 1);
		if (round % 3 == 0) { /* remove the function of a byte, if it starts there */
			struct jit_function gone = removal(0x1000 + rand() % BYTES, round);
			const struct jit_function *have = jit_table_find(&t, gone.start);

			for (int at = 0, of = have && have->start == gone.start ? atoi(have->name) : 0;
			     at < BYTES; at++)
				owner[at] = owner[at] == of ? 0 : owner[at];
			jit_table_add(&t, &gone, 1);
		}
		for (int at = 0; at < BYTES; at++) {
			const struct jit_function *have = jit_table_find(&t, 0x1000 + at);

			assert_int_equal(have ? atoi(have->name) : 0, owner[at]);
		}
	}
	jit_table_free(&t);
}

/* --- the file --- */

static char path[64];

/* A process that does nothing; its map is `path`. */
static pid_t process(void)
{
	pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	return pid;
}

static void end(pid_t pid, struct jit_file *f)
{
	jit_file_close(f);
	unlink(path);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void put(const char *mode, const char *text)
{
	FILE *f = fopen(path, mode);

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void test_file_grows(void **state)
{
	pid_t pid = process();
	struct jit_file f;

	jit_file_open(&f, pid);
	assert_false(jit_file_look(&f));
	assert_int_equal(f.err, 0);
	put("w", "1000 10 one\n2000");
	assert_true(jit_file_look(&f));
	assert_int_equal(f.offset, 0);
	assert_true(jit_file_advance(&f, 12));
	assert_false(jit_file_look(&f)); /* half a line is no news */
	put("a", " 10 two\n");
	assert_true(jit_file_look(&f));
	assert_int_equal(f.offset, 12);
	assert_false(jit_file_advance(&f, 12));
	assert_false(jit_file_look(&f));
	end(pid, &f);
}

static void test_file_is_rewritten(void **state)
{
	pid_t pid = process();
	struct jit_file f;

	put("w", "1000 10 one\n");
	jit_file_open(&f, pid);
	assert_true(jit_file_look(&f));
	jit_file_advance(&f, 12);
	put("w", "3000 10 other\n4000 10 more\n");
	assert_true(jit_file_look(&f));
	assert_int_equal(f.offset, 0);
	jit_file_advance(&f, 27);
	put("w", "1000 10 one\n");
	assert_true(jit_file_look(&f));
	assert_int_equal(f.offset, 0);
	jit_file_advance(&f, 12);
	unlink(path);
	put("w", "5000 10 new\n");
	assert_true(jit_file_look(&f));
	assert_int_equal(f.offset, 0);
	end(pid, &f);
}

/* The process has ended: the file that it left is still found, and only that one. */
static void test_file_after_the_end(void **state)
{
	pid_t pid = process();
	struct jit_file f, late;

	jit_file_open(&f, pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	put("w", "1000 10 one\n");
	assert_true(jit_file_look(&f));
	jit_file_open(&late, pid);
	assert_false(jit_file_look(&late));
	jit_file_close(&late);
	end(pid, &f);
}

static void test_file_limit(void **state)
{
	pid_t pid = process();
	struct jit_file f;

	put("w", "1000 10 one\n");
	assert_int_equal(truncate(path, 1LL << 40), 0);
	jit_file_open(&f, pid);
	assert_true(jit_file_look(&f));
	assert_false(jit_file_advance(&f, JIT_FILE_BYTES));
	put("a", "more");
	assert_false(jit_file_look(&f));
	assert_int_equal(f.err, -EFBIG);
	end(pid, &f);
}

static void refuses(pid_t pid, int err)
{
	struct jit_file f;

	jit_file_open(&f, pid);
	assert_false(jit_file_look(&f));
	assert_int_equal(f.err, err);
	assert_int_equal(f.fd, -1);
	jit_file_close(&f);
	unlink(path);
}

static void test_file_traps(void **state)
{
	pid_t pid = process();
	struct jit_file f = { .fd = -1, .place.dir = -1 };

	assert_int_equal(symlink("/etc/passwd", path), 0);
	refuses(pid, -ELOOP);
	assert_int_equal(mkfifo(path, 0600), 0);
	refuses(pid, -EINVAL);
	assert_int_equal(mkdir(path, 0700), 0);
	refuses(pid, -EINVAL);
	rmdir(path);
	if (!geteuid()) {
		put("w", "1000 10 one\n");
		assert_int_equal(chown(path, 1, 1), 0);
		refuses(pid, -EACCES);
	}
	end(pid, &f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_removals),
		cmocka_unit_test(test_half_line_waits),
		cmocka_unit_test(test_damaged_lines),
		cmocka_unit_test(test_long_name),
		cmocka_unit_test(test_endless_line),
		cmocka_unit_test(test_full_batch),
		cmocka_unit_test(test_unsound_entries),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_table_one_list),
		cmocka_unit_test(test_table_removals),
		cmocka_unit_test(test_table_random),
		cmocka_unit_test(test_file_grows),
		cmocka_unit_test(test_file_is_rewritten),
		cmocka_unit_test(test_file_after_the_end),
		cmocka_unit_test(test_file_limit),
		cmocka_unit_test(test_file_traps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
