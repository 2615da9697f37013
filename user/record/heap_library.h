/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the libraries are that are loaded into a program (user/preload). */
#ifndef USER_RECORD_HEAP_LIBRARY_H
#define USER_RECORD_HEAP_LIBRARY_H

struct diag;

/*
 * Returns the absolute path of the library: beside the recorder's program, or in ../lib/er_kernel
 * from there. The caller frees it. NULL after a message if it is missing, or if its path cannot
 * be written into LD_PRELOAD.
 */
char *heap_library(const char *name, struct diag *d);

#endif
