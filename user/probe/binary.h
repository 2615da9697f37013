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
/*
 * Whether a file's name is the one asked for: "libc" and "libc.so" find "libc.so.6", "ls" finds
 * only "ls".
 */
bool binary_named(const char *file, const char *name);

#endif
