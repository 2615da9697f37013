/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of a process's memory, copied into a file for a parser that may not read the process itself.
 * The recorder appends the addresses of units; the opener (opener.h) fills them in; whoever parses
 * them reads only the file.
 *
 * Reading another process's memory may wait for ever: the memory may be a mapped file whose file
 * system does not answer.
 */
#ifndef USER_SPACE_MEMORY_H
#define USER_SPACE_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	MEMORY_UNIT = 1024,      /* bytes; the address is a multiple of it */
	MEMORY_UNITS_MAX = 1024, /* of one request */
};

enum memory_state { MEMORY_WANTED, MEMORY_READ, MEMORY_UNREADABLE };

struct memory_unit {
	uint64_t address;
	uint32_t state; /* enum memory_state */
	uint32_t pad;
	uint8_t bytes[MEMORY_UNIT];
};

/*
 * Append wanted units to the file, which has `size` bytes. Their number is at most
 * MEMORY_UNITS_MAX. Returns 0 or -errno.
 */
int memory_want(int fd, off_t size, const uint64_t *addresses, size_t n);
/*
 * Fill in n units, which begin at `offset` of the file. The caller's own rights decide whether the process
 * may be read. Returns 0, or -errno if it has ended or may not be read.
 */
int memory_copy_here(pid_t pid, int fd, off_t offset, size_t n);

#endif
