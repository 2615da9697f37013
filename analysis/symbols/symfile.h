/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A symbol file: an ELF file with the headers, sections and addresses of
 * another one, its code and data left out (SHT_NOBITS), and a .symtab of all
 * functions that its symbols, its .gnu_debugdata or its separate debug file
 * have; functions without a symbol keep their place (framestarts.h). It names
 * the same addresses on a machine that has none of these; our reader and
 * gprofng 2.40 take it for the original. Disassembly it cannot give.
 */
#ifndef SYMBOLS_SYMFILE_H
#define SYMBOLS_SYMFILE_H

struct diag;
struct symtab_opts;

/*
 * Write the symbol file of the ELF file open at `in` to `out`, an empty file;
 * both stay the caller's. 0, or -errno after reporting: -ENOEXEC for what
 * symtab_open refuses.
 */
int symfile_write(int in, int out, const struct symtab_opts *o, struct diag *d);

#endif
