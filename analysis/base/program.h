/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first and the last thing that main() of each program does. */
#ifndef BASE_PROGRAM_H
#define BASE_PROGRAM_H

#include <stddef.h>

struct diag;

/* The most files that reading or writing one experiment has open at a time. */
enum { PROGRAM_FILES = 32 };

/*
 * Prepare the standard streams, the limit of open files and malloc.
 *
 * If a standard stream is closed (er_cp 2>&-), the first file opened would become, say,
 * standard error, and warnings would be written into it. So closed streams are opened on
 * /dev/null. Standard output still cannot be written to, and started programs inherit the
 * streams closed.
 *
 * Returns 0, or the exit status after a report.
 */
int program_begin(const char *program);

/*
 * Allow so many open files. A file that cannot be opened because descriptors ran out would
 * count as missing, and a report would lack its data. So it is an error if the hard limit is
 * lower. Returns 0, or -1 after a report.
 */
int program_files(size_t files, struct diag *d);

/*
 * Flush standard output. Returns `status`; if output was lost and `status` is 0, it returns 1
 * after a report. A program that has reported the loss itself passes another status.
 */
int program_end(const char *program, int status);

#endif
