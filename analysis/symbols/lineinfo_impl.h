/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by lineinfo.c (files, units, lookups), dwarf_unit.c and go_unit.c (reading one unit). */
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
	Dwarf_Off die; /* of the compile unit's entry, in .debug_info */
	uint32_t first, n; /* of a Go program: its functions in the list that go_unit.c keeps */
	bool read, named;
	uint32_t file;		   /* its main source file */
	const char *producer;	   /* NULL: unknown */
	VEC(struct line_row) rows; /* by address; rows of one address in table order */
	struct inline_index calls;
};

/* Code that belongs to a unit. */
struct unit_range {
	uint64_t lo, hi;
	uint32_t unit;
};

struct lineinfo {
	Elf *elf, *alt_elf;
	Dwarf *dwarf, *alt;
	struct go_lines *go; /* of a Go program without DWARF; otherwise NULL */
	int fd, alt_fd; /* we close them; -1: none */
	size_t budget; /* limit for further ranges */
	VEC(struct unit) units;
	VEC(struct unit_range) ranges; /* by lo */
	struct strtab paths;	       /* file number to path */
	struct map callees;	       /* offset of an abstract function's entry, to its callee */
	struct arena arena;	       /* struct inline_callee */
	struct diag *diag;
	bool split_told;
	char *source;
};

/* dwarf_unit.c */

/* Add the code ranges named by the unit's own entry. False: it names none. */
bool unit_add_ranges(struct lineinfo *l, uint32_t unit);
/* Set a unit's main source file and compiler from its own entry. */
void unit_name(struct lineinfo *l, struct unit *u);
/* Read the lines and inlined calls of a unit. */
void unit_read(struct lineinfo *l, struct unit *u);

/* go_unit.c */

/*
 * Find the table of a Go program in l->elf, and list its packages as units. False: there is none. A
 * version that is not known is reported. golines_free frees l->go.
 */
bool golines_open(struct lineinfo *l);
void golines_free(struct go_lines *g);
/* Read the lines and inlined calls of a package. */
void golines_read(struct lineinfo *l, struct unit *u);

/* lineinfo.c */

/* The number of a path, which is added if new. */
uint32_t lineinfo_file(struct lineinfo *l, const char *dir, const char *path);

#endif
