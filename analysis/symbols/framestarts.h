/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bounds of functions without symbols, from a file's call frame information, which
 * strip leaves in place. A part that the compiler split off a function has bounds of
 * its own.
 */
#ifndef SYMBOLS_FRAMESTARTS_H
#define SYMBOLS_FRAMESTARTS_H

#include "analysis/symbols/elfsyms.h"

struct buf;

/*
 * Append the ranges of .eh_frame and .debug_frame that begin in the regions, sorted and
 * disjoint. Without section headers they are found through the program header of
 * .eh_frame_hdr. In a symbol file .eh_frame is empty; there they are read from the
 * section made by framestarts_pack.
 */
void framestarts_read(Elf *elf, const elf_regions *regions, elf_regions *ret);
/* Append n sorted ranges in a compact form, 2 to 4 bytes each, for FRAMESTARTS_SECTION. */
void framestarts_pack(const struct elf_region *ranges, size_t n, struct buf *b);

#define FRAMESTARTS_SECTION ".er_functions"

#endif
