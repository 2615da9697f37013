/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables: from call frame information written byte by byte, from this machine's libraries,
 * and from damaged files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "tests/fixtures/cfi_image.h"
#include "tests/fixtures/unwind/cfi_oracle.h"
#include "tests/fixtures/mutate.h"
#include "user/unwind/padding.h"
#include "user/unwind/rules.h"

enum { COPIES = 3000, INT3 = 0xcc, RET = 0xc3 };

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* A table of the functions, and the file that it was made from. */
struct made {
	struct buf file;
	struct unwind_table t;
};

static struct made make(const struct cfi_image_fn *fns, size_t n, unsigned char fill)
{
	struct made m = { 0 };

	cfi_image(&m.file, fns, n, fill);
	assert_int_equal(unwind_table_build(&(struct unwind_input){ .elf = m.file.data,
								    .elf_size = m.file.len },
					    &m.t), 0);
	return m;
}

static void unmake(struct made *m)
{
	buf_free(&m->file);
	unwind_table_free(&m->t);
}

static struct er_unwind_rule at(const struct made *m, unsigned text)
{
	struct er_unwind_rule r;

	assert_true(cfi_table_rule(&m->t, CFI_IMAGE_TEXT + text, &r));
	return r;
}

static void assert_rule(const struct made *m, unsigned text, struct er_unwind_rule want)
{
	struct er_unwind_rule have = at(m, text);

	assert_memory_equal(&have, &want, sizeof(want));
}

static const struct er_unwind_rule entry = { .cfa = ER_CFA_SP, .cfa_off = 8, .ra_off = -8 };
static const struct er_unwind_rule nothing = { .cfa = ER_CFA_NO_ENTRY };
static const struct er_unwind_rule bad = { .cfa = ER_CFA_BAD };

/* --- the forms of rules --- */

struct form {
	const char *name, *cfi;
	size_t size;
	struct er_unwind_rule rule;
};

#define FORM(what, bytes, ...) { what, bytes, sizeof(bytes) - 1, { __VA_ARGS__ } }
#define RA .ra_off = -8

