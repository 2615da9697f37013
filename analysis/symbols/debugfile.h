/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols that a distribution strips from a binary. They are in a separate debug file,
 * found by build id or debuglink and checked to match the binary; or in an xz
 * compressed ELF file inside the binary (.gnu_debugdata, Fedora).
 */
#ifndef SYMBOLS_DEBUGFILE_H
#define SYMBOLS_DEBUGFILE_H

#include <stddef.h>

#include <libelf.h>

struct diag;

/*
 * Open the debug file of elf. `path` is the binary's own path and `id` its build id;
 * both may be NULL. `open` opens candidates; NULL: file_open_regular. A descriptor, or -1 if there is
 * none; one that does not match the binary causes a warning and is not used. The caller frees
 * *found, its path.
 */
int debugfile_open(Elf *elf, const char *root, const char *path, const char *id,
		   int (*open)(const char *path), struct diag *d, char **found);
/*
 * Open the dwz file named by a debug file in directory `dir` (.gnu_debugaltlink): by
 * build id, or by its name. -1 if none matches; -EINVAL if the named file is not a
 * regular file.
 */
int debugfile_open_alt(const char *root, const char *dir, const char *name, const char *id,
		       struct diag *d, char **found);
/* The decompressed .gnu_debugdata; the caller frees it. NULL if there is none or it is damaged. */
void *debugdata_unpack(Elf *elf, size_t *size, struct diag *d);

#endif
