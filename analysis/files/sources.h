/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The source files of an ELF file, as its DWARF names them. */
#ifndef FILES_SOURCES_H
#define FILES_SOURCES_H

#include <stddef.h>
#include <stdint.h>

struct diag;
struct strtab;

/*
 * Add the paths of an ELF file's sources to `ret`: those of the n addresses at `used`, or all
 * if `used` is NULL. The file is open at fd, which the caller keeps; its path was `path`.
 * Errors are reported to `d`.
 */
void sources_of(int fd, const char *path, const uint64_t *used, size_t n, struct strtab *ret,
		struct diag *d);

#endif
