/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of a stripped Go program, from its own table (gotable.h). */
#ifndef SYMBOLS_GOSYMS_H
#define SYMBOLS_GOSYMS_H

#include "analysis/symbols/elfsyms.h"

struct diag;

/*
 * Append the functions that lie in the regions. Returns how many; 0: not a Go program, or one of a
 * version that is not known, which is reported.
 */
size_t gosyms_add(Elf *elf, const elf_regions *regions, struct arena *a, rawsyms *ret, struct diag *d);

#endif
