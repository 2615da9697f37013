/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of crtbegin.o: from bytes, in their two forms, and those of this program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "tests/fixtures/cfi_image.h"
#include "tests/fixtures/unwind/cfi_oracle.h"
#include "user/unwind/elftext.h"
#include "user/unwind/table.h"

enum { NEAR = 0x100 }; /* where the functions begin in the code */

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct er_unwind_rule plain = { .cfa = ER_CFA_SP, .cfa_off = 8, .ra_off = -8 };
static const struct er_unwind_rule saved = {
	.cfa = ER_CFA_SP, .cfa_off = 16, .ra_off = -8, .bp = ER_BP_CFA, .bp_off = -16
};
static const struct er_unwind_rule nothing = { .cfa = ER_CFA_NO_ENTRY };

/* As GCC 12 makes them for a library, at offsets 0, 0x30, 0x70 and 0xb0. */
static const unsigned char library[] = {
	0x48, 0x8d, 0x3d, 0x01, 0xc5, 0x09, 0x00, 0x48, 0x8d, 0x05, 0xfa, 0xc4, 0x09, 0x00, 0x48,
	0x39, 0xf8, 0x74, 0x15, 0x48, 0x8b, 0x05, 0x2e, 0x29, 0x09, 0x00, 0x48, 0x85, 0xc0, 0x74,
	0x09, 0xff, 0xe0, 0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00, 0xc3, 0x0f, 0x1f, 0x80, 0x00,
	0x00, 0x00, 0x00, 0x48, 0x8d, 0x3d, 0xd1, 0xc4, 0x09, 0x00, 0x48, 0x8d, 0x35, 0xca, 0xc4,
	0x09, 0x00, 0x48, 0x29, 0xfe, 0x48, 0x89, 0xf0, 0x48, 0xc1, 0xee, 0x3f, 0x48, 0xc1, 0xf8,
	0x03, 0x48, 0x01, 0xc6, 0x48, 0xd1, 0xfe, 0x74, 0x14, 0x48, 0x8b, 0x05, 0x1d, 0x2b, 0x09,
	0x00, 0x48, 0x85, 0xc0, 0x74, 0x08, 0xff, 0xe0, 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3,
	0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00, 0xf3, 0x0f, 0x1e, 0xfa, 0x80, 0x3d, 0x8d, 0xc4,
	0x09, 0x00, 0x00, 0x75, 0x2b, 0x55, 0x48, 0x83, 0x3d, 0x2a, 0x2b, 0x09, 0x00, 0x00, 0x48,
	0x89, 0xe5, 0x74, 0x0c, 0x48, 0x8b, 0x3d, 0x7e, 0x36, 0x09, 0x00, 0xe8, 0xc9, 0x21, 0xff,
	0xff, 0xe8, 0x64, 0xff, 0xff, 0xff, 0xc6, 0x05, 0x65, 0xc4, 0x09, 0x00, 0x01, 0x5d, 0xc3,
	0x0f, 0x1f, 0x00, 0xc3, 0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00, 0xf3, 0x0f, 0x1e, 0xfa,
	0xe9, 0x77, 0xff, 0xff, 0xff,
};

/* For a program at a fixed address, at offsets 0, 0x30, 0x70 and 0xa0. */
static const unsigned char program[] = {
	0xb8, 0x38, 0x40, 0x40, 0x00, 0x48, 0x3d, 0x38, 0x40, 0x40, 0x00, 0x74, 0x13, 0xb8,
	0x00, 0x00, 0x00, 0x00, 0x48, 0x85, 0xc0, 0x74, 0x09, 0xbf, 0x38, 0x40, 0x40, 0x00,
	0xff, 0xe0, 0x66, 0x90, 0xc3, 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x0f, 0x1f, 0x40, 0x00, 0xbe, 0x38, 0x40, 0x40, 0x00, 0x48, 0x81, 0xee,
	0x38, 0x40, 0x40, 0x00, 0x48, 0x89, 0xf0, 0x48, 0xc1, 0xee, 0x3f, 0x48, 0xc1, 0xf8,
	0x03, 0x48, 0x01, 0xc6, 0x48, 0xd1, 0xfe, 0x74, 0x11, 0xb8, 0x00, 0x00, 0x00, 0x00,
	0x48, 0x85, 0xc0, 0x74, 0x07, 0xbf, 0x38, 0x40, 0x40, 0x00, 0xff, 0xe0, 0xc3, 0x66,
	0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0f, 0x1f, 0x40, 0x00,
	0xf3, 0x0f, 0x1e, 0xfa, 0x80, 0x3d, 0xb9, 0x2e, 0x00, 0x00, 0x00, 0x75, 0x13, 0x55,
	0x48, 0x89, 0xe5, 0xe8, 0x7a, 0xff, 0xff, 0xff, 0xc6, 0x05, 0xa7, 0x2e, 0x00, 0x00,
	0x01, 0x5d, 0xc3, 0x90, 0xc3, 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x0f, 0x1f, 0x40, 0x00, 0xf3, 0x0f, 0x1e, 0xfa, 0xeb, 0x8a,
};

/* What holds from an offset on. A rule also holds for the padding behind the function, which never
 * runs. */
struct stretch {
	unsigned from;
	const struct er_unwind_rule *rule;
};

static const struct stretch in_library[] = { { 0, &plain }, { 0x7e, &saved }, { 0xa4, &plain } };
static const struct stretch in_program[] = { { 0, &plain }, { 0x7e, &saved }, { 0x8e, &plain } };

