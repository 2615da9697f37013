/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source lines and inlined calls of one object, from its DWARF 2 to 5. libdw parses
 * each compile unit once, when the first of its addresses is looked up; lookups then
 * use our own sorted arrays (inline.h). The DWARF is in the file itself or in its debug
 * file, found by build id or debuglink. Strings and abstract functions may be in a dwz
 * file; sections may be compressed. A Go program without DWARF has its own table of lines and inlined
 * calls (gotable.h); its units are packages.
 *
 * Addresses are the file's own (p_vaddr). Nothing in the file is trusted: work and
 * memory are bounded by its size.
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

/* The source line of the code in [start, end). */
struct line_at {
	uint32_t line, file;
	uint64_t start, end;
};

/* A row of a line table. line 0: the code has no line, or there is no code. */
struct line_row {
	uint64_t addr;
	uint32_t line, file;
};

/* An inlined call: the function that was inlined, and the line of the call. */
struct inlined {
	const char *name;   /* as in the source; NULL: unknown */
	const char *symbol; /* linker name, mangled; NULL: the same */
	uint32_t declared;  /* file of its declaration */
	uint32_t file, line;
};

/*
 * Read the ELF file open at fd, which the caller closes. NULL if it has no lines. This
 * is not an error and not reported; but a warning names DWARF that was found and cannot
 * be used. Free with lineinfo_free.
 */
struct lineinfo *lineinfo_open(int fd, const struct symtab_opts *o, struct diag *d);
void lineinfo_free(struct lineinfo *l);

/*
 * The line of an address by the line table; for inlined code, a line of the inlined
 * function. False: unknown. If rows have the same address the last one is used, and
 * rows with line 0 continue the previous row; gprofng reads tables the same way.
 */
bool lineinfo_find(struct lineinfo *l, uint64_t vaddr, struct line_at *ret);
/*
 * The calls inlined at an address, outermost first; the first one's call line is in the
 * function that has the address. Returns how many there are; stores at most `max`. At
 * most 12 µs after the unit was read.
 */
size_t lineinfo_inlined(struct lineinfo *l, uint64_t vaddr, struct inlined *ret, size_t max);
/* The rows in [from, to), by address, of the unit of `from`. Valid until lineinfo_free. */
const struct line_row *lineinfo_rows(struct lineinfo *l, uint64_t from, uint64_t to, size_t *n);
/*
 * The path of a file: absolute if the compiler's directory is known; "" if there is no
 * such file.
 */
const char *lineinfo_path(const struct lineinfo *l, uint32_t file);
/* The number of known files: those of the units read so far. */
size_t lineinfo_nfiles(const struct lineinfo *l);
/*
 * The main source file of an address's unit, or of a Go function. Of DWARF, reads only the unit's own
 * entry.
 */
uint32_t lineinfo_unit_file(struct lineinfo *l, uint64_t vaddr);
/* A number that identifies an address's unit; LINE_FILE_NONE: no unit. Reads nothing. */
uint32_t lineinfo_unit(const struct lineinfo *l, uint64_t vaddr);
/* The compiler of an address's unit, with its options if recorded; NULL: unknown. */
const char *lineinfo_producer(struct lineinfo *l, uint64_t vaddr);
/* Read all units now. After this every lookup is as cheap as one in a unit read before. */
void lineinfo_read_all(struct lineinfo *l);

#endif
