/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call frame information in a sample of this machine's files. Our parser must agree with libdw and
 * with the table that the linker made. EHFRAME_ALL=1 takes every file instead of a sample.
 */
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <fts.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <gelf.h>

#include "analysis/base/alloc.h"
#include "analysis/symbols/ehframe.h"
#include "analysis/symbols/elfsyms.h"

struct totals {
	size_t nfiles, nfdes, nrows;
};

static bool section_data(Elf *elf, const char *name, struct ehframe_section *ret)
{
	Elf_Scn *scn = elf_section(elf, name);
	GElf_Shdr sh;
	Elf_Data *d = scn && gelf_getshdr(scn, &sh) && sh.sh_type != SHT_NOBITS
			      ? elf_getdata(scn, NULL)
			      : NULL;

	if (!d || !d->d_buf)
		return false;
	*ret = (struct ehframe_section){ .data = d->d_buf,
					 .size = d->d_size,
					 .addr = sh.sh_addr,
					 .addr_size = gelf_getclass(elf) == ELFCLASS32 ? 4 : 8,
					 .swap = elf_getident(elf, NULL)[EI_DATA] != ELFDATA2LSB,
					 .debug_frame = !strncmp(name, ".debug", 6) };
	return true;
}

/* Compare the CIE at the offset with ours. */
static void check_cie(const char *ident, Elf_Data *data, bool eh, const struct ehframe_cie *cie)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	assert_int_equal(
		dwarf_next_cfi((const unsigned char *)ident, data, eh, cie->offset, &next, &entry),
		0);
	assert_true(dwarf_cfi_cie_p(&entry));
	assert_ptr_equal(entry.cie.initial_instructions, cie->instructions.p);
	assert_int_equal(entry.cie.initial_instructions_end - entry.cie.initial_instructions,
			 cie->instructions.size);
	assert_int_equal(entry.cie.code_alignment_factor, cie->code_align);
	assert_int_equal(entry.cie.data_alignment_factor, cie->data_align);
	assert_int_equal(entry.cie.return_address_register, cie->return_reg);
	assert_int_equal(!!strchr(entry.cie.augmentation, 'S'), cie->signal_frame);
	assert_int_equal(!!strchr(entry.cie.augmentation, 'P'), cie->personality);
	assert_int_equal(entry.cie.augmentation[0] == 'z', cie->sized);
}

/* Compare each FDE that libdw finds; our parser skips empty ones. */
static size_t check_section(Elf *elf, const struct ehframe_section *s)
{
	const char *ident = elf_getident(elf, NULL);
	Elf_Data data = { .d_buf = (void *)s->data,
			  .d_size = s->size,
			  .d_type = ELF_T_BYTE,
			  .d_version = EV_CURRENT };
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;
	struct ehframe_fde f;
	struct ehframe e;
	size_t n = 0, cie = SIZE_MAX;
	bool has;

	ehframe_begin(&e, s);
	has = ehframe_next(&e, &f);
	for (Dwarf_Off at = 0; !dwarf_next_cfi((const unsigned char *)ident, &data, !s->debug_frame,
					       at, &next, &entry);
	     at = next) {
		if (!has || at != f.offset || dwarf_cfi_cie_p(&entry))
			continue;
		assert_int_equal(entry.fde.CIE_pointer, f.cie->offset);
		assert_ptr_equal(entry.fde.end, f.instructions.p + f.instructions.size);
		assert_true(entry.fde.start < f.instructions.p);
		if (cie != f.cie->offset)
			check_cie(ident, &data, !s->debug_frame, f.cie);
		cie = f.cie->offset;
		n++;
		has = ehframe_next(&e, &f);
	}
	assert_false(has);
	assert_int_equal(e.nbad, 0);
	assert_false(e.cut);
	return n;
}

/* The linker's table has the start of each FDE. */
static size_t check_table(const struct ehframe_section *frame, const struct ehframe_section *hdr)
{
	struct ehframe_hdr h;
	struct ehframe_fde f;
	struct ehframe e;
	uint64_t pc, fde;

	assert_true(ehframe_hdr_read(hdr, &h));
	assert_int_equal(h.eh_frame, frame->addr);
	ehframe_begin(&e, frame);
	for (size_t i = 0; i < h.nfdes; i++) {
		ehframe_hdr_row(hdr, &h, i, &pc, &fde);
		if (!ehframe_at(&e, fde - frame->addr, &f))
			continue; /* of nothing */
		assert_int_equal(f.offset, fde - frame->addr);
		assert_int_equal(f.pc_begin, pc);
	}
	return h.nfdes;
}

static void check_file(const char *path, struct totals *run)
{
	__cleanup(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
	struct ehframe_section frame, hdr, debug;

	if (elf && elf_is_linked(elf)) {
		bool has = section_data(elf, ".eh_frame", &frame);

		run->nfiles++;
		if (has)
			run->nfdes += check_section(elf, &frame);
		if (has && section_data(elf, ".eh_frame_hdr", &hdr))
			run->nrows += check_table(&frame, &hdr);
		if (section_data(elf, ".debug_frame", &debug))
			run->nfdes += check_section(elf, &debug);
	}
	elf_end(elf);
}

static void test_machine(void **state)
{
	char bin[] = "/usr/bin", lib[] = "/usr/lib", *const roots[] = { bin, lib, NULL };
	const char *all = getenv("EHFRAME_ALL");
	unsigned turn = 0, each = all ? 1 : 41;
	struct totals run = { 0 };
	FTSENT *entry;
	FTS *fts;

	elf_version(EV_CURRENT);
	fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	assert_non_null(fts);
	while ((entry = fts_read(fts))) {
		if (entry->fts_info == FTS_F && ++turn % each == 0)
			check_file(entry->fts_accpath, &run);
	}
	fts_close(fts);
	check_file("/proc/self/exe", &run);
	printf("%zu files, %zu FDEs, %zu rows of linkers' tables\n", run.nfiles, run.nfdes,
	       run.nrows);
	assert_true(run.nfdes && run.nrows);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_machine) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
