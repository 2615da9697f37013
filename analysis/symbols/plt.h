/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of the procedure linkage table: no symbol table has them, yet calls
 * into other objects spend time there. On x86-64 and AArch64 an entry shows by its
 * jump which slot it goes through, and the slot's relocation shows the name:
 * nothing is concluded from an order of entries.
 */
#ifndef SYMBOLS_PLT_H
#define SYMBOLS_PLT_H

#include "analysis/symbols/elfsyms.h"

/* Append a symbol "NAME@plt" for each entry that is certain. */
void plt_add(Elf *elf, struct arena *a, rawsyms *ret);
/*
 * Append a symbol "NAME@got" for each slot that holds the address of a function of
 * another object: `call *slot(%rip)` calls that function without an entry.
 */
void plt_add_slots(Elf *elf, struct arena *a, rawsyms *ret);

#endif