/* The table of a file that has these bytes as code, and one function with an entry before them. */
static struct unwind_table table_of(const unsigned char *code, size_t n, struct buf *file)
{
	static const struct cfi_image_fn fn = CFI_FN(0, 16, "\x0e\x10");
	struct unwind_table t;

	cfi_image(file, &fn, 1, 0xcc);
	memcpy(file->data + CFI_IMAGE_TEXT + NEAR, code, n);
	assert_int_equal(
		unwind_table_build(
			&(struct unwind_input){ .elf = file->data, .elf_size = file->len }, &t),
		0);
	return t;
}

static struct er_unwind_rule rule_at(const struct unwind_table *t, uint64_t offset)
{
	struct er_unwind_rule r;

	assert_true(cfi_table_rule(t, offset, &r));
	return r;
}

static void assert_stretches(const unsigned char *code, size_t n, const struct stretch *s,
			     size_t ns)
{
	struct buf file = { 0 };
	struct unwind_table t = table_of(code, n, &file);
	size_t k = 0;

	for (unsigned i = 0; i < n; i++) {
		struct er_unwind_rule have = rule_at(&t, CFI_IMAGE_TEXT + NEAR + i);

		if (k + 1 < ns && s[k + 1].from == i)
			k++;
		if (memcmp(&have, s[k].rule, sizeof(have)))
			fail_msg("offset 0x%x: CFA form %d, offset %d", i, have.cfa, have.cfa_off);
	}
	assert_int_equal(k, ns - 1);
	unwind_table_free(&t);
	buf_free(&file);
}

static void test_forms(void **state)
{
	(void)state;
	assert_stretches(library, sizeof(library), in_library, COUNT(in_library));
	assert_stretches(program, sizeof(program), in_program, COUNT(in_program));
}

/* With any other byte at `at` there is no rule at `probe`. */
static void assert_exact(unsigned at, unsigned probe)
{
	unsigned char code[sizeof(library)];
	struct buf file = { 0 };
	struct unwind_table t;
	struct er_unwind_rule have;

	memcpy(code, library, sizeof(code));
	code[at] ^= 1;
	t = table_of(code, sizeof(code), &file);
	have = rule_at(&t, CFI_IMAGE_TEXT + NEAR + probe);
	assert_memory_equal(&have, &nothing, sizeof(have));
	unwind_table_free(&t);
	buf_free(&file);
}

static void test_exact_match(void **state)
{
	(void)state;
	assert_exact(0x10, 0x00); /* cmp */
	assert_exact(0x12, 0x00); /* the jump leads to no return */
	assert_exact(0x41, 0x30); /* mov */
	assert_exact(0x7c, 0x80); /* the jump over the calls */
	assert_exact(0xa4, 0x80); /* return */
	assert_exact(0xb5, 0xb4); /* a jump to something else than register_tm_clones */
}

/* Code that ends within such a function: nothing behind it is read. */
static void test_cut_code(void **state)
{
	(void)state;
	for (size_t n = 1; n < sizeof(library); n++) {
		struct buf file = { 0 };
		struct unwind_table t;

		cfi_image(&file, &(struct cfi_image_fn)CFI_FN(0, 16, "\x0e\x10"), 1, 0xcc);
		memcpy(file.data + CFI_IMAGE_TEXT + CFI_IMAGE_TEXT_SIZE - n, library, n);
		assert_int_equal(unwind_table_build(&(struct unwind_input){ .elf = file.data,
									    .elf_size = file.len },
						    &t),
				 0);
		unwind_table_free(&t);
		buf_free(&file);
	}
}

static const char *const names[] = { "deregister_tm_clones", "register_tm_clones",
				     "__do_global_dtors_aux", "frame_dummy" };

/* Assert that each of the functions that this program has begins with a rule; returns their number.
 */
static unsigned check_symbols(Elf *elf, const struct unwind_table *t, const struct elftext *text)
{
	Elf_Scn *scn = NULL;
	unsigned n = 0;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Sym sym;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_SYMTAB)
			continue;
		for (int i = 0; gelf_getsym(elf_getdata(scn, NULL), i, &sym); i++) {
			const char *name = elf_strptr(elf, sh.sh_link, sym.st_name);
			struct er_unwind_rule have;
			uint64_t at;

			for (size_t k = 0; name && k < COUNT(names); k++) {
				if (strcmp(name, names[k]) ||
				    !elftext_offset(text, sym.st_value, &at))
					continue;
				have = rule_at(t, at);
				assert_memory_equal(&have, &plain, sizeof(have));
				n++;
			}
		}
	}
	return n;
}

static void test_own_program(void **state)
{
	__cleanup(closep) int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct unwind_table t;
	struct elftext text;
	size_t size;
	char *image;
	Elf *elf;

	(void)state;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	image = elf_rawfile(elf, &size);
	assert_non_null(image);
	assert_int_equal(elftext_open(&text, image, size), 0);
	assert_int_equal(
		unwind_table_build(&(struct unwind_input){ .elf = image, .elf_size = size }, &t),
		0);
	assert_int_equal(check_symbols(elf, &t, &text), COUNT(names));
	unwind_table_free(&t);
	elf_end(elf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_exact_match),
		cmocka_unit_test(test_cut_code),
		cmocka_unit_test(test_own_program),
	};

	return cmocka_run_group_tests_name("unwind_crtcode", tests, NULL, NULL);
}
