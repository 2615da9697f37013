/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names, lines and inlined calls of stripped Go programs, with the tables of each version of Go. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/symbols/lineinfo.h"
#include "analysis/symbols/symtab.h"
#include "tests/fixtures/go_program.h"

static const struct symtab_opts no_debug = { .debug_root = "", .path = "prog" };
static const uint32_t versions[] = { GO_1_2, GO_1_16, GO_1_18, GO_1_20 };
enum { VERSIONS = sizeof(versions) / sizeof(versions[0]), INLINED = 4 };

static struct lineinfo *lines_of(const struct go_program *p)
{
	int fd = go_program(p);
	struct lineinfo *l = lineinfo_open(fd, &no_debug, NULL);

	close(fd);
	return l;
}

static void check_names(const struct go_program *p)
{
	int fd = go_program(p);
	struct symtab *t = symtab_open(fd, &no_debug, NULL);
	const struct sym *s;
	size_t n;

	assert_non_null(t);
	assert_string_equal(symtab_source(t), "Go's table");
	s = symtab_syms(t, &n);
	assert_int_equal(n, GO_FUNCTIONS);
	assert_string_equal(s[0].name, "main.main");
	assert_int_equal(s[0].addr, GO_CODE);
	assert_int_equal(s[0].size, GO_WORK - GO_CODE);
	assert_string_equal(s[1].name, "main.work");
	assert_int_equal(s[1].size, GO_EXIT - GO_WORK);
	symtab_free(t);
	close(fd);
}

static void check_line(struct lineinfo *l, uint64_t addr, const char *file, uint32_t line)
{
	struct line_at at;

	assert_true(lineinfo_find(l, addr, &at));
	assert_string_equal(lineinfo_path(l, at.file), file);
	assert_int_equal(at.line, line);
}

static void check_lines(const struct go_program *p)
{
	struct lineinfo *l = lines_of(p);
	const struct line_row *rows;
	struct line_at at;
	size_t n;

	assert_non_null(l);
	assert_false(lineinfo_find(l, GO_CODE - 1, &at));
	check_line(l, GO_CODE, "/src/a.go", 10);
	check_line(l, GO_CODE + 0x0f, "/src/a.go", 11);
	check_line(l, GO_CODE + 0x10, "/src/b.go", 20);
	check_line(l, GO_CODE + 0x27, "/src/b.go", 30);
	check_line(l, GO_CODE + 0x28, "/src/a.go", 12);
	check_line(l, GO_WORK - 1, "/src/a.go", 12);
	check_line(l, GO_WORK, "/src/a.go", 50);
	check_line(l, GO_EXIT - 1, "/src/a.go", 50);
	assert_false(lineinfo_find(l, GO_EXIT, &at));
	rows = lineinfo_rows(l, GO_CODE, GO_WORK, &n);
	assert_true(n >= 5 && rows[2].line == 20 && rows[2].addr == GO_CODE + 0x10);
	assert_string_equal(lineinfo_path(l, lineinfo_unit_file(l, GO_CODE)), "/src/a.go");
	assert_int_equal(lineinfo_unit(l, GO_CODE), lineinfo_unit(l, GO_WORK));
	assert_int_equal(lineinfo_unit(l, GO_END), LINE_FILE_NONE);
	lineinfo_free(l);
}

static void check_call(const struct lineinfo *l, const struct inlined *c, const char *name,
		       const char *file, uint32_t line)
{
	assert_string_equal(c->name, name);
	assert_string_equal(lineinfo_path(l, c->file), file);
	assert_int_equal(c->line, line);
	assert_string_equal(lineinfo_path(l, c->declared), "/src/b.go");
}

static void check_calls(const struct go_program *p)
{
	struct lineinfo *l = lines_of(p);
	struct inlined c[INLINED];

	assert_non_null(l);
	assert_int_equal(lineinfo_inlined(l, GO_CODE + 0x0f, c, INLINED), 0);
	assert_int_equal(lineinfo_inlined(l, GO_CODE + 0x10, c, INLINED), 1);
	check_call(l, &c[0], "main.mid", "/src/a.go", 11);
	assert_int_equal(lineinfo_inlined(l, GO_CODE + 0x27, c, INLINED), 2);
	check_call(l, &c[0], "main.mid", "/src/a.go", 11);
	check_call(l, &c[1], "main.leaf", "/src/b.go", 20);
	assert_int_equal(lineinfo_inlined(l, GO_CODE + 0x28, c, INLINED), 0);
	assert_int_equal(lineinfo_inlined(l, GO_WORK, c, INLINED), 0);
	lineinfo_free(l);
}