/* The rule at the second byte of a function with these instructions. */
static const struct form forms[] = {
	FORM("def_cfa_offset", "\x0e\x20", .cfa = ER_CFA_SP, .cfa_off = 32, RA),
	FORM("def_cfa_register rbp", "\x0d\x06", .cfa = ER_CFA_FP, .cfa_off = 8, RA),
	FORM("def_cfa r10", "\x0c\x0a\x00", .cfa = ER_CFA_REG, .reg = 10, RA),
	FORM("def_cfa_sf", "\x12\x06\x7e", .cfa = ER_CFA_FP, .cfa_off = 16, RA),
	FORM("def_cfa_offset_sf", "\x13\x7d", .cfa = ER_CFA_SP, .cfa_off = 24, RA),
	FORM("offset rbp", "\x86\x02", .cfa = ER_CFA_SP, .cfa_off = 8, RA, .bp = ER_BP_CFA, .bp_off = -16),
	FORM("offset_extended rbp", "\x05\x06\x03", .cfa = ER_CFA_SP, .cfa_off = 8, RA,
	     .bp = ER_BP_CFA, .bp_off = -24),
	FORM("offset_extended_sf rbp", "\x11\x06\x7f", .cfa = ER_CFA_SP, .cfa_off = 8, RA,
	     .bp = ER_BP_CFA, .bp_off = 8),
	FORM("negative_offset rbp", "\x2f\x06\x01", .cfa = ER_CFA_SP, .cfa_off = 8, RA,
	     .bp = ER_BP_CFA, .bp_off = 8),
	FORM("offset rbp, restore rbp", "\x86\x02\xc6", .cfa = ER_CFA_SP, .cfa_off = 8, RA),
	FORM("offset rbp, restore_extended", "\x86\x02\x06\x06", .cfa = ER_CFA_SP, .cfa_off = 8, RA),
	FORM("offset rbp, same_value", "\x86\x02\x08\x06", .cfa = ER_CFA_SP, .cfa_off = 8, RA),
	FORM("undefined rbp", "\x07\x06", .cfa = ER_CFA_SP, .cfa_off = 8, RA, .bp = ER_BP_LOST),
	FORM("register rbp in r11", "\x09\x06\x0b", .cfa = ER_CFA_SP, .cfa_off = 8, RA,
	     .bp = ER_BP_REG, .bp_off = 11),
	FORM("remember and restore", "\x0a\x0e\x20\x86\x02\x0b", .cfa = ER_CFA_SP, .cfa_off = 8, RA),
	FORM("undefined rip", "\x07\x10", .cfa = ER_CFA_SP, .ra = ER_RA_NONE),
	FORM("register rip in rdi", "\x09\x10\x05", .cfa = ER_CFA_SP, .cfa_off = 8, .ra = ER_RA_REG,
	     .reg = 5 << 4),
	FORM("args_size and nop", "\x2e\x10\x00\x0e\x10", .cfa = ER_CFA_SP, .cfa_off = 16, RA),
	FORM("others' registers", "\x83\x03\x8c\x04", .cfa = ER_CFA_SP, .cfa_off = 8, RA),
	/* *(rbp - 8), rbp at rbp + 0: a realigned stack */
	FORM("deref rbp", "\x0f\x03\x76\x78\x06\x10\x06\x02\x76\x00", .cfa = ER_CFA_DEREF_FP,
	     .cfa_off = -8, RA, .bp = ER_BP_FP),
	FORM("deref rsp", "\x0f\x05\x77\x28\x06\x23\x08", .cfa = ER_CFA_DEREF_SP, .cfa_off = 40,
	     .cfa_add = 8, RA),
	FORM("index", "\x0f\x0a\x77\x08\x79\x00\x38\x1e\x22\x06\x23\x08", .cfa = ER_CFA_INDEX,
	     .reg = 9, .cfa_off = 8, .cfa_add = 8, RA),
	FORM("PLT, 11", "\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22", .cfa = ER_CFA_PLT,
	     .cfa_off = 8, .cfa_add = 11, RA),
	FORM("PLT, 10", "\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3a\x2a\x33\x24\x22", .cfa = ER_CFA_PLT,
	     .cfa_off = 8, .cfa_add = 10, RA),
	FORM("rsp + n by expression", "\x0f\x02\x77\x18", .cfa = ER_CFA_SP, .cfa_off = 24, RA),
	FORM("val_offset rsp 0", "\x14\x07\x00", .cfa = ER_CFA_SP, .cfa_off = 8, RA),
	/* forms that no rule can express */
	FORM("register rsp in r8", "\x09\x07\x08", .cfa = ER_CFA_BAD),
	FORM("val_offset rbp", "\x14\x06\x01", .cfa = ER_CFA_BAD),
	FORM("val_expression rbp", "\x16\x06\x02\x77\x08", .cfa = ER_CFA_BAD),
	FORM("two derefs", "\x0f\x04\x76\x78\x06\x06", .cfa = ER_CFA_BAD),
	FORM("same_value rip", "\x08\x10", .cfa = ER_CFA_BAD),
	FORM("offset beyond 30 bits", "\x0e\x80\x80\x80\x80\x10", .cfa = ER_CFA_BAD),
	FORM("return address beyond 15 bits", "\x90\x80\x80\x04", .cfa = ER_CFA_BAD),
	FORM("no such instruction", "\x1f", .cfa = ER_CFA_BAD),
	FORM("cut off", "\x0c\x07", .cfa = ER_CFA_SP, .cfa_off = 0, RA),
	FORM("restore without remember", "\x0b", .cfa = ER_CFA_BAD),
	FORM("offset of an expression", "\x0f\x02\x77\x18\x0f\x03\x76\x78\x06\x0e\x08",
	     .cfa = ER_CFA_BAD),
};

