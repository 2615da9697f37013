/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Permanently gives up everything that a parser of hostile files does not need, in two steps. After
 * the first, the supervisor may still start processes and restrict them further. After the second,
 * the worker may only receive descriptors, map them for reading, and answer.
 */
#ifndef USER_UNWIND_SANDBOX_H
#define USER_UNWIND_SANDBOX_H

enum { SANDBOX_FD = 3, SANDBOX_FDS = 2 };

/*
 * The first step. Close every descriptor except those in `keep`, which become SANDBOX_FD and the
 * following numbers, and 0, 1 and 2, which go to /dev/null. Drop user, groups and capabilities.
 * Limit resources and system calls. Returns 0 or -errno.
 */
int sandbox_supervisor(const int keep[SANDBOX_FDS]);
/* The second step. From here on any other system call ends the process. */
int sandbox_worker(void);

#endif
