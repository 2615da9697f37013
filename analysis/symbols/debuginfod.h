/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debug files from a debuginfod server, when the user named one in DEBUGINFOD_URLS
 * and the client library is installed; nobody is asked otherwise. The library keeps
 * what it got in its cache.
 */
#ifndef SYMBOLS_DEBUGINFOD_H
#define SYMBOLS_DEBUGINFOD_H

struct diag;

/* The debug file of a build id in hexadecimal, open; -1 when there is none, or nobody to ask. */
int debuginfod_open(const char *build_id, struct diag *d);
/* What was run: its code, which a debug file has not. Likewise. */
int debuginfod_open_executable(const char *build_id, struct diag *d);

#endif