static void each_form(void **state)
{
	for (size_t i = 0; i < COUNT(forms); i++) {
		const struct form *f = &forms[i];
		char cfi[64] = { 0x41 }; /* advance by 1 */
		struct cfi_image_fn fn = { 0x10, 0x20, cfi, f->size + 1, false };
		struct er_unwind_rule have;
		struct made m;

		memcpy(cfi + 1, f->cfi, f->size);
		m = make(&fn, 1, INT3);
		have = at(&m, 0x11);
		if (memcmp(&have, &f->rule, sizeof(have)))
			fail_msg("%s: cfa %d %d+%d", f->name, have.cfa, have.cfa_off, have.cfa_add);
		assert_rule(&m, 0x10, entry);
		assert_rule(&m, 0x0f, nothing);
		assert_rule(&m, 0x20, nothing);
		unmake(&m);
	}
}

static void signal_frame(void **state)
{
	struct cfi_image_fn fn = CFI_FN(0, 0x10,
					"\x0f\x04\x77\xa0\x01\x06\x10\x06\x03\x77\xf8\x00"
					"\x10\x07\x03\x77\xa0\x01\x10\x10\x03\x77\xa8\x01");
	struct er_unwind_rule want = { .cfa = ER_CFA_DEREF_SP, .cfa_off = 160, .bp = ER_BP_SP,
				       .bp_off = 120, .ra = ER_RA_SP, .ra_off = 168,
				       .flags = ER_RULE_SIGNAL };
	struct made m;

	fn.signal = true;
	m = make(&fn, 1, INT3);
	assert_rule(&m, 0, want);
	unmake(&m);
}

/* --- rows --- */

static void rows_in_blocks(void **state)
{
	/* advance by 1, 0x100 and 0x345, with a push after each; then back */
	static const char cfi[] = "\x41\x0e\x10\x03\x00\x01\x0e\x18\x03\x45\x03\x0e\x20\x04\x00\x10\x00\x00"
				  "\x0e\x08";
	const struct cfi_image_fn fn = CFI_FN(0x7, 0x1ff0, cfi);
	static const struct { unsigned at; int off; } want[] = {
		{ 0x7, 8 }, { 0x8, 16 }, { 0xff, 16 }, { 0x100, 16 }, { 0x107, 16 }, { 0x108, 24 },
		{ 0x200, 24 }, { 0x44c, 24 }, { 0x44d, 32 }, { 0x144c, 32 }, { 0x144d, 8 },
		{ 0x1fef, 8 },
	};
	struct made m = make(&fn, 1, INT3);

	for (size_t i = 0; i < COUNT(want); i++)
		assert_int_equal(at(&m, want[i].at).cfa_off, want[i].off);
	assert_rule(&m, 0x6, nothing);
	assert_rule(&m, 0x1ff0, nothing);
	assert_rule(&m, 0x1fff, nothing);
	assert_rule(&m, 0x123456, nothing);
	/* A block has at most two words: the index, and the rows that begin in it. */
	assert_int_equal(m.t.file.nrows, 6);
	assert_int_equal(m.t.file.blocks, 0x2000 / ER_BLOCK_BYTES);
	assert_int_equal(m.t.counts.cfi_rows, 5);
	unmake(&m);
}

static void gaps(void **state)
{
	const struct cfi_image_fn fns[] = { CFI_FN(0, 0x10, ""), CFI_FN(0x10, 0x20, ""),
					    CFI_FN(0x30, 0x40, ""), CFI_FN(0x90, 0xa0, "") };
	struct made m = make(fns, COUNT(fns), INT3);

	assert_rule(&m, 0x18, entry);
	assert_rule(&m, 0x28, entry); /* padding gets no row, because it never runs */
	assert_rule(&m, 0x40, nothing); /* more than the longest padding */
	assert_rule(&m, 0x98, entry);
	assert_int_equal(m.t.file.nrows, 4);
	unmake(&m);
	m = make(fns, COUNT(fns), RET);
	assert_rule(&m, 0x1f, entry);
	assert_rule(&m, 0x20, nothing);
	assert_rule(&m, 0x2f, nothing);
	assert_rule(&m, 0x30, entry);
	unmake(&m);
}

