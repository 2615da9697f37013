/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Variables of one ELF file: what its symbol tables say of objects in memory, and
 * the slots that hold addresses of other objects' functions, as "NAME@got".
 * Addresses are those of the file's own address space (p_vaddr).
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

/* Of the file open at fd, which stays the caller's; NULL when it is no ELF file or has none. */
struct datasyms *datasyms_open(int fd);
void datasyms_free(struct datasyms *d);
size_t datasyms_count(const struct datasyms *d);
/* The variable that covers the address, or NULL. */
const struct datasym *datasyms_find(const struct datasyms *d, uint64_t vaddr);
/* The address at which the byte at this file offset is linked; (uint64_t)-1 when none is. */
uint64_t datasyms_vaddr(const struct datasyms *d, uint64_t offset);

#endif
