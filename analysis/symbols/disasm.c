/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/symbols/disasm.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <elf.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/symbols/opcodes.h"

enum { MNEMONIC_WIDTH = 6 }; /* as libopcodes pads x86 mnemonics */

static const struct {
	unsigned elf_machine;
	bool wide;
	enum bfd_architecture arch;
	unsigned long mach;
	const char *name;
	const char *debian; /* machine name in Debian's library and package names */
	const char *package;
} machines[] = {
	{ EM_X86_64, true, bfd_arch_i386, bfd_mach_x86_64, "x86-64", "amd64", "x86-64" },
	{ EM_X86_64, false, bfd_arch_i386, bfd_mach_x64_32, "x32", "amd64", "x86-64" },
	{ EM_386, false, bfd_arch_i386, bfd_mach_i386_i386, "i386", "i386", "i686" },
	{ EM_AARCH64, true, bfd_arch_aarch64, 0, "AArch64", "arm64", "aarch64" },
	{ EM_ARM, false, bfd_arch_arm, 0, "ARM", "armhf", "arm" },
	{ EM_RISCV, true, bfd_arch_riscv, 0, "RISC-V", "riscv64", "riscv64" },
	{ EM_PPC64, true, bfd_arch_powerpc, bfd_mach_ppc64, "POWER", "ppc64el", "powerpc64le" },
	{ EM_S390, true, bfd_arch_s390, bfd_mach_s390_64, "s390x", "s390x", "s390x" },
};

struct disasm {
	struct disassemble_info info;
	struct opcodes lib;
	disassembler_ftype decode;
	address_namer namer;
	void *ctx;
	struct buf *out;
};

static void vappend(struct buf *b, const char *fmt, va_list ap)
{
	__cleanup(freep) char *text = xvasprintf(fmt, ap);

	buf_puts(b, text);
}

static __attribute__((format(printf, 2, 3))) int append(void *stream, const char *fmt, ...)
{
	struct disasm *s = stream;
	va_list ap;

	va_start(ap, fmt);
	vappend(s->out, fmt, ap);
	va_end(ap);
	return 0;
}

static __attribute__((format(printf, 3, 4))) int
append_styled(void *stream, enum disassembler_style style, const char *fmt, ...)
{
	struct disasm *s = stream;
	va_list ap;

	va_start(ap, fmt);
	vappend(s->out, fmt, ap);
	va_end(ap);
	return 0;
}

static void put_address(bfd_vma addr, struct disassemble_info *info)
{
	struct disasm *s = info->stream;
	struct buf name = { 0 };

	buf_printf(s->out, "%llx", (unsigned long long)addr);
	if (s->namer(s->ctx, addr, &name))
		buf_printf(s->out, " <%s>", name.data);
	buf_free(&name);
}

/* Report nothing: the caller shows code that could not be read. */
static void ignore_memory_error(int status, bfd_vma addr, struct disassemble_info *info)
{
}

static int refuse(const struct machine *m, struct diag *d)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		if (machines[i].elf_machine == m->elf_machine && machines[i].wide == m->wide)
			return diag_error(
				d,
				"disassembly: no installed libopcodes of binutils %s decodes %s "
				"code: install binutils-%s-linux-gnu or binutils-multiarch",
				BINUTILS_VERSION, machines[i].name, machines[i].package);
	}
	return diag_error(d, "disassembly: code of ELF machine %u is not supported",
			  m->elf_machine);
}

struct disasm *disasm_new(const struct machine *m, address_namer namer, void *ctx, struct diag *d)
{
	struct disasm *s = xcalloc(1, sizeof(*s));

	for (size_t i = 0; !s->decode && i < sizeof(machines) / sizeof(machines[0]); i++) {
		if (machines[i].elf_machine != m->elf_machine || machines[i].wide != m->wide ||
		    !opcodes_for(machines[i].arch, m->big_endian, machines[i].mach,
				 machines[i].debian, &s->lib))
			continue;
		s->lib.init(&s->info, s, append, append_styled);
		s->info.arch = machines[i].arch;
		s->info.mach = machines[i].mach;
		s->info.endian = m->big_endian ? BFD_ENDIAN_BIG : BFD_ENDIAN_LITTLE;
		s->info.endian_code = s->info.endian;
		s->decode = s->lib.disassembler(s->info.arch, m->big_endian, s->info.mach, NULL);
	}
	if (!s->decode) {
		refuse(m, d);
		free(s);
		return NULL;
	}
	s->info.print_address_func = put_address;
	s->info.memory_error_func = ignore_memory_error;
	s->namer = namer;
	s->ctx = ctx;
	s->lib.init_target(&s->info);
	return s;
}

void disasm_free(struct disasm *s)
{
	if (!s)
		return;
	s->lib.free_target(&s->info);
	free(s);
}

static void trim(struct buf *b, size_t from)
{
	while (b->len > from && b->data[b->len - 1] == ' ')
		b->data[--b->len] = '\0';
}

/*
 * Replace tabs, which some machines' text has after the mnemonic (padded here) and
 * before comments.
 */
static void replace_tabs(struct buf *b, size_t from)
{
	__cleanup(freep) char *text = xstrdup(b->data + from);
	char *rest = text, *part = strsep(&rest, "\t");
	const char *gap = " ";

	if (!rest)
		return;
	b->len = from;
	buf_printf(b, "%-*s", MNEMONIC_WIDTH, part);
	for (; (part = strsep(&rest, "\t")); gap = "  ") {
		buf_printf(b, "%s%s", gap, part);
		trim(b, from);
	}
}

struct insn disasm_one(struct disasm *s, uint64_t addr, const unsigned char *p, size_t n,
		       struct buf *text)
{
	struct insn insn = { 0 };
	size_t start = text->len;
	int size;

	s->out = text;
	s->info.buffer = (bfd_byte *)p;
	s->info.buffer_vma = addr;
	s->info.buffer_length = n;
	s->info.insn_info_valid = 0;
	size = s->decode(addr, &s->info);
	if (size <= 0 || (size_t)size > n) {
		text->len = start;
		buf_printf(text, ".byte 0x%02x", p[0]);
		return (struct insn){ .size = 1, .bad = true };
	}
	replace_tabs(text, start);
	trim(text, start);
	insn.size = size;
	insn.bad = strstr(text->data + start, "(bad)") ||
		   !strncmp(text->data + start, ".byte", 5) ||
		   !strncmp(text->data + start, ".inst", 5);
	return insn;
}