/* Code without an entry begins aligned. So what fills up to an alignment is not looked at. */
static void gaps_up_to_alignment(void **state)
{
	const struct cfi_image_fn fns[] = { CFI_FN(0, 0x11, ""), CFI_FN(0x20, 0x31, ""), CFI_FN(0x38, 0x40, ""),
					    CFI_FN(0x50, 0x60, "") };
	struct made m = make(fns, COUNT(fns), RET);

	assert_rule(&m, 0x11, entry);
	assert_rule(&m, 0x1f, entry);
	assert_rule(&m, 0x31, nothing); /* does not end aligned */
	assert_rule(&m, 0x38, entry);
	assert_rule(&m, 0x40, nothing); /* begins aligned */
	assert_rule(&m, 0x50, entry);
	unmake(&m);
}

static void overlaps(void **state)
{
	/*
	 * functions out of order; the one that begins later wins; with equal starts the first one
	 */
	const struct cfi_image_fn fns[] = { CFI_FN(0x100, 0x200, "\x0e\x18"), CFI_FN(0, 0x180, "\x0e\x10"),
					    CFI_FN(0x300, 0x400, "\x0e\x20"), CFI_FN(0x300, 0x380, "\x0e\x28"),
					    CFI_FN(0x340, 0x350, "\x0e\x30") };
	struct made m = make(fns, COUNT(fns), RET);

	assert_int_equal(at(&m, 0xff).cfa_off, 16);
	assert_int_equal(at(&m, 0x100).cfa_off, 24);
	assert_int_equal(at(&m, 0x1ff).cfa_off, 24);
	assert_rule(&m, 0x200, nothing);
	assert_int_equal(at(&m, 0x300).cfa_off, 32);
	assert_int_equal(at(&m, 0x340).cfa_off, 48);
	assert_rule(&m, 0x350, nothing);
	unmake(&m);
}

/* Rows of the first function that begin inside the second one do not belong to the second. */
static void overlapped_rows(void **state)
{
	/* advance_loc 0x30, to CFA rsp+32 */
	const struct cfi_image_fn fns[] = { CFI_FN(0, 0x80, "\x0e\x10\x70\x0e\x20"),
					    CFI_FN(0x20, 0x80, "\x0e\x18") };
	struct made m = make(fns, COUNT(fns), RET);

	assert_int_equal(at(&m, 0x1f).cfa_off, 16);
	assert_int_equal(at(&m, 0x20).cfa_off, 24);
	assert_int_equal(at(&m, 0x7f).cfa_off, 24);
	assert_rule(&m, 0x80, nothing);
	assert_int_equal(m.t.file.nrows, 3);
	unmake(&m);
}

/* Code that is not in the file, and no code at all. */
static void outside(void **state)
{
	const struct cfi_image_fn fns[] = { CFI_FN(0, 0x10, ""),
					    CFI_FN(CFI_IMAGE_TEXT_SIZE - 8, CFI_IMAGE_TEXT_SIZE + 8, "") };
	struct buf b = { 0 };
	struct unwind_table t;

	cfi_image(&b, fns, 1, INT3);
	assert_int_equal(unwind_table_build(&(struct unwind_input){ .elf = b.data, .elf_size = 100 }, &t),
			 -ENODATA);
	assert_int_equal(unwind_table_build(&(struct unwind_input){ .elf = b.data, .elf_size = 60 }, &t),
			 -ENOEXEC);
	b.data[4] = 1; /* of 32 bits */
	assert_int_equal(unwind_table_build(&(struct unwind_input){ .elf = b.data, .elf_size = b.len }, &t),
			 -ENOEXEC);
	buf_clear(&b);
	cfi_image(&b, NULL, 0, INT3);
	assert_int_equal(unwind_table_build(&(struct unwind_input){ .elf = b.data, .elf_size = b.len }, &t),
			 -ENODATA);
	buf_clear(&b);
	cfi_image(&b, fns, 1, INT3);
	b.data[CFI_IMAGE_TEXT + 0] = INT3;
	assert_int_equal(unwind_table_build(&(struct unwind_input){ .elf = b.data, .elf_size = b.len }, &t), 0);
	assert_int_equal(t.counts.outside, 0);
	unwind_table_free(&t);
	buf_free(&b);
}

