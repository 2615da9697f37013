/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What main() of each program does first and last. */
#ifndef BASE_PROGRAM_H
#define BASE_PROGRAM_H

#include <stddef.h>

struct diag;

/* Files that reading one experiment, or writing one, may have open at a time. */
enum { PROGRAM_FILES = 32 };

/*
 * Standard streams and limits as the rest of the program may take them for granted.
 *
 * er_cp 2>&-: the first file that is opened would become standard error, and a warning
 * be written into it. What is closed is /dev/null now, opened so that standard output
 * still cannot be written to; programs that are started find it closed.
 *
 * 0, or the status to exit with, after a sentence by the program.
 */
int program_begin(const char *program);

/*
 * Have so many files open at a time. A file that cannot be opened for want of a
 * descriptor would count as one that is not there, and a report lack its data: where
 * the hard limit is below that, this is an error, reported. 0 or -1.
 */
int program_files(size_t files, struct diag *d);

/*
 * The status; but when what was printed did not get out, 1 instead of 0, after a
 * sentence by the program (which may have said so itself, and then has another status).
 */
int program_end(const char *program, int status);

#endif
