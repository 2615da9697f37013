/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libopcodes: our own copy of it, which knows the machine that we were built for, and
 * the shared ones that Debian has for others, libopcodes-VERSION-MACHINE.so (of
 * binutils-aarch64-linux-gnu and its like) and libopcodes-VERSION-multiarch.so (of
 * binutils-multiarch). Its interface changes with each version, so only those of the
 * same version are used.
 */
#ifndef SYMBOLS_OPCODES_H
#define SYMBOLS_OPCODES_H

#include <stdbool.h>

/* bfd.h wants to be included by a program that was configured as binutils are. */
#define PACKAGE		"er_print"
#define PACKAGE_VERSION ER_VERSION
#include <dis-asm.h>

struct opcodes {
	void (*init)(struct disassemble_info *info, void *stream, fprintf_ftype plain,
		     fprintf_styled_ftype styled);
	disassembler_ftype (*disassembler)(enum bfd_architecture arch, bool big,
					   unsigned long mach, bfd *abfd);
	void (*init_target)(struct disassemble_info *info);
	void (*free_target)(struct disassemble_info *info);
};

/*
 * A library that decodes this architecture, whose name in Debian is `debian`; false:
 * none is here. It stays loaded.
 */
bool opcodes_for(enum bfd_architecture arch, bool big, unsigned long mach, const char *debian,
		 struct opcodes *ret);

#endif
