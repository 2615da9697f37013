/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call frame information: sections written byte by byte, some of them damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dwarf.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/symbols/ehframe.h"
#include "tests/fixtures/mutate.h"

enum { SECTION = 0x4000, CFA_NOP = 0, CFA_MARK = 0x04, RETURN_REG = 0x90, RETURN_REG_LEB = 0x10 };

/* --- sections written by hand --- */

static void put(struct buf *b, uint64_t v, unsigned n)
{
	buf_add(b, &v, n);
}

/* Fill in the length of the entry that begins at `at`, whose length field has n bytes. */
static void set_length(struct buf *b, size_t at, bool wide)
{
	uint64_t length = b->len - at - (wide ? 12 : 4);

	memcpy(b->data + at + (wide ? 4 : 0), &length, wide ? 8 : 4);
}

static size_t begin_entry(struct buf *b, bool wide)
{
	size_t at = b->len;

	if (wide)
		put(b, UINT32_MAX, 4);
	put(b, 0, wide ? 8 : 4);
	return at;
}

struct cie_form {
	const char *letters;
	const char *data; /* behind the letters' length; NULL: none, and no length */
	unsigned data_size, version;
	bool wide, debug_frame, segments;
};

static size_t put_cie(struct buf *b, const struct cie_form *f)
{
	size_t at = begin_entry(b, f->wide);

	if (f->debug_frame)
		put(b, UINT64_MAX, f->wide ? 8 : 4);
	else
		put(b, 0, 4);
	put(b, f->version, 1);
	buf_add(b, f->letters, strlen(f->letters) + 1);
	if (f->version == 4)
		put(b, f->segments ? 0x408 : 8, 2); /* addresses of 8 bytes */
	put(b, 0x84, 1);			    /* code alignment: 4 in two bytes */
	put(b, 0, 1);
	put(b, 0x78, 1); /* data alignment: -8 */
	put(b, f->version == 1 ? RETURN_REG : RETURN_REG_LEB, 1);
	if (f->data) {
		put(b, f->data_size, 1);
		buf_add(b, f->data, f->data_size);
	}
	put(b, CFA_MARK, 1);
	set_length(b, at, f->wide);
	return at;
}

static struct ehframe_section section_of(const struct buf *b)
{
	return (struct ehframe_section){ .data = (const unsigned char *)b->data,
					 .size = b->len,
					 .addr = SECTION,
					 .addr_size = 8 };
}

/* An FDE of .eh_frame whose CIE is at `cie`. The caller adds the encoded words. */
static size_t put_fde(struct buf *b, size_t cie, uint64_t begin, uint64_t size, unsigned n,
		      bool sized)
{
	size_t at = begin_entry(b, false);

	put(b, b->len - cie, 4);
	put(b, begin, n);
	put(b, size, n);
	if (sized) {
		put(b, 2, 1);
		put(b, 0xbeef, 2);
	}
	put(b, CFA_MARK + 1, 1);
	put(b, CFA_NOP, 1);
	set_length(b, at, false);
	return at;
}

static const struct cie_form usual = {
	.letters = "zPLR", .data = "\x9b\x11\x22\x33\x44\x1b\x1b", .data_size = 7, .version = 1
};

