/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the binaries that a SPEC names. sites.h says what the name may be. */
#ifndef USER_PROBE_BINARY_H
#define USER_PROBE_BINARY_H

#include "user/probe/sites.h"

/*
 * Open them and add them to ret->binaries. A name may find several: recorded processes may have
 * different files under one path. Returns 0, or -1 after one sentence with the remedy.
 */
int binary_find(const struct probe_spec *s, const pid_t *pids, size_t n, struct diag *d,
		struct probe_sites *ret);
/* Add one file by its path, as it is here. 0 or -errno. */
int binary_add(const char *path, struct probe_sites *ret);
/* Add all files of which a process has mapped code. */
void binary_find_code(pid_t pid, struct probe_sites *ret);
/* Add a library of the linker's cache, if it has this name. */
void binary_add_library(const char *name, struct probe_sites *ret);
/*
 * Whether a file's name is the one asked for: "libc" and "libc.so" find "libc.so.6", "ls" finds
 * only "ls".
 */
bool binary_named(const char *file, const char *name);

#endif
