/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The source files that an ELF file was compiled from, as its DWARF names them. */
#ifndef FILES_SOURCES_H
#define FILES_SOURCES_H

#include <stddef.h>
#include <stdint.h>

struct diag;
struct strtab;

/*
 * Add to `ret` the paths of the sources of the file open at fd (stays the
 * caller's), which was at `path`: of the n addresses at `used`, or of all the
 * file when `used` is NULL.
 */
void sources_of(int fd, const char *path, const uint64_t *used, size_t n, struct strtab *ret,
		struct diag *d);

#endif
