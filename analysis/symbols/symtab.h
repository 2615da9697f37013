/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of one ELF file. They are merged from .symtab, .dynsym, .gnu_debugdata,
 * Go's own table, and the separate debug file (found by build id or debuglink, or
 * fetched from a server) into one sorted array, built once. Of several names at one
 * address one is kept, as gprofng shows it: global before local, then the
 * alphabetically last. No name is guessed: the model calls an address without a symbol
 * <static>@0x…. Call frame information divides such code into functions
 * (framestarts.h).
 *
 * Addresses are the file's own (p_vaddr); symtab_vaddr converts file offsets.
 */
#ifndef SYMBOLS_SYMTAB_H
#define SYMBOLS_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diag;
struct elf_region;

struct sym {
	uint64_t addr, size;
	const char *name;    /* as in the file, mangled */
	const char *aliases; /* other names of the address, separated by blanks; NULL: none */
	bool global;
	bool elsewhere; /* defined in another file: not a function of this one */
};

struct symtab;

struct symtab_opts {
	const char *debug_root; /* NULL: "/usr/lib/debug"; "": use no debug files */
	const char *path;	/* where the file was, for its debuglink; may be NULL */
	int (*open)(const char *path); /* opens debug files; NULL: file_open_regular */
	/*
	 * Asked for a debug file if many functions have no name, or if there is no DWARF:
	 * debuginfod_open, or NULL. A pointer, so that the recorder does not contain code that
	 * loads a library.
	 */
	int (*ask)(const char *build_id, struct diag *d);
};

/*
 * Read the ELF file open at fd, which the caller closes. NULL after reporting if it is
 * not a linked ELF file. A file without symbols is no error. Free with symtab_free.
 */
struct symtab *symtab_open(int fd, const struct symtab_opts *o, struct diag *d);
void symtab_free(struct symtab *t);

/* The function that covers the address; NULL: none. At most 2 µs for a 10 MB file. */
const struct sym *symtab_find(const struct symtab *t, uint64_t vaddr);
/* All functions, sorted by address, including those defined in other files. */
const struct sym *symtab_syms(const struct symtab *t, size_t *n);
/* The address of the byte at a file offset; (uint64_t)-1 if it is not mapped. */
uint64_t symtab_vaddr(const struct symtab *t, uint64_t offset);
/*
 * The bounds [*start, *end) of the code around an address without a symbol, for
 * <static>@. *known: they are a function's, from call frame information; otherwise the
 * code extends to its neighbours. False: the address has a symbol, or is not code.
 */
bool symtab_gap(const struct symtab *t, uint64_t vaddr, uint64_t *start, uint64_t *end,
		bool *known);
/* Functions without a symbol, sorted by address. */
const struct elf_region *symtab_unnamed(const struct symtab *t, size_t *n);
/* Build id in hexadecimal; NULL: none. Valid until symtab_free. */
const char *symtab_build_id(const struct symtab *t);
/* The sources of the names, for `objects`: "symtab", "dynsym", "debug file /usr/…". */
const char *symtab_source(const struct symtab *t);

#endif