static void test_pcrel(void **state)
{
	struct buf b = { 0 };
	size_t cie = put_cie(&b, &usual), fde = put_fde(&b, cie, -0x1000, 0x50, 4, true);
	struct ehframe_section s = section_of(&b);
	struct ehframe_fde f;
	struct ehframe e;

	ehframe_begin(&e, &s);
	assert_true(ehframe_next(&e, &f));
	assert_int_equal(f.offset, fde);
	assert_int_equal(f.pc_begin, SECTION + fde + 8 - 0x1000);
	assert_int_equal(f.pc_end, f.pc_begin + 0x50);
	assert_int_equal(f.instructions.size, 2);
	assert_int_equal(f.instructions.p[0], CFA_MARK + 1);
	assert_int_equal(f.cie->offset, cie);
	assert_int_equal(f.cie->code_align, 4);
	assert_int_equal(f.cie->data_align, -8);
	assert_int_equal(f.cie->return_reg, RETURN_REG);
	assert_int_equal(f.cie->lsda, 0x1b);
	assert_true(f.cie->personality && !f.cie->signal_frame && !f.cie->b_key && !f.cie->mte);
	assert_int_equal(f.cie->instructions.size, 1);
	assert_int_equal(f.cie->instructions.p[0], CFA_MARK);
	assert_false(ehframe_next(&e, &f));
	assert_int_equal(e.nbad, 0);
	assert_false(e.cut);
	buf_free(&b);
}

/* Parse one FDE of a CIE with this pointer encoding; false: it was rejected. */
static bool with_encoding(unsigned char encoding, uint64_t begin, uint64_t size, unsigned n,
			  uint64_t data_base, struct ehframe_fde *f, size_t *at)
{
	const char data[] = { encoding };
	struct buf b = { 0 };
	size_t cie = put_cie(
		&b,
		&(struct cie_form){ .letters = "zR", .data = data, .data_size = 1, .version = 3 });
	struct ehframe_section s;
	struct ehframe e;
	bool found;

	*at = SECTION + put_fde(&b, cie, begin, size, n, true) + 8;
	s = section_of(&b);
	s.data_base = data_base;
	ehframe_begin(&e, &s);
	found = ehframe_next(&e, f);
	assert_int_equal(e.nbad, !found && begin ? 1 : 0);
	buf_free(&b);
	return found;
}

static void test_encodings(void **state)
{
	struct ehframe_fde f;
	size_t at;

	assert_true(with_encoding(DW_EH_PE_absptr, 0x123456789a, 0x10, 8, 0, &f, &at));
	assert_int_equal(f.pc_begin, 0x123456789a);
	assert_true(with_encoding(DW_EH_PE_pcrel | DW_EH_PE_sdata8, -0x30, 0x10, 8, 0, &f, &at));
	assert_int_equal(f.pc_begin, at - 0x30);
	assert_true(with_encoding(DW_EH_PE_pcrel | DW_EH_PE_sdata2, -0x30, 0x10, 2, 0, &f, &at));
	assert_int_equal(f.pc_begin, at - 0x30);
	assert_true(with_encoding(DW_EH_PE_udata2, 0xfff0, 0xff, 2, 0, &f, &at));
	assert_int_equal(f.pc_begin, 0xfff0);
	assert_int_equal(f.pc_end, 0x100ef);
	assert_true(with_encoding(DW_EH_PE_udata4, 0xfffffff0, 8, 4, 0, &f, &at));
	assert_int_equal(f.pc_begin, 0xfffffff0);
	assert_true(with_encoding(DW_EH_PE_uleb128, 0x01ff, 0x0180, 2, 0, &f, &at));
	assert_int_equal(f.pc_begin, 0xff);
	assert_int_equal(f.pc_end, 0xff + 0x80);
	assert_true(
		with_encoding(DW_EH_PE_pcrel | DW_EH_PE_sleb128, 0x40ff, 0x0180, 2, 0, &f, &at));
	assert_int_equal(f.pc_begin, at + 0x7f - 0x2000);
	assert_int_equal(f.pc_end, f.pc_begin + 0x80);
	assert_true(with_encoding(DW_EH_PE_datarel | DW_EH_PE_sdata4, -8, 8, 4, 0x9000, &f, &at));
	assert_int_equal(f.pc_begin, 0x8ff8);
	assert_false(with_encoding(DW_EH_PE_datarel | DW_EH_PE_sdata4, -8, 8, 4, 0, &f, &at));
	assert_false(with_encoding(DW_EH_PE_textrel | DW_EH_PE_sdata4, -8, 8, 4, 0, &f, &at));
	assert_false(with_encoding(DW_EH_PE_indirect | DW_EH_PE_absptr, 8, 8, 8, 0, &f, &at));
	assert_false(with_encoding(DW_EH_PE_aligned, 8, 8, 8, 0, &f, &at));
	assert_false(with_encoding(DW_EH_PE_omit, 8, 8, 8, 0, &f, &at));
	assert_false(with_encoding(0x05, 8, 8, 8, 0, &f, &at));
}

