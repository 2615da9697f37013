/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Variables of one ELF file: the objects in memory of its symbol tables, and the slots
 * with addresses of other objects' functions, named "NAME@got". Addresses are the
 * file's own (p_vaddr).
 */
#ifndef SYMBOLS_DATASYMS_H
#define SYMBOLS_DATASYMS_H

#include <stddef.h>
#include <stdint.h>

#include <gelf.h>

struct datasym {
	uint64_t addr, size;
	const char *name;
};

struct datasyms;

/*
 * Read the file open at fd, which the caller closes. NULL if it is no ELF file or has
 * no variables.
 */
struct datasyms *datasyms_open(int fd);
void datasyms_free(struct datasyms *d);
size_t datasyms_count(const struct datasyms *d);
/* The variable that covers the address, or NULL. */
const struct datasym *datasyms_find(const struct datasyms *d, uint64_t vaddr);
/* The address of the byte at a file offset; (uint64_t)-1 if it is not mapped. */
uint64_t datasyms_vaddr(const struct datasyms *d, uint64_t offset);


/*
 * Call fn for the variables of .symtab that a program may write to, as locks are: constants and
 * thread-local variables are left out. `name` is valid during the call. Neither their number nor
 * the length of their names is unlimited, whatever the file says.
 */
void datasyms_written(Elf *elf, void (*fn)(void *ctx, const GElf_Sym *s, const char *name),
		      void *ctx);

#endif
