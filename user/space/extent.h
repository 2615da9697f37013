/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Returns how far a mapped ELF file extends in memory. The recorder knows only mappings of code; a
 * file's data follows its code.
 */
#ifndef USER_SPACE_EXTENT_H
#define USER_SPACE_EXTENT_H

#include <stdint.h>
#include <sys/types.h>

struct mapping;

/*
 * The end of the file's memory, counted like an offset in the file. An address a >= m->start
 * belongs to the file if a - m->start + m->pgoff is less than the result. Opens the file. At most
 * EXTENT_MAX; 0 if the file cannot be read or is not a 64-bit ELF file.
 */
#define EXTENT_MAX (1ULL << 38)
uint64_t extent_of_file(pid_t pid, const struct mapping *m);
/* The same for an open file and the offset at which code is mapped. */
uint64_t extent_of_fd(int fd, uint64_t pgoff);

#endif
