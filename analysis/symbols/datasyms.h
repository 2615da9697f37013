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

#endif
