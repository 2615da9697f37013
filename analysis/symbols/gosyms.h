/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of a stripped Go program. Go's runtime has a table of them that strip
 * leaves in place: .gopclntab, or a part of .data.rel.ro in position-independent
 * programs. Reads the form of Go 1.18 and later on 64-bit little-endian machines
 * (debug/gosym/pclntab.go describes it).
 */
#ifndef SYMBOLS_GOSYMS_H
#define SYMBOLS_GOSYMS_H

#include "analysis/symbols/elfsyms.h"

/* Append the functions that lie in the regions. Returns how many; 0: not a Go program. */
size_t gosyms_add(Elf *elf, const elf_regions *regions, struct arena *a, rawsyms *ret);

#endif
