/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes symbol files. A symbol file is an ELF file with the headers, sections and
 * addresses of another one, but without code and data (SHT_NOBITS). Its .symtab has all
 * functions from the original's symbols, its .gnu_debugdata and its separate debug
 * file; functions without a symbol keep their bounds (framestarts.h). So it gives the
 * same function names on a machine that has none of these files. Variables of the original's
 * .symtab that are written have their names, too: a lock is such a variable. er_print and
 * gprofng 2.40 accept it in place of the original. It cannot be disassembled.
 */
#ifndef SYMBOLS_SYMFILE_H
#define SYMBOLS_SYMFILE_H

struct diag;
struct symtab_opts;

/*
 * Write the symbol file of the ELF file open at `in` to `out`, an empty file; the
 * caller closes both. 0 or -errno after reporting; -ENOEXEC if symtab_open refuses the
 * file.
 */
int symfile_write(int in, int out, const struct symtab_opts *o, struct diag *d);

#endif
