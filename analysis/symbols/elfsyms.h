/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of an ELF file concerns functions, as it stands in the file: executable
 * regions, load segments, raw symbols. symtab.c makes the table of it. Nothing
 * here trusts a count, an offset or a string of the file.
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
 * An untyped symbol may be a function of hand-written assembler, and counts for less.
 * What is defined elsewhere has an address only so that what refers to it has one
 * (relocate.h); it is no function of this file.
 */
enum rawsym_flags { RAW_GLOBAL = 1, RAW_UNTYPED = 2, RAW_ELSEWHERE = 4 };

struct rawsym {
	uint64_t addr, size;
	const char *name; /* in the arena given to elfsyms_add */
	unsigned flags;
};

typedef VEC(struct rawsym) rawsyms;

/*
 * A linked file (executable, shared object, debug file) with a believable
 * number of sections; the work below is bounded for these only.
 */
bool elf_is_linked(Elf *elf);
/* Of one: the file ends before its sections, as half a copy does. */
bool elf_is_cut(Elf *elf);
/* Executable regions, sorted and apart from each other; of sections, or else of segments. */
void elf_get_regions(Elf *elf, elf_regions *ret);
void elf_get_segments(Elf *elf, elf_segments *ret);
const struct elf_region *elf_find_region(const elf_regions *r, uint64_t vaddr);

/*
 * Append the function symbols that lie in the regions from all symbol tables of
 * one type (SHT_SYMTAB, SHT_DYNSYM). Returns how many; *nbad counts those that
 * were left out because their table or their name is damaged.
 */
size_t elfsyms_add(Elf *elf, unsigned type, const elf_regions *regions, struct arena *a,
		   rawsyms *ret, size_t *nbad);

/* The section of this name, NULL if there is none. */
Elf_Scn *elf_section(Elf *elf, const char *name);
/* Hexadecimal build id, malloc'ed; NULL none. */
char *elf_build_id(Elf *elf);
/* The same of an open file; NULL also for what is no ELF file. */
char *elf_file_build_id(int fd);
/* Whether the file begins as ELF files do. */
bool elf_file(int fd);

#endif
