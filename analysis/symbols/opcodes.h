/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libopcodes. Our own copy knows the machine that er_print was built for. For other
 * machines Debian's shared libraries are loaded: libopcodes-VERSION-MACHINE.so
 * (packages like binutils-aarch64-linux-gnu) or libopcodes-VERSION-multiarch.so
 * (binutils-multiarch). The interface changes with each version, so only the version
 * that we were built with is used.
 */
#ifndef SYMBOLS_OPCODES_H
#define SYMBOLS_OPCODES_H

#include <stdbool.h>

/* bfd.h refuses to be included unless PACKAGE is defined, as in binutils' own programs. */
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
 * Find a library that decodes this architecture; `debian` is the MACHINE in Debian's
 * library name. False: none is installed. The library stays loaded.
 */
bool opcodes_for(enum bfd_architecture arch, bool big, unsigned long mach, const char *debian,
		 struct opcodes *ret);

#endif
