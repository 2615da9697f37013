/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a Go program keeps the number of a goroutine, read from its code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fixtures/go_program.h"
#include "user/unwind/goplaces.h"

#define CODE(bytes) (const unsigned char *)(bytes), sizeof(bytes) - 1

/* if next == last { … }; the jump has the length of the code that follows */
#define CHECK "\x48\x8b\x8e\x80\x01\x00\x00\x48\x39\x8e\x88\x01\x00\x00\x75\x03\x90\x90\x90"
/* newg.goid = next; next++ */
#define TAKE "\x48\x8b\x8e\x80\x01\x00\x00\x48\x89\x88\x98\x00\x00\x00\x48\xff\x86\x80\x01\x00\x00"

/* The forms that compilers of Go 1.19 to 1.25 have made. */
static void test_forms(void **state)
{
	assert_int_equal(goplaces_number(CODE("\x90" CHECK TAKE "\xc3\0\0\0\0\0\0\0")), 0x98);
	/* a NOP of nine bytes before the comparison */
	assert_int_equal(goplaces_number(CODE("\x48\x8b\x8e\x80\x01\x00\x00\x66\x0f\x1f\x84\0\0\0\0\0"
					      "\x48\x39\x8e\x88\x01\x00\x00\x75\x01\x90" TAKE)), 0x98);
	/* other registers; the goroutine's address is on the stack, near */
	assert_int_equal(goplaces_number(CODE("\x48\x8b\xb2\x78\x01\x00\x00\x48\x39\xb2\x80\x01\x00\x00\x75\x00"
					      "\x4c\x8b\x82\x78\x01\x00\x00\x48\x8b\x44\x24\x40"
					      "\x4c\x89\x80\xa0\x00\x00\x00\x48\xff\x82\x78\x01\x00\x00")), 0xa0);
	/* a distance of one byte */
	assert_int_equal(goplaces_number(CODE(CHECK "\x48\x8b\x8e\x80\x01\x00\x00\x48\x89\x48\x78"
					      "\x90\x90\x90\x90\x90\x90\x90\x90")), 0x78);
}

/* Nothing is found in other code, and nothing in code that says two things. */
static void test_others(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
	} others[] = {
#define OTHER(bytes) { bytes, sizeof(bytes) - 1 }
		OTHER(""),
		OTHER(CHECK TAKE CHECK TAKE),
		OTHER(TAKE),
		OTHER(CHECK),
		/* the comparison is with another field, of another record, of another value */
		OTHER("\x48\x8b\x8e\x80\x01\x00\x00\x48\x39\x8e\x90\x01\x00\x00\x75\x00" TAKE),
		OTHER("\x48\x8b\x8e\x80\x01\x00\x00\x48\x39\x8f\x88\x01\x00\x00\x75\x00" TAKE),
		OTHER("\x48\x8b\x8e\x80\x01\x00\x00\x48\x39\x9e\x88\x01\x00\x00\x75\x00" TAKE),
		/* another field is stored; another register is */
		OTHER(CHECK "\x48\x8b\x8e\x88\x01\x00\x00\x48\x89\x88\x98\x00\x00\x00\x90\x90"),
		OTHER(CHECK "\x48\x8b\x8e\x80\x01\x00\x00\x48\x89\x98\x98\x00\x00\x00\x90\x90"),
		/* no distance of a word; one too far; a negative one */
		OTHER(CHECK "\x48\x8b\x8e\x80\x01\x00\x00\x48\x89\x88\x9c\x00\x00\x00\x90\x90"),
		OTHER(CHECK "\x48\x8b\x8e\x80\x01\x00\x00\x48\x89\x88\x00\x00\x01\x00\x90\x90"),
		OTHER(CHECK "\x48\x8b\x8e\x80\x01\x00\x00\x48\x89\x88\x98\xff\xff\xff\x90\x90"),
		/* on the stack; in what another register points to */
		OTHER(CHECK "\x48\x8b\x8e\x80\x01\x00\x00\x48\x89\x4c\x24\x40\x90\x90\x90\x90"),
		OTHER(CHECK "\x48\x8b\x8e\x80\x01\x00\x00\x48\x8b\x44\x24\x40\x48\x89\x8a\x98\x00\x00\x00\x90"),
		/* the jump leads out of the code, or back */
		OTHER("\x48\x8b\x8e\x80\x01\x00\x00\x48\x39\x8e\x88\x01\x00\x00\x75\x70" TAKE),
		OTHER(TAKE "\x48\x8b\x8e\x80\x01\x00\x00\x48\x39\x8e\x88\x01\x00\x00\x75\xdb"),
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_equal(goplaces_number((const unsigned char *)others[i].bytes, others[i].n), 0);
}

/* Each part of the code at the end of memory. */
static void test_cut(void **state)
{
	static const char code[] = CHECK TAKE;

	for (size_t n = 0; n < sizeof(code); n++) {
		unsigned char *p = malloc(n + !n);

		memcpy(p, code, n);
		goplaces_number(p, n);
		free(p);
	}
}

/* The memory of a file. */
struct mapped {
	void *p;
	size_t n;
};

static struct mapped map(int fd)
{
	struct stat st;
	struct mapped m;

	assert_true(fd >= 0 && !fstat(fd, &st));
	m = (struct mapped){ mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0), st.st_size };
	assert_ptr_not_equal(m.p, MAP_FAILED);
	close(fd);
	return m;
}

/* A program that has no such function says which version of Go made it. */
static void test_version(void **state)
{
	struct mapped m = map(go_program(&(struct go_program){ .magic = GO_1_20 }));
	struct er_go_places places;

	goplaces_find(m.p, m.n, &places);
	assert_int_equal(places.maker, 9 << 8 | 99);
	assert_int_equal(places.g, 0);
	for (size_t cut = 1; cut < m.n; cut += 37)
		goplaces_find(m.p, cut, &places);
	munmap(m.p, m.n);
	m = map(open("/proc/self/exe", O_RDONLY));
	goplaces_find(m.p, m.n, &places);
	assert_int_equal(places.maker, 0);
	munmap(m.p, m.n);
}

/* Go itself, where it is installed: as its DWARF has them. */
static void test_go(void **state)
{
	glob_t g = { 0 };

	if (!glob("/usr/lib/go-1.19/bin/go", 0, NULL, &g)) {
		struct mapped m = map(open(g.gl_pathv[0], O_RDONLY));
		const struct er_go_places want = { .g = -8, .m = 48, .curg = 192, .goid = 152, .maker = 1 << 8 | 19 };
		struct er_go_places places;

		goplaces_find(m.p, m.n, &places);
		assert_memory_equal(&places, &want, sizeof(want));
		munmap(m.p, m.n);
	}
	globfree(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
