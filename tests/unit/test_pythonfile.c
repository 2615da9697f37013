/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What interpreters' files say about themselves: those of this machine, an image, and damaged ones. */
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
#include <unistd.h>

#include "bpf/python.h"
#include "user/unwind/pythonfile.h"
#include "user/unwind/pythonplaces.h"

/* _PyRuntime of CPython 3.13.0 on x86-64, as it is in the file. */
static const uint64_t image[PYTHON_DEBUG_WORDS] = {
	0x7970677562656478, 0x30d00f0, 0, 0x452b8, 0x260, 0x278, 0x2f998, 0x1c68, 0x1c60, 0x1cb0, 0x1ce8, 0x1de8,
	0x1dd8, 0x1de0, 0x10, 0x1e48, 0, 0x1e58, 0x1e50, 0x130, 0, 8, 0x10, 0x48, 0x98, 0xa0, 0xe8, 0x20, 0x50, 8,
	0, 0x38, 0x48, 0x46, 0xd0, 0x70, 0x78, 0x80, 0x88, 0x44, 0x34, 0x60, 0x68, 0xc8, 0x10, 8, 0x1a0, 0x18,
	0x58, 0xa8, 0x20, 0x18, 0x10, 0x28, 0x18, 0x10, 0x30, 0x20, 0x28, 0x18, 0x10, 0x20, 0x10, 0x18, 0x28,
	0x10, 0x20, 0x40, 0x20, 0x10, 0x28,
};

static void debug_offsets(void **state)
{
	struct er_python_places p;

	assert_true(pythonplaces_read(image, &p));
	assert_int_equal(p.tstate_frame * 8, 72);
	assert_int_equal(p.tstate_thread * 8, 152);
	assert_int_equal(p.code_instrs * 8, 200);
}

/* Words that a walk relies on. What else is different does not matter. */
static void other_debug_offsets(void **state)
{
	static const uint8_t used[] = { 0, 1, 2, 29, 30, 31, 33, 35, 37, 38, 39, 45, 65, 66, 68, 69, 70 };
	static const uint8_t places[] = { 23, 24, 43 };
	uint64_t words[PYTHON_DEBUG_WORDS];
	struct er_python_places p;

	for (size_t i = 0; i < PYTHON_DEBUG_WORDS; i++) {
		memcpy(words, image, sizeof(words));
		words[i] += 0x10000;
		assert_int_equal(pythonplaces_read(words, &p), !memchr(used, i, sizeof(used)) &&
				 !memchr(places, i, sizeof(places)));
	}
	for (size_t i = 0; i < sizeof(places); i++) {
		memcpy(words, image, sizeof(words));
		words[places[i]] += 8;
		assert_true(pythonplaces_read(words, &p));
		words[places[i]]++;
		assert_false(pythonplaces_read(words, &p));
		words[places[i]] = 0;
		assert_false(pythonplaces_read(words, &p));
	}
}

enum { CODE = 0x400000, RUNTIME = 0x800000, KEY = 0x870 };

struct form {
	const char *what;
	unsigned char code[16];
	size_t n;
	uint64_t offset; /* 0: none */
};