/* Code in sections that the linker discarded, and code that ends before it begins. */
static void test_nothing(void **state)
{
	struct ehframe_fde f;
	size_t at;

	assert_false(with_encoding(DW_EH_PE_pcrel | DW_EH_PE_sdata4, 0, 0x10, 4, 0, &f, &at));
	assert_false(with_encoding(DW_EH_PE_absptr, UINT64_MAX - 3, 8, 8, 0, &f, &at));
	assert_true(with_encoding(DW_EH_PE_absptr, UINT64_MAX - 9, 8, 8, 0, &f, &at));
}

static void test_letters(void **state)
{
	static const struct {
		const char *letters, *data;
		unsigned size;
		bool good, signal, b_key, mte;
	} rows[] = {
		{ "", NULL, 0, true, false, false, false },
		{ "zRS", "\0", 1, true, true, false, false },
		{ "zRB", "\0", 1, true, false, true, false },
		{ "zRG", "\0", 1, true, false, false, true },
		{ "zRX", "\0", 1, false, false, false, false },
		{ "R", NULL, 0, false, false, false, false },
		{ "eh", NULL, 0, false, false, false, false },
		{ "zRSSSSSSSSSSSSSSS", "\0", 1, false, false, false, false },
		{ "zR", "\0", 0, false, false, false, false },
		{ "zPR", "\x50\1\2\3\4\5\6\7\10\0", 10, false, false, false, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct cie_form form = { .letters = rows[i].letters,
					       .data = rows[i].data,
					       .data_size = rows[i].size,
					       .version = 1 };
		struct buf b = { 0 };
		size_t cie = put_cie(&b, &form);
		struct ehframe_section s;
		struct ehframe_fde f;
		struct ehframe e;

		put_fde(&b, cie, 0x1000, 0x10, 8, rows[i].data);
		s = section_of(&b);
		ehframe_begin(&e, &s);
		assert_int_equal(ehframe_next(&e, &f), rows[i].good);
		assert_int_equal(e.nbad, !rows[i].good);
		if (rows[i].good) {
			assert_int_equal(f.cie->signal_frame, rows[i].signal);
			assert_int_equal(f.cie->b_key, rows[i].b_key);
			assert_int_equal(f.cie->mte, rows[i].mte);
			assert_int_equal(f.instructions.size, 2);
		}
		buf_free(&b);
	}
}

/* A CIE with a length of 12 bytes does not change the size of ids in .eh_frame. */
static void test_wide(void **state)
{
	struct buf b = { 0 };
	size_t cie = put_cie(&b, &(struct cie_form){ .letters = "", .version = 1, .wide = true });
	struct ehframe_section s;
	struct ehframe_fde f;
	struct ehframe e;

	put_fde(&b, cie, 0x1000, 0x10, 8, false);
	s = section_of(&b);
	ehframe_begin(&e, &s);
	assert_true(ehframe_next(&e, &f));
	assert_int_equal(f.pc_begin, 0x1000);
	assert_int_equal(f.cie->return_reg, RETURN_REG);
	buf_free(&b);
}

/* .debug_frame has other ids, offsets from the section's beginning, and all forms of lengths. */
static void test_debug_frame(void **state)
{
	for (int form = 0; form < 6; form++) {
		bool wide = form & 1, segments = form & 4;
		const struct cie_form cf = { .letters = "",
					     .version = form & 6 ? 4 : 3,
					     .wide = wide,
					     .debug_frame = true,
					     .segments = segments };
		struct buf b = { 0 };
		struct ehframe_section s;
		struct ehframe_fde f;
		struct ehframe e;
		size_t cie, at;

		put_cie(&b, &cf);
		cie = put_cie(&b, &cf);
		at = begin_entry(&b, wide);
		put(&b, cie, wide ? 8 : 4);
		put(&b, 0x5000, 8);
		put(&b, 0x40, 8);
		put(&b, CFA_MARK, 1);
		set_length(&b, at, wide);
		s = section_of(&b);
		s.debug_frame = true;
		ehframe_begin(&e, &s);
		assert_int_equal(ehframe_next(&e, &f), !segments);
		assert_int_equal(e.nbad, segments);
		if (segments) {
			buf_free(&b);
			continue;
		}
		assert_int_equal(f.cie->return_reg, RETURN_REG_LEB);
		assert_int_equal(f.pc_begin, 0x5000);
		assert_int_equal(f.pc_end, 0x5040);
		assert_int_equal(f.cie->offset, cie);
		assert_int_equal(f.instructions.size, 1);
		assert_false(ehframe_next(&e, &f));
		assert_int_equal(e.nbad, 0);
		buf_free(&b);
	}
}

/* Files of machines with the other byte order, or with addresses of 4 bytes. */
static void test_other_machines(void **state)
{
	/* A CIE, big endian, "zR" with absolute pointers, and an FDE that refers to it. */
	unsigned char big[] = { 0, 0, 0,  13, 0, 0, 0,	0,    1, 'z',  'R', 0, 1, 0x7c, 65, 1, 0, 0,
				0, 0, 14, 0,  0, 0, 21, 0x80, 0, 0x10, 0,   0, 0, 1,	2,  0, 0 };
	struct ehframe_section s = {
		.data = big, .size = sizeof(big), .swap = true, .addr_size = 4
	};
	struct ehframe_fde f;
	struct ehframe e;

	ehframe_begin(&e, &s);
	assert_true(ehframe_next(&e, &f));
	assert_int_equal(f.pc_begin, 0x80001000);
	assert_int_equal(f.pc_end, 0x80001102);
	assert_int_equal(f.cie->data_align, -4);
	assert_int_equal(f.cie->return_reg, 65);
	assert_int_equal(f.instructions.size, 1);
	assert_false(ehframe_next(&e, &f));
	assert_false(e.cut);

	/* Code beyond the last address. */
	memset(&big[25], 0xff, 4);
	ehframe_begin(&e, &s);
	assert_false(ehframe_next(&e, &f));
	assert_int_equal(e.nbad, 1);
}

/* An end mark in the middle, an FDE without a CIE, and a length that exceeds the section. */
static void test_damaged(void **state)
{
	struct buf b = { 0 };
	size_t cie = put_cie(&b, &usual), lost, last;
	struct ehframe_section s;
	struct ehframe_fde f;
	struct ehframe e;

	put(&b, 0, 4);
	lost = put_fde(&b, cie + 1, -0x1000, 0x50, 4, true);
	put_fde(&b, lost, -0x1000, 0x50, 4, true);
	put(&b, 2, 4); /* an entry with half an id */
	put(&b, 0, 2);
	last = put_fde(&b, cie, -0x1000, 0x50, 4, true);
	put(&b, 1, 4);
	s = section_of(&b);
	ehframe_begin(&e, &s);
	assert_true(ehframe_next(&e, &f));
	assert_int_equal(f.offset, last);
	assert_int_equal(e.nbad, 3);
	assert_false(e.cut);
	assert_true(ehframe_at(&e, last, &f));
	assert_false(ehframe_at(&e, cie, &f));
	assert_false(ehframe_at(&e, lost, &f));
	assert_false(ehframe_at(&e, b.len, &f));
	assert_false(ehframe_next(&e, &f));
	assert_true(e.cut);
	assert_int_equal(e.nbad, 3);
	assert_false(ehframe_next(&e, &f));

	/* Augmentation data that exceeds its entry. */
	b.data[last + 16] = 0x7f;
	ehframe_begin(&e, &s);
	assert_false(ehframe_next(&e, &f));
	assert_int_equal(e.nbad, 4);
	buf_free(&b);
}

static void test_header(void **state)
{
	struct ehframe_hdr h;
	struct buf b = { 0 };
	struct ehframe_section s;
	uint64_t pc, fde;

	put(&b, 0x3b031b01, 4); /* pcrel sdata4, udata4, datarel sdata4 */
	put(&b, 0x100, 4);
	put(&b, 2, 4);
	put(&b, -0x1000, 4);
	put(&b, 0x118, 4);
	put(&b, -0xf00, 4);
	put(&b, 0x130, 4);
	s = section_of(&b);
	assert_true(ehframe_hdr_read(&s, &h));
	assert_int_equal(h.eh_frame, SECTION + 4 + 0x100);
	assert_int_equal(h.nfdes, 2);
	ehframe_hdr_row(&s, &h, 1, &pc, &fde);
	assert_int_equal(pc, SECTION - 0xf00);
	assert_int_equal(fde, SECTION + 0x130);
	b.data[8] = 9; /* more rows than fit */
	assert_true(ehframe_hdr_read(&s, &h));
	assert_int_equal(h.nfdes, 2);
	b.data[3] = DW_EH_PE_omit;
	assert_true(ehframe_hdr_read(&s, &h));
	assert_int_equal(h.nfdes, 0);
	b.data[1] = 0x9b;
	assert_false(ehframe_hdr_read(&s, &h));
	b.data[1] = 0x1b;
	b.data[0] = 2;
	assert_false(ehframe_hdr_read(&s, &h));
	buf_free(&b);
}

static bool inside(const struct ehframe_section *s, const struct ehframe_bytes *b)
{
	return b->p >= s->data && b->p + b->size <= s->data + s->size;
}

/* With any damage the parser ends, and its results lie inside the section. */
static void test_mutations(void **state)
{
	struct random r = { .state = 7 };
	struct buf whole = { 0 };
	size_t cie = put_cie(&whole, &usual);

	for (int i = 0; i < 20; i++)
		put_fde(&whole, cie, -0x1000 + i * 0x50, 0x50, 4, true);
	for (int i = 0; i < 20000; i++) {
		/* A separate block, so that the sanitizer sees reads beyond it. */
		unsigned char *own;
		struct buf b = { 0 };
		struct ehframe_section s;
		struct ehframe_fde f;
		struct ehframe e;
		size_t n = 0;

		buf_add(&b, whole.data, whole.len);
		mutate(&r, &b, &whole);
		own = xmalloc(b.len ? b.len : 1);
		if (b.len)
			memcpy(own, b.data, b.len);
		s = (struct ehframe_section){ .data = own,
					      .size = b.len,
					      .addr = SECTION,
					      .addr_size = 8,
					      .debug_frame = i & 1 };
		for (ehframe_begin(&e, &s); ehframe_next(&e, &f); n++) {
			assert_true(inside(&s, &f.instructions));
			assert_true(inside(&s, &f.cie->instructions));
			assert_true(f.pc_begin < f.pc_end);
		}
		assert_true(n + e.nbad <= b.len / 4);
		free(own);
		buf_free(&b);
	}
	buf_free(&whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pcrel),	       cmocka_unit_test(test_encodings),
		cmocka_unit_test(test_nothing),	       cmocka_unit_test(test_letters),
		cmocka_unit_test(test_wide),	       cmocka_unit_test(test_debug_frame),
		cmocka_unit_test(test_other_machines), cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_header),	       cmocka_unit_test(test_mutations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
