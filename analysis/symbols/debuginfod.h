/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debug files from a debuginfod server. Only used if DEBUGINFOD_URLS names a server and
 * the client library is installed. The library caches the files.
 */
#ifndef SYMBOLS_DEBUGINFOD_H
#define SYMBOLS_DEBUGINFOD_H

struct diag;

/* The debug file of a hexadecimal build id, open; -1 if there is none or no server is set. */
int debuginfod_open(const char *build_id, struct diag *d);
/* Likewise the executable itself, for its code, which a debug file lacks. */
int debuginfod_open_executable(const char *build_id, struct diag *d);

#endif
