/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of a stripped Go program. Its runtime keeps a table of them, which strip
 * leaves there: .gopclntab, in position-independent programs a part of .data.rel.ro.
 * The form of Go 1.18 and later is read, of 64-bit little-endian machines
 * (debug/gosym/pclntab.go describes it).
 */
#ifndef SYMBOLS_GOSYMS_H
#define SYMBOLS_GOSYMS_H

#include "analysis/symbols/elfsyms.h"

/* Append the functions that lie in the regions. How many; 0: this is no such program. */
size_t gosyms_add(Elf *elf, const elf_regions *regions, struct arena *a, rawsyms *ret);

#endif
