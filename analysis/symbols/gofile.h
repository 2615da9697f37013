/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the table of functions in the ELF file of a Go program, and what belongs to it outside of it. */
#ifndef SYMBOLS_GOFILE_H
#define SYMBOLS_GOFILE_H

#include <gelf.h>

#include "analysis/symbols/gotable.h"

/*
 * Find the program's table, with everything that gotable.h says is set here. GO_NONE: it is not a Go
 * program, or its table is damaged. GO_UNKNOWN: the version of the table is not known. Valid until
 * elf_end.
 */
enum go_found gotable_find(Elf *elf, struct gotable *ret);
/* The version of Go that made the program ("go1.19.8"), for messages; the caller frees it. */
char *gotable_maker(Elf *elf);

#endif