static void many_rules(void **state)
{
	struct rules r;

	rules_init(&r);
	for (int i = 0; i < ER_RULE_MAX + 100; i++) {
		struct er_unwind_rule rule = { .cfa = ER_CFA_SP, .cfa_off = i };
		unsigned n = rules_number(&r, &rule);

		assert_true(n && n < ER_RULE_MAX);
		assert_true(!memcmp(&r.list.data[n], i < ER_RULE_MAX - 2 ? &rule : &bad, sizeof(bad)));
		assert_int_equal(rules_number(&r, &rule), n);
	}
	assert_int_equal(rules_number(&r, &(struct er_unwind_rule){ .cfa = ER_CFA_SP }), 1);
	rules_fini(&r);
}

/* The CPU time in ns to number MANY rules twice. Those with equal sums had one hash once. */
static uint64_t time_of_rules(uint64_t times)
{
	enum { MANY = 16000 };
	struct timespec begin, end;
	struct rules r;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	rules_init(&r);
	for (uint64_t i = 0; i < 2 * MANY; i++) {
		uint64_t a[2] = { 12345 ^ (i % MANY) * times, i % MANY };
		struct er_unwind_rule rule;

		memcpy(&rule, a, sizeof(rule));
		rules_number(&r, &rule);
	}
	assert_int_equal(r.list.len, MANY + 1);
	rules_fini(&r);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	return (end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec;
}

/* The least of several tries: a machine that others share may take CPU time from one of them. */
static uint64_t least_time_of_rules(uint64_t times)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 5; i++) {
		uint64_t t = time_of_rules(times);

		least = t < least ? t : least;
	}
	return least;
}

/* A file cannot choose rules that take long to find. */
static void no_rules_are_slow(void **state)
{
	uint64_t ordinary = least_time_of_rules(0), chosen = least_time_of_rules(0x9e3779b97f4a7c15ULL);

	assert_in_range(chosen, 1, 20 * ordinary);
}

static void paddings(void **state)
{
	static const struct { const char *bytes; size_t n; bool is; } cases[] = {
		{ "\x90", 1, true }, { "\xcc\xcc", 2, true }, { "\0\0\0", 3, true },
		{ "\x66\x90", 2, true }, { "\x0f\x1f\x00", 3, true }, { "\x0f\x1f\x40\x00", 4, true },
		{ "\x0f\x1f\x44\x00\x00\x90", 6, true }, { "\x66\x0f\x1f\x44\x00\x00", 6, true },
		{ "\x0f\x1f\x80\x11\x22\x33\x44", 7, true },
		{ "\x66\x66\x2e\x0f\x1f\x84\x00\x11\x22\x33\x44", 11, true },
		{ "\x66\x2e\x0f\x1f\x84\x00\x11\x22\x33", 9, false }, { "\x66", 1, false },
		{ "\xc3", 1, false }, { "\x90\xc3", 2, false }, { "\x0f\x05\x90", 3, false }, { "", 0, true },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(is_padding((const unsigned char *)cases[i].bytes, cases[i].n), cases[i].is);
}

/* --- this machine's files --- */

static void *map_file(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st)) {
		close(fd);
		return NULL;
	}
	p = mmap(NULL, *size = st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	return p == MAP_FAILED ? NULL : p;
}

