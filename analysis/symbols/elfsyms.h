/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of an ELF file that concern functions, unprocessed: executable regions,
 * load segments and raw symbols. symtab.c builds its table from these. No count, offset
 * or string of the file is trusted.
 */
#ifndef SYMBOLS_ELFSYMS_H
#define SYMBOLS_ELFSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gelf.h>

#include "analysis/base/alloc.h"
#include "analysis/base/vec.h"

struct elf_region {
	uint64_t start, end; /* virtual addresses */
};

struct elf_segment {
	uint64_t vaddr, offset, filesz;
	bool exec;
};

typedef VEC(struct elf_region) elf_regions;
typedef VEC(struct elf_segment) elf_segments;

/*
 * RAW_UNTYPED: perhaps a function written in assembler; typed symbols take precedence.
 * RAW_ELSEWHERE: defined in another file. It has an address only so that references to
 * it have a target (relocate.h); it is not a function of this file.
 */
enum rawsym_flags { RAW_GLOBAL = 1, RAW_UNTYPED = 2, RAW_ELSEWHERE = 4 };

struct rawsym {
	uint64_t addr, size;
	const char *name; /* in the arena passed to elfsyms_add */
	unsigned flags;
};

typedef VEC(struct rawsym) rawsyms;

/*
 * Whether this is a linked file (executable, shared object, debug file) with a
 * plausible number of sections. The work of the functions below is bounded only for
 * such files.
 */
bool elf_is_linked(Elf *elf);
/* Whether a linked file ends before its sections do, like an incomplete copy. */
bool elf_is_cut(Elf *elf);
/* The executable regions, sorted and disjoint: sections, or segments if there are no sections. */
void elf_get_regions(Elf *elf, elf_regions *ret);
void elf_get_segments(Elf *elf, elf_segments *ret);
const struct elf_region *elf_find_region(const elf_regions *r, uint64_t vaddr);

/*
 * Append the function symbols that lie in the regions, from the symbol table of one
 * type (SHT_SYMTAB or SHT_DYNSYM). Returns how many. Adds to *nbad those skipped
 * because their table or name is damaged.
 */
size_t elfsyms_add(Elf *elf, unsigned type, const elf_regions *regions, struct arena *a,
		   rawsyms *ret, size_t *nbad);

/* The section with this name; NULL if there is none. */
Elf_Scn *elf_section(Elf *elf, const char *name);
/* The build id in hexadecimal; the caller frees it. NULL: none. */
char *elf_build_id(Elf *elf);
/* The same for an open file; NULL also if it is not an ELF file. */
char *elf_file_build_id(int fd);
/* Whether the file begins with the ELF magic number. */
bool elf_file(int fd);

#endif
