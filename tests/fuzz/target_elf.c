/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An ELF file: its symbols, its DWARF, its code, and the symbol file written from it. */
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/base/diag.h"
#include "analysis/symbols/code.h"
#include "analysis/symbols/lineinfo.h"
#include "analysis/symbols/symfile.h"
#include "analysis/symbols/symtab.h"
#include "tests/fuzz/report.h"

enum { PROBES = 64, INLINED = 16 };

static volatile uint64_t sink;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	report_quietly();
	return 0;
}

static void probe_symbols(int fd, const struct symtab_opts *o, struct diag *d, uint64_t *first)
{
	struct symtab *t = symtab_open(fd, o, d);
	const struct sym *syms;
	size_t n;

	if (!t)
		return;
	syms = symtab_syms(t, &n);
	*first = n ? syms[0].addr : 0;
	for (uint64_t i = 0; i < PROBES; i++) {
		uint64_t at = symtab_vaddr(t, i * 0x100), start, end;
		bool known;

		sink += symtab_find(t, *first + i) != NULL;
		sink += symtab_gap(t, at, &start, &end, &known);
	}
	symtab_free(t);
}

static void probe_lines(int fd, const struct symtab_opts *o, struct diag *d, uint64_t first)
{
	struct lineinfo *l = lineinfo_open(fd, o, d);
	struct inlined calls[INLINED];
	struct line_at at;
	size_t n;

	if (!l)
		return;
	for (uint64_t i = 0; i < PROBES; i++) {
		sink += lineinfo_find(l, first + i * 3, &at);
		sink += lineinfo_inlined(l, first + i * 3, calls, INLINED);
	}
	lineinfo_rows(l, first, first + 0x1000, &n);
	lineinfo_read_all(l);
	for (size_t i = 0; i < lineinfo_nfiles(l); i++)
		sink += lineinfo_path(l, i)[0];
	lineinfo_free(l);
}

static void probe_code(int fd, uint64_t first)
{
	struct code *c = code_open(fd);
	char bytes[64];

	if (!c)
		return;
	sink += code_read(c, first, bytes, sizeof(bytes));
	code_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct symtab_opts o = { .debug_root = "", .path = "/no/such/file" };
	int fd = memfd_create("fuzz", MFD_CLOEXEC), out = memfd_create("out", MFD_CLOEXEC);
	struct diag d = { 0 };
	uint64_t first = 0;

	if (fd < 0 || out < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	probe_symbols(fd, &o, &d, &first);
	probe_lines(fd, &o, &d, first);
	probe_code(fd, first);
	symfile_write(fd, out, &o, &d);
	diag_free(&d);
	close(fd);
	close(out);
	return 0;
}
