/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What lineinfo.c (files, units, questions) and dwarf_unit.c (reading one unit) share. */
#ifndef SYMBOLS_LINEINFO_IMPL_H
#define SYMBOLS_LINEINFO_IMPL_H

#include <elfutils/libdw.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "analysis/symbols/inline.h"
#include "analysis/symbols/lineinfo.h"

struct unit {
	Dwarf_Off die; /* of the compile unit, in .debug_info */
	bool read, named;
	uint32_t file;		   /* its main source */
	const char *producer;	   /* NULL unknown */
	VEC(struct line_row) rows; /* by address; those of one address as in the table */
	struct inline_index calls;
};

/* Code of a unit. */
struct unit_range {
	uint64_t lo, hi;
	uint32_t unit;
};

struct lineinfo {
	Elf *elf, *alt_elf;
	Dwarf *dwarf, *alt;
	int fd, alt_fd; /* ours; -1 none */
	size_t budget; /* how many more ranges are believed */
	VEC(struct unit) units;
	VEC(struct unit_range) ranges; /* by lo */
	struct strtab paths;	       /* by file */
	struct map callees;	       /* abstract functions, by the place of their entry */
	struct arena arena;	       /* struct inline_callee */
	struct diag *diag;
	bool split_told;
	char *source;
};

/* dwarf_unit.c */

/* The ranges of code that the unit's own entry names; false when it names none. */
bool unit_add_ranges(struct lineinfo *l, uint32_t unit);
/* Its main source and its compiler, from its own entry. */
void unit_name(struct lineinfo *l, struct unit *u);
/* Lines and inlined calls of a unit. */
void unit_read(struct lineinfo *l, struct unit *u);

/* lineinfo.c */

/* The number of a path. */
uint32_t lineinfo_file(struct lineinfo *l, const char *dir, const char *path);

#endif
