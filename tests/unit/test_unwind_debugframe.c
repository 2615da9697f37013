/* SPDX-License-Identifier: GPL-2.0-or-later */
/* .debug_frame: plain, compressed, and with wrong sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>
#include <zlib.h>

#include "analysis/base/buf.h"
#include "user/unwind/debugframe.h"
#include "user/unwind/knowncode.h"

enum { CONTENT = 4000, NAMES = 2, SECTION = 1, SHDRS = 3 };

static const char names[] = "\0.debug_frame";

struct image {
	struct buf file;
	size_t section; /* where .debug_frame is */
	struct elftext elf;
};

static void content(unsigned char *p)
{
	for (int i = 0; i < CONTENT; i++)
		p[i] = i / 7;
}

/* An ELF file with these bytes as .debug_frame. */
static void make(struct image *m, const void *p, size_t n, uint64_t flags)
{
	Elf64_Ehdr h = { .e_ident = ELFMAG, .e_machine = EM_X86_64, .e_shentsize = sizeof(Elf64_Shdr),
			 .e_shnum = SHDRS, .e_shstrndx = NAMES, .e_shoff = sizeof(h) };
	Elf64_Shdr s[SHDRS] = {
		[SECTION] = { .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_flags = flags, .sh_size = n,
			      .sh_offset = sizeof(h) + sizeof(s) },
		[NAMES] = { .sh_type = SHT_STRTAB, .sh_size = sizeof(names),
			    .sh_offset = sizeof(h) + sizeof(s) + n },
	};

	*m = (struct image){ .section = s[SECTION].sh_offset };
	h.e_ident[EI_CLASS] = ELFCLASS64;
	h.e_ident[EI_DATA] = ELFDATA2LSB;
	buf_add(&m->file, &h, sizeof(h));
	buf_add(&m->file, s, sizeof(s));
	buf_add(&m->file, p, n);
	buf_add(&m->file, names, sizeof(names));
	assert_int_equal(elftext_open(&m->elf, m->file.data, m->file.len), 0);
}

/* The same, compressed. The header claims `size` bytes and the method `type`. */
static void make_compressed(struct image *m, uint64_t size, uint32_t type)
{
	unsigned char plain[CONTENT], packed[sizeof(Elf64_Chdr) + CONTENT];
	Elf64_Chdr h = { .ch_type = type, .ch_size = size, .ch_addralign = 8 };
	uLongf n = CONTENT;

	content(plain);
	assert_int_equal(compress(packed + sizeof(h), &n, plain, CONTENT), Z_OK);
	memcpy(packed, &h, sizeof(h));
	make(m, packed, sizeof(h) + n, SHF_COMPRESSED);
}

/* Whether it can be read and has the expected content. */
static bool reads(struct image *m)
{
	unsigned char want[CONTENT];
	struct debugframe f;

	if (!debugframe_open(&f, &m->elf)) {
		assert_null(f.room);
		return false;
	}
	content(want);
	assert_int_equal(f.section.size, CONTENT);
	assert_memory_equal(f.section.data, want, CONTENT);
	assert_true(f.section.debug_frame);
	debugframe_close(&f);
	return true;
}

static void plain_and_compressed(void **state)
{
	unsigned char plain[CONTENT];
	struct image m;

	content(plain);
	make(&m, plain, CONTENT, 0);
	assert_true(reads(&m));
	buf_free(&m.file);
	make_compressed(&m, CONTENT, ELFCOMPRESS_ZLIB);
	assert_true(reads(&m));
	buf_free(&m.file);
}

static void untrue_sizes(void **state)
{
	static const uint64_t sizes[] = { 0, 1, CONTENT - 1, CONTENT + 1, DEBUGFRAME_MAX + 1ULL,
					  DEBUGFRAME_MAX, 1ULL << 63, UINT64_MAX };
	struct image m;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		make_compressed(&m, sizes[i], ELFCOMPRESS_ZLIB);
		assert_false(reads(&m));
		buf_free(&m.file);
	}
}

static void too_large(void **state)
{
	static unsigned char zeros[DEBUGFRAME_MAX + 1], packed[DEBUGFRAME_MAX / 512];
	Elf64_Chdr h = { .ch_type = ELFCOMPRESS_ZLIB, .ch_size = sizeof(zeros) };
	uLongf n = sizeof(packed) - sizeof(h);
	struct image m;

	assert_int_equal(compress(packed + sizeof(h), &n, zeros, sizeof(zeros)), Z_OK);
	memcpy(packed, &h, sizeof(h));
	make(&m, packed, sizeof(h) + n, SHF_COMPRESSED);
	assert_false(reads(&m));
	buf_free(&m.file);
}

static void damaged(void **state)
{
	struct image m;

	make_compressed(&m, CONTENT, 2); /* another method */
	assert_false(reads(&m));
	buf_free(&m.file);
	make_compressed(&m, CONTENT, ELFCOMPRESS_ZLIB);
	memset(m.file.data + m.section + sizeof(Elf64_Chdr), 0xff, 8);
	assert_false(reads(&m));
	buf_free(&m.file);
	/* a section that ends inside its header, although the file has more bytes */
	make_compressed(&m, CONTENT, ELFCOMPRESS_ZLIB);
	((Elf64_Shdr *)(m.file.data + sizeof(Elf64_Ehdr)))[SECTION].sh_size = sizeof(Elf64_Chdr) - 1;
	assert_false(reads(&m));
	buf_free(&m.file);
}

/* The end of a goroutine's stack is recognized by all bytes of the function and by its size. */
static void goexit_is_known(void **state)
{
	static const struct { const char *code; unsigned size; bool is; } cases[] = {
		{ "\x90\xe8\x01\x02\x03\x04\x90", 7, true }, { "\x90\xe8\x01\x02\x03\x04\x90", 6, false },
		{ "\x90\xe8\x01\x02\x03\x04\x90", 8, false }, { "\xc3\xe8\x01\x02\x03\x04\x90", 7, false },
		{ "\x90\xe9\x01\x02\x03\x04\x90", 7, false }, { "\x90\xe8\x01\x02\x03\x04\xc3", 7, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct elftext e = { .data = (const unsigned char *)cases[i].code, .size = 8 };

		assert_int_equal(knowncode_is_goexit(&e, 0, cases[i].size), cases[i].is);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_and_compressed),
		cmocka_unit_test(untrue_sizes),
		cmocka_unit_test(too_large),
		cmocka_unit_test(damaged),
		cmocka_unit_test(goexit_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
