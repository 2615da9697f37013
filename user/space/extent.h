/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Says how far a mapped ELF file extends in memory. The recorder knows only mappings of code; the
 * data of a file follows its code.
 */
#ifndef USER_SPACE_EXTENT_H
#define USER_SPACE_EXTENT_H

#include <stdint.h>
#include <sys/types.h>

struct mapping;

/*
 * The end of the file's memory, counted like offsets in the file from the mapping on: an address
 * a >= m->start belongs to the file if a - m->start + m->pgoff is less. Opens the file. 0 if it
 * cannot be read or is no 64-bit ELF file; else at most EXTENT_MAX.
 */
#define EXTENT_MAX (1ULL << 38)
uint64_t extent_of_file(pid_t pid, const struct mapping *m);
/* The same for an open file and the offset at which code is mapped. */
uint64_t extent_of_fd(int fd, uint64_t pgoff);

#endif