/* Each row must equal libdw's. */
static void equals_libdw(void **state)
{
	static const char *const files[] = {
		"/proc/self/exe", "/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2",
		"/lib64/libc.so.6", "/bin/bash", "/usr/bin/python3", "/usr/bin/perl", "/usr/bin/openssl",
		"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
	};
	size_t rows = 0;

	for (size_t i = 0; i < COUNT(files); i++) {
		struct unwind_input in = { 0 };
		struct cfi_comparison c;
		struct unwind_table t;

		in.elf = map_file(files[i], &in.elf_size);
		if (!in.elf)
			continue;
		assert_int_equal(unwind_table_build(&in, &t), 0);
		assert_int_equal(cfi_compare(&in, &t, &c), 0);
		if (c.wrong)
			fail_msg("%s: %zu rows of %zu: %s", files[i], c.wrong, c.rows, c.first);
		rows += c.rows;
		unwind_table_free(&t);
		munmap((void *)in.elf, in.elf_size);
	}
	assert_true(rows > 10000);
	print_message("%zu rows\n", rows);
}

/* --- damage --- */

static void assert_whole(const struct unwind_table *t)
{
	const struct er_unwind_file *f = &t->file;
	const __u32 *index = t->words + f->index, *rows = t->words + f->rows;

	assert_int_equal(f->index, f->nrules * ER_RULE_WORDS);
	assert_int_equal(f->rows, f->index + f->blocks + 1);
	assert_int_equal(t->nwords, f->rows + f->nrows);
	assert_int_equal(index[0], 0);
	assert_int_equal(index[f->blocks], f->nrows);
	for (__u32 b = 0; b < f->blocks; b++) {
		assert_true(index[b] <= index[b + 1]);
		for (__u32 i = index[b]; i < index[b + 1]; i++) {
			assert_int_equal((rows[i] & 0xffff) / ER_BLOCK_BYTES,
					 (f->first / ER_BLOCK_BYTES + b) % (0x10000 / ER_BLOCK_BYTES));
			assert_true(i == index[b] || (rows[i - 1] & 0xffff) < (rows[i] & 0xffff));
			assert_true(rows[i] >> 16 < f->nrules);
		}
	}
}

static void damaged(void **state)
{
	static const char cfi[] = "\x41\x0e\x10\x86\x02\x43\x0d\x06\x0a\x45\x0c\x07\x08\x41\x0b"
				  "\x0f\x03\x76\x78\x06\x10\x06\x02\x76\x00\x44\x09\x10\x05";
	const struct cfi_image_fn fns[] = { CFI_FN(0x100, 0x200, cfi), CFI_FN(0, 0x80, "\x0e\x10"),
					    CFI_FN(0x300, 0x400, cfi) };
	struct random r = { 7 };
	struct buf whole = { 0 };
	size_t built = 0;

	cfi_image(&whole, fns, COUNT(fns), RET);
	for (int i = 0; i < COPIES; i++) {
		struct buf b = { 0 };
		struct unwind_table t;
		char *exact;

		buf_add(&b, whole.data, whole.len);
		mutate(&r, &b, &whole);
		exact = xmalloc(b.len + 1); /* a sanitizer then detects its end */
		memcpy(exact, b.data, b.len);
		if (!unwind_table_build(&(struct unwind_input){ exact, b.len, exact, b.len }, &t)) {
			assert_whole(&t);
			unwind_table_free(&t);
			built++;
		}
		free(exact);
		buf_free(&b);
	}
	assert_true(built > COPIES / 10);
	buf_free(&whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_form),   cmocka_unit_test(signal_frame),
		cmocka_unit_test(rows_in_blocks), cmocka_unit_test(gaps), cmocka_unit_test(gaps_up_to_alignment),
		cmocka_unit_test(overlaps), cmocka_unit_test(overlapped_rows),    cmocka_unit_test(outside),
		cmocka_unit_test(many_rules),  cmocka_unit_test(no_rules_are_slow), cmocka_unit_test(paddings),
		cmocka_unit_test(equals_libdw), cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
