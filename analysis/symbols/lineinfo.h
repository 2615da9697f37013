/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source lines and inlined calls of one object, from its DWARF 2 to 5. libdw
 * parses, each compile unit once, when the first address of it is asked for;
 * questions are answered from sorted arrays of our own (inline.h). The DWARF is
 * in the file itself or in its debug file, by build id or debuglink, strings and
 * abstract functions in a dwz file beside that; sections may be compressed.
 *
 * Addresses are those of the file (p_vaddr). Nothing of the file is trusted: work
 * and memory are bounded by its size.
 */
#ifndef SYMBOLS_LINEINFO_H
#define SYMBOLS_LINEINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diag;
struct symtab_opts;

struct lineinfo;

enum { LINE_FILE_NONE = UINT32_MAX };

/* The source line of the instructions in [start, end). */
struct line_at {
	uint32_t line, file;
	uint64_t start, end;
};

/* One row of a line table. line 0: instructions that belong to no line, or none at all. */
struct line_row {
	uint64_t addr;
	uint32_t line, file;
};

/* A call that was inlined: what was called, and the place of the call. */
struct inlined {
	const char *name;   /* as in the source; NULL unknown */
	const char *symbol; /* its name for linkers, mangled; NULL: the same */
	uint32_t declared;  /* the file that it is declared in */
	uint32_t file, line;
};

/*
 * Read the ELF file open at fd (stays the caller's). NULL when there is no DWARF
 * for it; a warning says what was found but cannot be used. Symbols may lie there
 * and DWARF be missing: that is no error and not reported.
 */
struct lineinfo *lineinfo_open(int fd, const struct symtab_opts *o, struct diag *d);
void lineinfo_free(struct lineinfo *l);

/*
 * The line of an address, as its line table has it: within an inlined function
 * that is a line of this one. False when no line is known. Where rows have the
 * same address the last one counts, rows with line 0 continue what is before them;
 * both is how gprofng reads a table.
 */
bool lineinfo_find(struct lineinfo *l, uint64_t vaddr, struct line_at *ret);
/*
 * The calls inlined around an address, the outermost first: the first one's place
 * is a line of the function that the address belongs to. How many there are; at
 * most `max` are stored. At most 12 µs once the unit is read.
 */
size_t lineinfo_inlined(struct lineinfo *l, uint64_t vaddr, struct inlined *ret, size_t max);
/* The rows of [from, to), by address, of the unit of `from`; valid until lineinfo_free. */
const struct line_row *lineinfo_rows(struct lineinfo *l, uint64_t from, uint64_t to, size_t *n);
/* The path of a file, absolute if the compiler was known to run somewhere; "" for no such file. */
const char *lineinfo_path(const struct lineinfo *l, uint32_t file);
/* How many files are known: those of the units that were read. */
size_t lineinfo_nfiles(const struct lineinfo *l);
/* The main source file of the unit that an address belongs to; reads no more than its name. */
uint32_t lineinfo_unit_file(struct lineinfo *l, uint64_t vaddr);
/* A number for the unit of an address; LINE_FILE_NONE: in none. Reads nothing. */
uint32_t lineinfo_unit(const struct lineinfo *l, uint64_t vaddr);
/* Which compiler made the unit, with its options if it says them; NULL unknown. */
const char *lineinfo_producer(struct lineinfo *l, uint64_t vaddr);
/* Read all units now, for all questions at the cost of the first. */
void lineinfo_read_all(struct lineinfo *l);

#endif
