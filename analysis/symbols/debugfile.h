/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The symbols that a distribution takes out of a binary: the separate debug
 * file, found by build id or debuglink and checked to belong, and the xz
 * compressed one that Fedora leaves inside.
 */
#ifndef SYMBOLS_DEBUGFILE_H
#define SYMBOLS_DEBUGFILE_H

#include <stddef.h>

#include <libelf.h>

struct diag;

/*
 * Open the debug file of elf, whose own path is `path` (may be NULL) and whose
 * build id is `id` (may be NULL). -1 when there is none; one that does not
 * belong to the binary is reported as a warning and not used. *found is its
 * path, malloc'ed.
 */
int debugfile_open(Elf *elf, const char *root, const char *path, const char *id, struct diag *d,
		   char **found);
/*
 * Open the dwz file that a debug file in folder `dir` names (.gnu_debugaltlink):
 * by build id, or by its name. -1 when there is none that belongs; -EINVAL when
 * what bears the name is no regular file.
 */
int debugfile_open_alt(const char *root, const char *dir, const char *name, const char *id,
		       struct diag *d, char **found);
/* The decompressed .gnu_debugdata, malloc'ed; NULL when there is none or it is damaged. */
void *debugdata_unpack(Elf *elf, size_t *size, struct diag *d);

#endif