static void test_versions(void **state)
{
	for (size_t i = 0; i < VERSIONS; i++) {
		check_names(&(struct go_program){ .magic = versions[i] });
		check_lines(&(struct go_program){ .magic = versions[i] });
	}
	check_calls(&(struct go_program){ .magic = GO_1_18 });
	check_calls(&(struct go_program){ .magic = GO_1_20 });
}

/* The loader stores the addresses; Go's code begins after C's. */
static void test_position_independent(void **state)
{
	for (size_t i = 2; i < VERSIONS; i++) {
		check_names(&(struct go_program){ .magic = versions[i], .pie = true });
		check_lines(&(struct go_program){ .magic = versions[i], .pie = true });
		check_calls(&(struct go_program){ .magic = versions[i], .pie = true });
	}
}

/* Without the runtime's variable there are names and lines. */
static void test_no_module(void **state)
{
	const struct go_program p = { .magic = GO_1_20, .no_module = true };
	struct lineinfo *l = lines_of(&p);
	struct inlined c;

	check_names(&p);
	check_lines(&p);
	assert_int_equal(lineinfo_inlined(l, GO_CODE + 0x10, &c, 1), 0);
	lineinfo_free(l);
}

static void test_unknown_version(void **state)
{
	int fd = go_program(&(struct go_program){ .magic = GO_LATER });
	struct diag d = { 0 };
	struct symtab *t = symtab_open(fd, &no_debug, &d);
	size_t n;

	assert_non_null(t);
	symtab_syms(t, &n);
	assert_int_equal(n, 0);
	assert_null(lineinfo_open(fd, &no_debug, &d));
	assert_int_equal(d.nmsgs, 2);
	assert_string_equal(d.msgs[0].text,
			    "its functions have no names: the table of functions is of a form that is not "
			    "known here; it was made by go9.99");
	assert_string_equal(d.msgs[1].text,
			    "prog: its lines are not known: the table of functions is of a form that is "
			    "not known here; it was made by go9.99");
	symtab_free(t);
	diag_free(&d);
	close(fd);
}

static void look_everywhere(int fd)
{
	struct diag d = { 0 };
	struct lineinfo *l = lineinfo_open(fd, &no_debug, &d);
	struct inlined c[INLINED];
	struct line_at at;

	symtab_free(symtab_open(fd, &no_debug, &d));
	for (uint64_t a = GO_TEXT; l && a < GO_END; a++) {
		lineinfo_find(l, a, &at);
		lineinfo_inlined(l, a, c, INLINED);
	}
	lineinfo_free(l);
	diag_free(&d);
}

static void test_loop(void **state)
{
	struct lineinfo *l = lines_of(&(struct go_program){ .magic = GO_1_20, .loop = true });
	struct inlined c[INLINED];

	assert_int_equal(lineinfo_inlined(l, GO_CODE + 0x10, c, INLINED), 0);
	lineinfo_free(l);
}

/* Every byte of a program behind its header is damaged in three ways. */
static void test_damaged(void **state)
{
	static const unsigned char changes[] = { 0xff, 0x80, 0x01 };

	for (size_t v = 0; v < 2 * VERSIONS; v++) {
		int fd = go_program(&(struct go_program){ .magic = versions[v / 2], .pie = v % 2 });
		off_t size = lseek(fd, 0, SEEK_END);
		unsigned char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		assert_ptr_not_equal(p, MAP_FAILED);
		for (off_t i = GO_TEXT_OFFSET; i < size; i++) {
			for (size_t k = 0; k < sizeof(changes); k++) {
				p[i] ^= changes[k];
				look_everywhere(fd);
				p[i] ^= changes[k];
			}
		}
		munmap(p, size);
		close(fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_position_independent),
		cmocka_unit_test(test_no_module),
		cmocka_unit_test(test_unknown_version),
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
