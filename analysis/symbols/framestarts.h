/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where functions begin and end, for code that no symbol names: the ranges of a file's
 * call frame information, which strip leaves there. A part that a compiler split off
 * a function has a range of its own.
 */
#ifndef SYMBOLS_FRAMESTARTS_H
#define SYMBOLS_FRAMESTARTS_H

#include "analysis/symbols/elfsyms.h"

struct buf;

/*
 * Append the ranges of .eh_frame and .debug_frame that begin in the regions, sorted and
 * apart from each other. Without section headers they are found by the program header of
 * .eh_frame_hdr. In a symbol file, whose .eh_frame has no content, they are read from the
 * section that framestarts_pack made.
 */
void framestarts_read(Elf *elf, const elf_regions *regions, elf_regions *ret);
/* Append n sorted ranges in a form of their own, 2 to 4 bytes each, for FRAMESTARTS_SECTION. */
void framestarts_pack(const struct elf_region *ranges, size_t n, struct buf *b);

#define FRAMESTARTS_SECTION ".er_functions"

#endif
