/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of one ELF file: .symtab, .dynsym, .gnu_debugdata, Go's own table, and the
 * separate debug file found by build id or debuglink or fetched from a server, merged into one sorted array,
 * built once. Of several names at one address the alphabetically last is kept, of
 * global before local (S-016, and what gprofng shows). Nothing is guessed: an address that no
 * symbol covers has none, and the model names it <static>@0x…. Such code is divided into
 * functions by call frame information (framestarts.h).
 *
 * Addresses are those of the file's own address space (p_vaddr); convert a
 * file offset with symtab_vaddr.
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
	const char *aliases; /* other names at the address, blank separated; NULL */
	bool global;
	bool elsewhere; /* another file defines it: no function of this one */
};

struct symtab;

struct symtab_opts {
	const char *debug_root; /* "/usr/lib/debug" when NULL; "" : look for no debug files */
	const char *path;	/* where the file was, to find its debuglink; may be NULL */
	bool ask;		/* debuginfod.h, if many functions have no name otherwise */
};

/*
 * Read the ELF file open at fd (stays the caller's). NULL after reporting when
 * it is no ELF file of this kind. An ELF file without symbols is no error.
 */
struct symtab *symtab_open(int fd, const struct symtab_opts *o, struct diag *d);
void symtab_free(struct symtab *t);

/* The function that covers the address, or NULL. At most 2 µs on a 10 MB file. */
const struct sym *symtab_find(const struct symtab *t, uint64_t vaddr);
/* All of them, sorted by address; also those that are defined elsewhere. */
const struct sym *symtab_syms(const struct symtab *t, size_t *n);
/* The address at which the byte at this file offset is linked; (uint64_t)-1 when none is. */
uint64_t symtab_vaddr(const struct symtab *t, uint64_t offset);
/*
 * The function [*start, *end) around an address without a symbol, as call frame information
 * says; or else, with *known false, the executable code up to its neighbours. For <static>@.
 * False: the address has a symbol, or there is no code.
 */
bool symtab_gap(const struct symtab *t, uint64_t vaddr, uint64_t *start, uint64_t *end,
		bool *known);
/* Functions without a symbol, sorted. */
const struct elf_region *symtab_unnamed(const struct symtab *t, size_t *n);
/* Hexadecimal build id, or NULL. Lives as long as the table. */
const char *symtab_build_id(const struct symtab *t);
/* Where the names came from, for `objects`: "symtab", "dynsym", "debug file /usr/…". */
const char *symtab_source(const struct symtab *t);

#endif
