/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Permanently gives up everything that a process that parses hostile files does not need, in
 * two steps. The supervisor may still start processes and restrict them further. The worker
 * may only receive descriptors, map them for reading, and answer.
 */
#ifndef USER_UNWIND_SANDBOX_H
#define USER_UNWIND_SANDBOX_H

enum { SANDBOX_FD = 3, SANDBOX_FDS = 2 };

/*
 * Close every descriptor but those in `keep`, which become SANDBOX_FD and the next, and 0, 1,
 * 2, which go to /dev/null; drop user, groups and capabilities; limit resources and system
 * calls. 0 or -errno.
 */
int sandbox_supervisor(const int keep[SANDBOX_FDS]);
/* The rest. Any other system call ends the process from here on. */
int sandbox_worker(void);

#endif
