/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of the procedure linkage table. No symbol table has them, but calls to
 * other objects spend time there. On x86-64 and AArch64 the jump in an entry gives its
 * slot, and the slot's relocation gives the name; the order of entries is not relied
 * on.
 */
#ifndef SYMBOLS_PLT_H
#define SYMBOLS_PLT_H

#include "analysis/symbols/elfsyms.h"

/* Append a symbol "NAME@plt" for each entry whose name is certain. */
void plt_add(Elf *elf, struct arena *a, rawsyms *ret);
/*
 * Append a symbol "NAME@got" for each slot with the address of another object's
 * function: `call *slot(%rip)` calls that function without a PLT entry.
 */
void plt_add_slots(Elf *elf, struct arena *a, rawsyms *ret);

#endif