static void forms_of_the_key(void **state)
{
	static const struct form forms[] = {
		{ "lea KEY(%rax),%rbx", { 0x48, 0x8d, 0x98, 0x70, 8, 0, 0 }, 7, KEY },
		{ "add $KEY,%rdi", { 0x48, 0x81, 0xc7, 0x70, 8, 0, 0 }, 7, KEY },
		{ "mov $RUNTIME+KEY,%edi", { 0x90, 0xbf, 0x70, 8, 0x80, 0 }, 6, KEY },
		{ "lea RUNTIME+KEY(%rip),%rdi", { 0x48, 0x8d, 0x3d, 0x69, 8, 0x40, 0 }, 7, KEY },
		{ "cmpl $0,RUNTIME+KEY(%rip)", { 0x83, 0x3d, 0x69, 8, 0x40, 0, 0 }, 7, KEY },
		{ "mov RUNTIME+KEY+4(%rip),%edi", { 0x8b, 0x3d, 0x6e, 8, 0x40, 0 }, 6, KEY },
		{ "mov 4+KEY(%rax),%edi", { 0x8b, 0xb8, 0x74, 8, 0, 0 }, 6, KEY },
		{ "mov GOT(%rip),%rax", { 0x48, 0x8b, 5, 0x69, 8, 0x10, 0 }, 7, 0 },
		{ "mov KEY(%rsp),%rax", { 0x48, 0x8b, 0x84, 0x70, 8, 0, 0 }, 7, 0 },
		{ "two fields", { 0x48, 0x8d, 0x98, 0x70, 8, 0, 0, 0x48, 0x8d, 0x98, 0x80, 8, 0, 0 }, 14, 0 },
		{ "a debug offset", { 0x48, 0x8d, 0x98, 0x70, 0, 0, 0 }, 7, 0 },
		{ "not a field", { 0x48, 0x8d, 0x98, 0x71, 8, 0, 0 }, 7, 0 },
		{ "cut", { 0x48, 0x8d, 0x98, 0x70, 8, 0 }, 6, 0 },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const struct form *f = &forms[i];
		uint64_t key = 0;
		bool found = pythonplaces_key(f->code, f->n, CODE, RUNTIME, &key);

		if (found != !!f->offset || (found && key != RUNTIME + f->offset + 4))
			fail_msg("%s: %d, %#lx", f->what, found, (long)key);
	}
}

/* 3.13.0's own */
static void code_of_an_interpreter(void **state)
{
	static const unsigned char code[] = {
		0x48, 0x8b, 0x05, 0xe9, 0x6b, 0x25, 0x00, 0x53, 0x48, 0x8d, 0x98, 0x70, 0x08, 0x00, 0x00, 0x48,
		0x89, 0xdf, 0xe8, 0xd9, 0x59, 0xdf, 0xff, 0x85, 0xc0, 0x74, 0x0d, 0x48, 0x89, 0xdf, 0x5b, 0xe9,
		0x5c, 0x6d, 0xdf, 0xff, 0x0f, 0x1f, 0x40, 0x00, 0x31, 0xc0, 0x5b, 0xc3,
	};
	uint64_t key;

	assert_true(pythonplaces_key(code, sizeof(code), 0x2940c0, 0x5294c0, &key));
	assert_int_equal(key, 0x5294c0 + KEY + 4);
}

/* --- files --- */

static const char *const files[] = {
	"/usr/bin/python3.1[1-9]", "/usr/local/bin/python3.1[1-9]", "/usr/lib/x86_64-linux-gnu/libpython3.*.so.1.0",
	"/root/.pyenv/versions/*/lib/libpython3.1*.so.1.0",
};

static __u32 release_in(const char *path)
{
	unsigned minor = 0;

	sscanf(strstr(path, "python3."), "python3.%u", &minor);
	return minor < 11 ? PYTHON_OLD : 3U << 24 | minor << 16;
}

static void check_file(const char *path)
{
	enum { MAX = 1 << 26 };
	int fd = open(path, O_RDONLY);
	char *p = malloc(MAX);
	ssize_t n = fd < 0 ? 0 : read(fd, p, MAX);
	struct er_unwind_file file = { .python = 1 };

	if (n > 0) {
		pythonfile_find(p, n, &file);
		assert_int_equal(file.python, release_in(path));
		assert_int_equal(file.python_runtime > 0 && file.python_code > 0 && file.python_key > 0 &&
				 file.python_places.code_instrs, python_is_known(file.python));
		for (size_t cut = 1; cut < (size_t)n; cut = cut * 3 / 2 + 1)
			pythonfile_find(p, cut, &file);
	}
	close(fd);
	free(p);
}

static void interpreters(void **state)
{
	struct er_unwind_file file = { .python = 1 };

	pythonfile_find("\x7f" "ELF", 4, &file);
	assert_int_equal(file.python, 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		glob_t g = { 0 };

		if (!glob(files[i], 0, NULL, &g))
			for (size_t at = 0; at < g.gl_pathc; at++)
				check_file(g.gl_pathv[at]);
		globfree(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(debug_offsets),
		cmocka_unit_test(other_debug_offsets),
		cmocka_unit_test(forms_of_the_key),
		cmocka_unit_test(code_of_an_interpreter),
		cmocka_unit_test(interpreters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
